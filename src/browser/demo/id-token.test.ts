import { beforeAll, describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../crypto/base64url.ts'
import { utf8 } from '../../crypto/bytes.ts'
import { readClaims, verifyIdToken } from './id-token.ts'

const NOW = 1_800_000_000
const EXPECTED = { issuer: 'http://localhost:8787', clientId: 'demo', nonce: 'n1', now: NOW * 1000 }
const CLAIMS = { iss: EXPECTED.issuer, aud: 'demo', sub: 'ada@acme.example', nonce: 'n1', exp: NOW + 60, iat: NOW }
const P256 = { name: 'ECDSA', namedCurve: 'P-256' }

let keys: CryptoKeyPair
let keySet: { keys: Record<string, unknown>[] }

beforeAll(async () => {
  keys = (await crypto.subtle.generateKey(P256, true, ['sign', 'verify'])) as CryptoKeyPair
  const { kty, crv, x, y } = (await crypto.subtle.exportKey('jwk', keys.publicKey)) as JsonWebKey
  keySet = {
    keys: [
      { kid: 'rsa', kty: 'RSA' },
      { kid: 'k1', kty, crv, x, y, alg: 'ES256' },
    ],
  }
})

async function signed(claims: object, header: object = { alg: 'ES256', kid: 'k1' }): Promise<string> {
  const text = `${encodeBase64url(utf8(JSON.stringify(header)))}.${encodeBase64url(utf8(JSON.stringify(claims)))}`
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, keys.privateKey, utf8(text))
  return `${text}.${encodeBase64url(new Uint8Array(signature))}`
}

describe('verifyIdToken', () => {
  it('gives the claims of a token that passes every check', async () => {
    expect(await verifyIdToken(await signed(CLAIMS), keySet, EXPECTED)).toEqual(CLAIMS)
  })

  it.each([
    ['another issuer', { iss: 'https://other.example' }, 'iss'],
    ['another audience', { aud: 'backend' }, 'another client'],
    ['no audience', { aud: undefined }, 'another client'],
    ['several audiences and no azp', { aud: ['demo', 'backend'] }, 'azp'],
    ['another azp', { azp: 'backend' }, 'azp'],
    ['another nonce', { nonce: 'n2' }, 'nonce'],
    ['no nonce', { nonce: undefined }, 'nonce'],
    ['an end over a minute ago', { exp: NOW - 60 }, 'expired'],
    ['no end', { exp: undefined }, 'expired'],
    ['an end in words', { exp: '9999999999' }, 'expired'],
  ])('refuses %s', async (_what, change, words) => {
    await expect(verifyIdToken(await signed({ ...CLAIMS, ...change }), keySet, EXPECTED)).rejects.toThrow(words)
  })

  it('takes a list of audiences with its own azp, and a clock a little slow', async () => {
    const claims = { ...CLAIMS, aud: ['demo', 'backend'], azp: 'demo', exp: NOW - 59 }
    expect(await verifyIdToken(await signed(claims), keySet, EXPECTED)).toEqual(claims)
  })

  it('refuses claims that were changed after signing', async () => {
    const [head, , tail] = (await signed(CLAIMS)).split('.')
    const forged = `${head}.${encodeBase64url(utf8(JSON.stringify({ ...CLAIMS, sub: 'mallory@evil.example' })))}.${tail}`
    await expect(verifyIdToken(forged, keySet, EXPECTED)).rejects.toThrow('signature')
  })

  it.each(['none', 'HS256', 'RS256', undefined])('refuses the algorithm %s', async (alg) => {
    await expect(verifyIdToken(await signed(CLAIMS, { alg, kid: 'k1' }), keySet, EXPECTED)).rejects.toThrow('ES256 only')
  })

  it.each(['k2', 'rsa', undefined])('refuses the key %s', async (kid) => {
    await expect(verifyIdToken(await signed(CLAIMS, { alg: 'ES256', kid }), keySet, EXPECTED)).rejects.toThrow('does not publish')
  })

  it.each(['', 'a.b', 'a.b.c', '..', 'e30.W10.AA', 'e30.e30.AA.AA'])('refuses %j as no JWT', async (token) => {
    await expect(verifyIdToken(token, keySet, EXPECTED)).rejects.toThrow('not a JWT')
  })

  it('refuses a key set that is none', async () => {
    await expect(verifyIdToken(await signed(CLAIMS), { keys: 'x' }, EXPECTED)).rejects.toThrow('does not publish')
  })
})

describe('readClaims', () => {
  it('reads without judging', async () => {
    expect(readClaims(await signed({ aud: 'elsewhere' }))).toEqual({ aud: 'elsewhere' })
  })
})
