import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { clientAnswer } from './answers.ts'
import {
  asBackend,
  authorizeUrl,
  claimsOf,
  exchange,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type Tokens,
  testStore,
  userinfo,
} from './harness.ts'

const store = testStore('memory')
await store.adapters().secrets.put('internal/oidc/clients/backend', utf8('secret'))
const service = startService(store)

const OPENID = '/.well-known/openid-configuration'
const OAUTH = '/.well-known/oauth-authorization-server'

interface Metadata {
  [name: string]: unknown
  scopes_supported: string[]
  response_types_supported: string[]
  response_modes_supported: string[]
  grant_types_supported: string[]
  token_endpoint_auth_methods_supported: string[]
  revocation_endpoint_auth_methods_supported: string[]
  introspection_endpoint_auth_methods_supported: string[]
  id_token_signing_alg_values_supported: string[]
  acr_values_supported: string[]
  claims_supported: string[]
  prompt_values_supported: string[]
}

async function read(path: string): Promise<Metadata> {
  return (await service.fetch(path)).json()
}

const metadata = await read(OPENID)

describe('OIDC Discovery 3: the discovery document', () => {
  it('says exactly this', () => {
    expect(metadata).toEqual({
      issuer: 'http://localhost:8787',
      authorization_endpoint: 'http://localhost:8787/authorize',
      token_endpoint: 'http://localhost:8787/token',
      userinfo_endpoint: 'http://localhost:8787/userinfo',
      end_session_endpoint: 'http://localhost:8787/end_session',
      jwks_uri: 'http://localhost:8787/keys',
      revocation_endpoint: 'http://localhost:8787/revoke',
      revocation_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      introspection_endpoint: 'http://localhost:8787/introspect',
      introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      device_authorization_endpoint: 'http://localhost:8787/device_authorization',
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'fragment', 'form_post'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
      code_challenge_methods_supported: ['S256'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      acr_values_supported: ['urn:sluis:acr:directory', 'urn:sluis:acr:recovery'],
      claim_types_supported: ['normal'],
      claims_supported: expect.any(Array),
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      frontchannel_logout_supported: true,
      frontchannel_logout_session_supported: true,
    })
  })

  it('OIDC Discovery 4: is at the issuer it names, is JSON, and may be kept for five minutes', async () => {
    const answer = await service.fetch(OPENID)
    expect(metadata.issuer + OPENID).toBe(`${service.url}${OPENID}`)
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
  })

  it.each(Object.entries(metadata).filter(([name]) => name.endsWith('_endpoint') || name === 'jwks_uri'))(
    'lists %s at an address there is',
    async (_name, url) => {
      expect((await service.fetch(String(url), { method: 'GET' })).status).not.toBe(404)
    },
  )

  it.each(metadata.grant_types_supported)('lists no grant the token endpoint does not know: %s', async (grant_type) => {
    const answer = await service.fetch('/token', { method: 'POST', body: new URLSearchParams({ grant_type, client_id: 'native' }) })
    expect(await answer.json()).toMatchObject({ error: 'invalid_request' })
  })

  it.each(metadata.scopes_supported)('lists no scope that is not granted: %s', async (scope) => {
    expect((await signedIn(service, { scope })).scope).toBe(scope)
  })

  it.each(metadata.response_modes_supported)('lists no response mode that is not answered by: %s', async (response_mode) => {
    const { mode } = await clientAnswer(await service.fetch(await authorizeUrl({ response_mode, prompt: 'none' })))
    expect(mode).toBe(response_mode)
  })

  it.each(metadata.prompt_values_supported)('lists no prompt that is refused as unknown: %s', async (prompt) => {
    const { parameters } = await clientAnswer(await service.fetch(await authorizeUrl({ prompt })))
    expect(parameters.error).toBe(prompt === 'none' ? 'login_required' : undefined)
  })

  // The recovery password reaches the other: password.test.ts.
  it.each(metadata.acr_values_supported.filter((acr) => !acr.endsWith('recovery')))(
    'lists no acr that no sign-in reaches: %s',
    async (acr) => {
      const claims = JSON.stringify({ id_token: { acr: { essential: true, values: [acr] } } })
      expect(claimsOf((await signedIn(service, { claims })).id_token).acr).toBe(acr)
    },
  )

  it.each([
    ['none', { client_id: 'demo' }, {}, {}],
    ['client_secret_basic', {}, { authorization: `Basic ${btoa('backend:secret')}` }, asBackend],
    ['client_secret_post', { client_id: 'backend', client_secret: 'secret' }, {}, asBackend],
  ])('lists no way of client authentication that does not work: %s', async (method, parameters, headers, client) => {
    expect(metadata.token_endpoint_auth_methods_supported).toContain(method)
    const redirect = await signIn(new TestBrowser(service), client)
    const { redirect_uri = 'http://localhost:8787/demo' } = client as { redirect_uri?: string }
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      redirect_uri,
      code: redirect.searchParams.get('code') ?? '',
      ...parameters,
    })
    form.set('code_verifier', 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk')
    expect((await service.fetch('/token', { method: 'POST', body: form, headers })).status).toBe(200)
  })

  const proofs: Record<string, [Record<string, string>, Record<string, string>]> = {
    none: [{ client_id: 'demo' }, {}],
    client_secret_basic: [{}, { authorization: `Basic ${btoa('backend:secret')}` }],
    client_secret_post: [{ client_id: 'backend', client_secret: 'secret' }, {}],
  }

  it.each([
    ['revocation', '/revoke', metadata.revocation_endpoint_auth_methods_supported],
    ['introspection', '/introspect', metadata.introspection_endpoint_auth_methods_supported],
  ])('lists for %s the ways of client authentication that work there, and no others', async (_what, path, listed) => {
    for (const [method, [parameters, headers]] of Object.entries(proofs)) {
      const body = new URLSearchParams({ token: 'x', ...parameters })
      const { status } = await service.fetch(path, { method: 'POST', body, headers })
      expect([method, status]).toEqual([method, listed.includes(method) ? 200 : 401])
    }
  })

  it('lists the claims that tokens and userinfo hold, and no others', async () => {
    const { id_token, access_token } = await signedIn(service)
    const said = [...Object.keys(claimsOf(id_token)), ...Object.keys(await (await userinfo(service, access_token)).json<object>())]
    // amr is of ways of signing in that prove something: picking a name proves nothing (RFC 8176 1)
    expect([...new Set([...said, 'amr'])].sort()).toEqual([...metadata.claims_supported].sort())
  })

  it('lists the algorithms that ID tokens are signed with', async () => {
    const redirect = await signIn(new TestBrowser(service), asBackend)
    const as = { client_id: 'backend', client_secret: 'secret', redirect_uri: asBackend.redirect_uri }
    const backend = await (await exchange(service, redirect.searchParams.get('code') ?? '', as)).json<Tokens>()
    const algs = [await signedIn(service), backend].map(({ id_token }) => JSON.parse(atob(id_token.split('.')[0] ?? '')).alg)
    expect(algs).toEqual(metadata.id_token_signing_alg_values_supported)
  })

  it('follows the rings of the service document', async () => {
    const others = testStore('memory', {
      edit({ service }) {
        Object.assign(service.keyring, { default: 'EdDSA', rings: ['ES384', 'EdDSA'] })
      },
    })
    const answer = await startService(others).fetch(OPENID)
    expect(await answer.json()).toMatchObject({ id_token_signing_alg_values_supported: ['EdDSA', 'ES384'] })
  })

  it.each([
    ['response_type', 'token', 'unsupported_response_type'],
    ['response_type', 'code id_token', 'unsupported_response_type'],
    ['request', 'e30.e30.', 'request_not_supported'],
    ['request_uri', 'https://a.example', 'request_uri_not_supported'],
  ])('does not list what is refused: %s %s', async (name, value, error) => {
    const { parameters } = await clientAnswer(await service.fetch(await authorizeUrl({ [name]: value })))
    expect(parameters.error).toBe(error)
  })
})

