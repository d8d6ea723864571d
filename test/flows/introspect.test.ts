import { describe, expect, it } from 'vitest'
import { errorOf } from './answers.ts'
import { ADA, API, at, basic, HOUR, introspected, post, refreshed, startClients } from './clients.ts'
import {
  asBackend,
  claimsOf,
  contents,
  engines,
  exchange,
  redeployed,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type Tokens,
  userinfo,
} from './harness.ts'

const inactive = { active: false }

describe.each(engines)('RFC 7662 2.2: on %s', (engine) => {
  it('says of an access token what it says itself, and is not kept', async () => {
    const { service } = await startClients(engine)
    const { access_token } = await at(service, 'backend')
    const answer = await post(service, '/introspect', { token: access_token }, basic('backend'))
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ])
    const { jti, exp, iat, auth_time, sid, groups } = claimsOf(access_token)
    expect(await answer.json()).toEqual({
      active: true,
      scope: 'openid profile email offline_access',
      client_id: 'backend',
      username: ADA,
      token_type: 'Bearer',
      iss: 'http://localhost:8787',
      sub: ADA,
      aud: 'backend',
      acr: 'urn:sluis:acr:directory',
      ...{ jti, exp, iat, auth_time, sid, groups },
    })
  })

  it('says of a refresh token whose it is, and writes nothing', async () => {
    const { service, store } = await startClients(engine)
    const tokens = await at(service, 'backend')
    const before = await contents(store)
    expect(await introspected(service, tokens.refresh_token, 'backend')).toEqual({
      active: true,
      scope: 'openid profile email offline_access',
      client_id: 'backend',
      username: ADA,
      sub: ADA,
      iss: 'http://localhost:8787',
      auth_time: claimsOf(tokens.id_token).auth_time,
      sid: claimsOf(tokens.id_token).sid,
    })
    expect(await contents(store)).toEqual(before)
  })

  it('RFC 6749 4.1.2: a code presented twice takes its token from introspection and userinfo at once', async () => {
    const { service } = await startClients(engine)
    const code = (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? ''
    const as = { client_id: 'backend', redirect_uri: asBackend.redirect_uri }
    const tokens = await (await exchange(service, code, as, basic('backend'))).json<Tokens>()
    expect(await introspected(service, tokens.access_token, 'backend')).toMatchObject({ active: true })
    expect((await exchange(service, code, as, basic('backend'))).status).toBe(400)
    expect(await introspected(service, tokens.access_token, 'backend')).toEqual(inactive)
    expect(await introspected(service, tokens.refresh_token, 'backend')).toEqual(inactive)
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
  })
})

