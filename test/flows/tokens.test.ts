import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import type { Documents } from '../../src/compose.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { sha256 } from '../../src/crypto/digest.ts'
import { errorOf } from './answers.ts'
import {
  asBackend,
  claimsOf,
  exchange,
  redeployed,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type Tokens,
  testStore,
  userinfo,
} from './harness.ts'

const store = testStore('memory')
await store.adapters().secrets.put('internal/oidc/clients/backend', utf8('secret'))
const service = startService(store)

/** As relying parties do: against the published key set, with the header's own kid. */
async function verified(token: string, expected: { typ: string; audience: string }, at: TestService = service) {
  const published = createLocalJWKSet(await (await at.fetch('/keys')).json<JSONWebKeySet>())
  return jwtVerify(token, published, { issuer: at.url, currentDate: new Date(store.clock.now()), ...expected })
}

async function backendTokens(changes: Record<string, string | undefined> = {}): Promise<Tokens> {
  const redirect = await signIn(new TestBrowser(service), { ...asBackend, ...changes })
  const as = { client_id: 'backend', client_secret: 'secret', redirect_uri: asBackend.redirect_uri }
  return (await exchange(service, redirect.searchParams.get('code') ?? '', as)).json()
}

const now = () => Math.floor(store.clock.now() / 1000)
const ID = expect.stringMatching(/^[A-Za-z0-9_-]{22}$/)

describe('RFC 6749 5.1: a token response', () => {
  it('has these members, is JSON, and is kept by nobody', async () => {
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    const answer = await exchange(service, code)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'access-control-allow-origin': '*',
    })
    expect(await answer.json()).toEqual({
      access_token: expect.stringMatching(/^e[\w-]+\.e[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'openid profile email offline_access',
      refresh_token: expect.stringMatching(/^slr_[A-Za-z0-9_-]{43}$/),
      id_token: expect.stringMatching(/^e[\w-]+\.e[\w-]+\.[\w-]+$/),
    })
  })

  it.each([
    ['openid', ['access_token', 'expires_in', 'id_token', 'scope', 'token_type'], 'openid'],
    ['profile offline_access', ['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'], 'profile offline_access'],
    ['email', ['access_token', 'expires_in', 'scope', 'token_type'], 'email'],
    [undefined, ['access_token', 'expires_in', 'id_token', 'scope', 'token_type'], 'openid'],
    ['openid openid address email', ['access_token', 'expires_in', 'id_token', 'scope', 'token_type'], 'openid email'],
  ])('RFC 6749 3.3: to scope %s has %j, and says that %s was granted', async (scope, members, granted) => {
    const tokens = await signedIn(service, { scope })
    expect(Object.keys(tokens).sort()).toEqual(members)
    expect(tokens.scope).toBe(granted)
  })
})

