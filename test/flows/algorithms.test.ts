import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { type SigningAlg, signingAlg } from '../../src/config/values.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { signedIn, startService, testStore } from './harness.ts'

const HASH: Record<SigningAlg, string> = { ES256: 'SHA-256', RS256: 'SHA-256', ES384: 'SHA-384', EdDSA: 'SHA-512' }
const API = 'https://api.acme.example/v1'

describe.each(signingAlg.options)('a client that pins %s', (alg) => {
  it('has its ID token and its access token signed so, by a published key, and at_hash by the same hash; a resource has its own', async () => {
    const other: SigningAlg = alg === 'ES256' ? 'ES384' : 'ES256'
    const service = startService(
      testStore('memory', {
        edit({ service, policy }) {
          service.keyring.rings = [...new Set<SigningAlg>(['ES256', alg, other])]
          if (policy.clients.demo !== undefined) policy.clients.demo.signing_alg = alg
          policy.resources[API] = { requires: ['app:demo:user'], groups: 'all', signing_alg: other }
        },
      }),
    )
    const published = createLocalJWKSet(await (await service.fetch('/keys')).json())
    const tokens = await signedIn(service)
    const options = { currentDate: new Date(service.services.issuer.clock.now()), issuer: service.url }
    const idToken = await jwtVerify(tokens.id_token, published, { ...options, audience: 'demo', algorithms: [alg] })
    await jwtVerify(tokens.access_token, published, { ...options, algorithms: [alg], typ: 'at+jwt' })
    const digest = new Uint8Array(await crypto.subtle.digest(HASH[alg], utf8(tokens.access_token)))
    expect(idToken.payload.at_hash).toBe(encodeBase64url(digest.slice(0, digest.length / 2)))

    const forApi = await signedIn(service, { resource: API })
    await jwtVerify(forApi.access_token, published, { ...options, audience: API, algorithms: [other] })
    await jwtVerify(forApi.id_token, published, { ...options, audience: 'demo', algorithms: [alg] })
  })
})