describe('a token at introspection', () => {
  it('is visible to the client that its audience names', async () => {
    const REPORTS = 'urn:acme:reports' // as a client and as a resource: no document that was checked has both
    const { service } = await startClients('memory', ({ policy }) => {
      policy.resources[REPORTS] = { requires: ['app:demo:user'] }
      policy.clients[REPORTS] = {
        ...policy.clients.gateway,
        kind: 'confidential',
        redirects: [],
        signed_out: [],
        requires: [],
        device: false,
        resource: API,
      }
    })
    const { access_token, refresh_token } = await at(service, 'demo', { resource: REPORTS })
    const asked = async (token: string) => (await post(service, '/introspect', { token }, basic(REPORTS, 'gateway'))).json()
    expect(await asked(access_token)).toMatchObject({ active: true, aud: REPORTS })
    expect(await asked(refresh_token)).toEqual(inactive)
  })

  it.each<[string, string, string | undefined, string, boolean]>([
    ['its own client', 'backend', undefined, 'backend', true],
    ['its own client, for a resource', 'backend', API, 'backend', true],
    ['who serves its resource', 'demo', API, 'gateway', true],
    ['who serves another', 'demo', undefined, 'gateway', false],
    ['another client', 'demo', undefined, 'backend', false],
    ['another client, for a resource', 'demo', API, 'backend', false],
  ])('is visible to %s: of %s for %s, asked by %s: %s', async (_who, client, resource, by, visible) => {
    const { service } = await startClients('memory')
    const tokens = await at(service, client, resource === undefined ? {} : { resource })
    expect((await introspected(service, tokens.access_token, by)).active).toBe(visible)
    expect((await introspected(service, tokens.refresh_token, by)).active).toBe(client === by)
    if (!visible) {
      expect(await introspected(service, tokens.access_token, by)).toEqual(inactive)
      expect(service.audit.events.at(-1)).toMatchObject({ event: 'introspection.refused', subject: ADA, client: by })
    }
  })

  it('that was spent is not active, in its grace either; what it was spent for is', async () => {
    const { service } = await startClients('memory')
    const first = await at(service, 'backend')
    const next = await refreshed(service, first.refresh_token, { client_id: 'backend' }, basic('backend'))
    expect(await introspected(service, first.refresh_token, 'backend')).toEqual(inactive)
    expect(await introspected(service, next.refresh_token, 'backend')).toMatchObject({ active: true })
    expect(await introspected(service, first.access_token, 'backend')).toMatchObject({ active: true })
  })

  it('that has expired is not active; the session’s refresh token is', async () => {
    const { service, store } = await startClients('memory')
    const tokens = await at(service, 'backend')
    store.clock.advance(HOUR - 1)
    expect(await introspected(service, tokens.access_token, 'backend')).toMatchObject({ active: true })
    store.clock.advance(1)
    expect(await introspected(service, tokens.access_token, 'backend')).toEqual(inactive)
    expect(await introspected(service, tokens.refresh_token, 'backend')).toMatchObject({ active: true })
    store.clock.advance(11 * HOUR)
    expect(await introspected(service, tokens.refresh_token, 'backend')).toEqual(inactive)
  })

  it.each<[string, (tokens: Tokens) => string]>([
    ['garbage', () => 'garbage'],
    ['an ID token', ({ id_token }) => id_token],
    ['a token cut in two', ({ access_token }) => access_token.split('.').slice(0, 2).join('.')],
    ['a token with another signature', ({ access_token }) => `${access_token.slice(0, -8)}AAAAAAAA`],
    ['a session id', ({ id_token }) => String(claimsOf(id_token).sid)],
    ['8 KiB', () => 'a'.repeat(8_192)],
  ])('that is %s is not active, and writes nothing', async (_what, token) => {
    const { service, store } = await startClients('memory')
    const tokens = await at(service, 'backend')
    const before = await contents(store)
    expect(await introspected(service, token(tokens), 'backend')).toEqual(inactive)
    expect(await contents(store)).toEqual(before)
  })

  it('of another instance, or of this one by another name, is not active', async () => {
    const { service } = await startClients('memory')
    const elsewhere = await startClients('memory')
    const tokens = await at(elsewhere.service, 'backend')
    for (const token of [tokens.access_token, tokens.refresh_token]) expect(await introspected(service, token, 'backend')).toEqual(inactive)
    const renamed = startService(
      redeployed(elsewhere.store, ({ service }) => {
        service.issuer = 'http://127.0.0.1:8787'
      }),
    )
    expect(await introspected(renamed, tokens.access_token, 'backend')).toEqual(inactive)
  })

  it('is found whatever token_type_hint says', async () => {
    const { service } = await startClients('memory')
    const tokens = await at(service, 'backend')
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      for (const token_type_hint of ['access_token', 'refresh_token', 'urn:nobody']) {
        expect(await (await post(service, '/introspect', { token, token_type_hint }, basic('backend'))).json()).toMatchObject({
          active: true,
        })
      }
    }
  })
})

describe('RFC 7662 2.1: who may not introspect', () => {
  it.each<[string, Record<string, string>, Record<string, string>, string, number]>([
    ['a public client, of its own token', { client_id: 'demo' }, {}, 'invalid_client', 401],
    ['a public client with a secret', { client_id: 'demo', client_secret: 'x' }, {}, 'invalid_client', 401],
    ['nobody', { client_id: 'nobody', client_secret: 'x' }, {}, 'invalid_client', 401],
    ['a confidential client without its secret', { client_id: 'backend' }, {}, 'invalid_client', 401],
    ['a confidential client with another’s', {}, { authorization: `Basic ${btoa('backend:secret of gateway')}` }, 'invalid_client', 401],
    ['who shows a token in place of a secret', {}, { authorization: 'Bearer x' }, 'invalid_client', 401],
    ['who does not say who they are', {}, {}, 'invalid_request', 400],
  ])('%s is refused, and learns nothing of the token', async (_who, form, headers, error, status) => {
    const { service } = await startClients('memory')
    const { access_token } = await signedIn(service)
    const answer = await post(service, '/introspect', { token: access_token, ...form }, headers)
    if (headers.authorization !== undefined) expect(answer.headers.get('www-authenticate')).toMatch(/^Basic/)
    expect(await errorOf(answer, status)).toMatchObject({ error })
  })

  it('a client that asks for no token is told so', async () => {
    const { service } = await startClients('memory')
    expect(await errorOf(await post(service, '/introspect', {}, basic('backend')), 400)).toMatchObject({ error: 'invalid_request' })
  })
})