describe('OIDC Core 2, 5.4: an ID token', () => {
  const standing = () => ({
    iss: 'http://localhost:8787',
    sub: 'ada@acme.example',
    aud: 'demo',
    iat: now(),
    exp: now() + 3_600,
    auth_time: now(),
    acr: 'urn:sluis:acr:directory',
    nonce: 'the nonce',
    at_hash: expect.any(String),
    sid: ID,
    groups: ['app:demo:user'],
  })
  const profile = { name: 'Ada Lovelace', given_name: 'Ada', family_name: 'Lovelace', preferred_username: 'ada@acme.example' }
  const email = { email: 'ada@acme.example', email_verified: true }

  it.each([
    ['openid', {}],
    ['openid profile', profile],
    ['openid email', email],
    ['openid profile email offline_access', { ...profile, ...email }],
  ])('to scope %s says exactly this', async (scope, claims) => {
    const { id_token } = await signedIn(service, { scope })
    const { payload, protectedHeader } = await verified(id_token, { typ: 'JWT', audience: 'demo' })
    expect(payload).toEqual({ ...standing(), ...claims })
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'JWT', kid: expect.any(String) })
  })

  it('has a nonce only where the request had one', async () => {
    const { id_token } = await signedIn(service, { nonce: undefined })
    expect(claimsOf(id_token)).not.toHaveProperty('nonce')
  })

  it.each([
    ['in the ID token', { id_token: { email: null, given_name: { essential: true } } }, { email: email.email, given_name: 'Ada' }, {}],
    ['at userinfo', { userinfo: { name: null, email_verified: { value: true } } }, {}, { name: 'Ada Lovelace', email_verified: true }],
    ['that there are not', { id_token: { birthdate: null, constructor: null, __proto__x: null }, userinfo: { phone: null } }, {}, {}],
    ['that are the protocol’s own', { id_token: { iss: { value: 'x' }, aud: null, exp: null, sid: null } }, {}, {}],
  ])('OIDC Core 5.5: claims asked for %s are asserted there, and only there', async (_where, claims, inIdToken, atUserinfo) => {
    const { id_token, access_token } = await signedIn(service, { scope: 'openid', claims: JSON.stringify(claims) })
    expect(claimsOf(id_token)).toEqual({ ...standing(), ...inIdToken })
    const answer = await userinfo(service, access_token)
    expect(await answer.json()).toEqual({ sub: 'ada@acme.example', groups: ['app:demo:user'], ...atUserinfo })
  })

  it('OIDC Core 5.3.2: leaves out what is not known of a person', async () => {
    const nameless = startService(
      redeployed(store, ({ service }) => {
        for (const person of service.directory.people) {
          delete person.given_name
          delete person.family_name
        }
      }),
    )
    const { id_token } = await signedIn(nameless)
    for (const name of ['name', 'given_name', 'family_name']) expect(claimsOf(id_token)).not.toHaveProperty(name)
  })

  it.each([
    ['ES256', () => signedIn(service)],
    ['RS256', () => backendTokens()],
  ])('OIDC Core 3.1.3.6: signed with %s, holds half the hash of the access token', async (alg, tokens) => {
    const { id_token, access_token } = await tokens()
    const { payload, protectedHeader } = await verified(id_token, { typ: 'JWT', audience: alg === 'RS256' ? 'backend' : 'demo' })
    expect(protectedHeader.alg).toBe(alg)
    expect(payload.at_hash).toBe(encodeBase64url((await sha256(utf8(access_token))).slice(0, 16)))
  })

  it('says when the person was proved, not when the code was redeemed', async () => {
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    const proved = now()
    store.clock.advance(100)
    const { id_token, access_token } = await (await exchange(service, code)).json<Tokens>()
    expect(claimsOf(id_token)).toMatchObject({ auth_time: proved, iat: proved + 100, exp: proved + 3_700 })
    expect(claimsOf(access_token)).toMatchObject({ auth_time: proved, iat: proved + 100, exp: proved + 3_700 })
  })
})

describe('RFC 9068 2: an access token', () => {
  it('has typ at+jwt and says exactly this', async () => {
    const { access_token, id_token } = await signedIn(service)
    const { payload, protectedHeader } = await verified(access_token, { typ: 'at+jwt', audience: 'demo' })
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) })
    expect(payload).toEqual({
      iss: 'http://localhost:8787',
      sub: 'ada@acme.example',
      aud: 'demo',
      client_id: 'demo',
      iat: now(),
      exp: now() + 3_600,
      jti: ID,
      sid: claimsOf(id_token).sid,
      auth_time: now(),
      acr: 'urn:sluis:acr:directory',
      scope: 'openid profile email offline_access',
      groups: ['app:demo:user'],
    })
  })

  it('of a client that pins RS256 is signed with it', async () => {
    const { access_token } = await backendTokens()
    const { protectedHeader } = await verified(access_token, { typ: 'at+jwt', audience: 'backend' })
    expect(protectedHeader.alg).toBe('RS256')
  })

  it('of every sign-in has a session and an id of its own', async () => {
    const [first, second] = [await signedIn(service), await signedIn(service)].map(({ access_token }) => claimsOf(access_token))
    expect(first?.sid).not.toBe(second?.sid)
    expect(first?.jti).not.toBe(second?.jti)
  })
})

const API = 'https://api.acme.example/v1'

/** The tokens of the demo client under changed documents. */
async function under(edit: (documents: Documents) => void, changes: Record<string, string | undefined> = {}, after = 0): Promise<Tokens> {
  const at = startService(redeployed(store, edit))
  const code = (await signIn(new TestBrowser(at), changes)).searchParams.get('code') ?? ''
  store.clock.advance(after)
  const answer = await exchange(at, code)
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}

function lifetimeOf(token: string): number {
  const { iat, exp } = claimsOf(token)
  return Number(exp) - Number(iat)
}