describe('RFC 8414 2: the authorization server metadata', () => {
  it('says the same, less what only OpenID Connect has', async () => {
    const oauth = await read(OAUTH)
    for (const [name, value] of Object.entries(oauth)) expect(metadata[name]).toEqual(value)
    expect(Object.keys(oauth).sort()).toEqual([
      'authorization_endpoint',
      'authorization_response_iss_parameter_supported',
      'backchannel_logout_session_supported',
      'backchannel_logout_supported',
      'code_challenge_methods_supported',
      'device_authorization_endpoint',
      'end_session_endpoint',
      'frontchannel_logout_session_supported',
      'frontchannel_logout_supported',
      'grant_types_supported',
      'introspection_endpoint',
      'introspection_endpoint_auth_methods_supported',
      'issuer',
      'jwks_uri',
      'request_parameter_supported',
      'request_uri_parameter_supported',
      'response_modes_supported',
      'response_types_supported',
      'revocation_endpoint',
      'revocation_endpoint_auth_methods_supported',
      'scopes_supported',
      'token_endpoint',
      'token_endpoint_auth_methods_supported',
    ])
  })
})

describe('RFC 7517 5: the key set', () => {
  const fresh = testStore('memory', {
    edit({ service }) {
      service.keyring.rings = ['ES256']
    },
  })
  const at = startService(fresh)

  it('RFC 7518 6: holds the public half of every ring, and nothing of the other', async () => {
    const { keys } = await (await service.fetch('/keys')).json<{ keys: Record<string, unknown>[] }>()
    expect(keys.map((key) => [key.alg, Object.keys(key).sort()])).toEqual([
      ['ES256', ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
      ['RS256', ['alg', 'e', 'kid', 'kty', 'n', 'use']],
    ])
  })

  it.each([
    ['just made: nobody keeps a set without it', 0, 0],
    ['almost 15 minutes old', 899, 0],
    ['15 minutes old', 1, 300],
    ['a day old', 86_400, 300],
  ])('of a first key that is %s, may be kept for that long', async (_what, passes, maxAge) => {
    fresh.clock.advance(passes)
    const answer = await at.fetch('/keys')
    expect(answer.headers.get('cache-control')).toBe(`public, max-age=${maxAge}`)
  })

  it('of an installation that publishes keys for five minutes may be kept for a third of that', async () => {
    const hasty = testStore('memory', {
      edit({ service }) {
        Object.assign(service.keyring, { rings: ['ES256'], prepublish: 300 })
      },
    })
    const at = startService(hasty)
    await at.fetch('/keys')
    hasty.clock.advance(3_600)
    expect((await at.fetch('/keys')).headers.get('cache-control')).toBe('public, max-age=100')
  })

  it('is the same for every isolate on one store', async () => {
    expect(await (await startService(store).fetch('/keys')).text()).toBe(await (await service.fetch('/keys')).text())
  })
})