describe('a token lives', () => {
  const hour = 3_600
  it.each<[string, (documents: Documents) => void, Record<string, string>, number, [number, number]]>([
    ['an hour', () => undefined, {}, 0, [hour, hour]],
    ['as long as the policy says', ({ policy }) => Object.assign(policy.lifetimes, { token: 900 }), {}, 0, [900, 900]],
    ['at most as long as its client may', ({ policy }) => Object.assign(policy.clients.demo ?? {}, { ttl_cap: 600 }), {}, 0, [600, 600]],
    ['no longer for a cap above it', ({ policy }) => Object.assign(policy.clients.demo ?? {}, { ttl_cap: 7_200 }), {}, 0, [hour, hour]],
    [
      'as long as the shortest lifetime of the groups held',
      ({ policy }) => {
        Object.assign(policy.groups['emp:all'] ?? {}, { lifetime: 1_200 })
        Object.assign(policy.groups['app:demo:user'] ?? {}, { lifetime: 300 })
      },
      {},
      0,
      [300, 300],
    ],
    [
      'as long as a group held says, also where that is longer than for others',
      ({ policy }) => Object.assign(policy.groups['emp:all'] ?? {}, { lifetime: 7_200 }),
      {},
      0,
      [7_200, 7_200],
    ],
    [
      'at most as long as its resource may, and its ID token, which the resource never sees, longer',
      ({ policy }) => Object.assign(policy.resources, { [API]: { requires: ['app:demo:user'], ttl_cap: 120 } }),
      { resource: API },
      0,
      [120, hour],
    ],
    [
      'never past the absolute limit of its sign-in',
      ({ policy }) => Object.assign(policy.lifetimes, { absolute: 200 }),
      {},
      50,
      [150, 150],
    ],
    [
      'never past that of its resource',
      ({ policy }) => Object.assign(policy.resources, { [API]: { requires: ['app:demo:user'], absolute_cap: 100 } }),
      { resource: API },
      40,
      [60, 60],
    ],
  ])('%s', async (_what, edit, changes, after, [access, id]) => {
    const { access_token, id_token, expires_in } = await under(edit, changes, after)
    expect([lifetimeOf(access_token), expires_in, lifetimeOf(id_token)]).toEqual([access, access, id])
  })
})

describe('the groups a token names', () => {
  const every = ['app:backend:user', 'app:console:operator', 'app:demo:user', 'emp:all']
  it.each<[string, (documents: Documents) => void, string[]]>([
    ['are those of the things its client requires', () => undefined, ['app:demo:user']],
    [
      'are all that are held of such a thing',
      ({ policy }) => {
        policy.groups['app:demo:admin'] = { members: ['platform@acme.example'], matchers: [] }
        policy.groups['app:demo:other'] = { members: ['nobody@acme.example'], matchers: [] }
      },
      ['app:demo:admin', 'app:demo:user'],
    ],
    ['are all that are held, where the client says so', ({ policy }) => Object.assign(policy.clients.demo ?? {}, { groups: 'all' }), every],
    [
      'are those of a list',
      ({ policy }) => Object.assign(policy.clients.demo ?? {}, { groups: ['emp:all', 'app:console:operator'] }),
      ['app:console:operator', 'emp:all'],
    ],
    ['are none of an empty list', ({ policy }) => Object.assign(policy.clients.demo ?? {}, { groups: [] }), []],
    [
      'are written with the client’s delimiter',
      ({ policy }) => Object.assign(policy.clients.demo ?? {}, { groups: 'all', groups_delimiter: '__' }),
      ['app__backend__user', 'app__console__operator', 'app__demo__user', 'emp__all'],
    ],
  ])('%s', async (_what, edit, groups) => {
    const { access_token, id_token } = await under(edit)
    expect(claimsOf(access_token).groups).toEqual(groups)
    expect(claimsOf(id_token).groups).toEqual(groups)
    expect(await (await userinfo(service, access_token)).json()).toMatchObject({ groups })
  })
})

it('a sign-in that has reached the absolute limit of its resource gives no token', async () => {
  const at = startService(
    redeployed(store, ({ policy }) => Object.assign(policy.resources, { [API]: { requires: ['app:demo:user'], absolute_cap: 30 } })),
  )
  const code = (await signIn(new TestBrowser(at), { resource: API })).searchParams.get('code') ?? ''
  store.clock.advance(30)
  expect(await errorOf(await exchange(at, code), 400)).toMatchObject({ error: 'invalid_grant' })
})
