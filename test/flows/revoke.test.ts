import { describe, expect, it } from 'vitest'
import { errorOf } from './answers.ts'
import { ADA, at, basic, HOUR, introspected, post, refresh, refreshed, revoke, startClients } from './clients.ts'
import { claimsOf, contents, engines, signedIn, type TestService, type TestStore, type Tokens, userinfo } from './harness.ts'

async function isAccepted(service: TestService, accessToken: string): Promise<boolean> {
  return (await userinfo(service, accessToken)).status === 200
}

/** RFC 7009 2.2: nothing is said but that it is so. */
async function expectDone(answer: Response): Promise<void> {
  expect([answer.status, await answer.text(), answer.headers.get('cache-control')]).toEqual([200, '', 'no-store'])
}

async function expectRefused(store: TestStore, ask: () => Promise<Response>, error: string, status = 400): Promise<void> {
  const before = await contents(store)
  expect(await errorOf(await ask(), status)).toMatchObject({ error })
  expect(await contents(store)).toEqual(before)
}

describe.each(engines)('RFC 7009 2.1: on %s', (engine) => {
  it('a refresh token ends its session: refresh, userinfo and introspection refuse at once, and no other session ends', async () => {
    const { service } = await startClients(engine)
    const [first, other] = [await at(service, 'backend'), await at(service, 'backend')]
    const second = await refreshed(service, first.refresh_token, { client_id: 'backend' }, basic('backend'))
    await expectDone(await revoke(service, second.refresh_token, { client_id: 'backend' }, basic('backend')))

    for (const token of [first, second]) {
      expect(await isAccepted(service, token.access_token)).toBe(false)
      expect(await introspected(service, token.access_token, 'backend')).toEqual({ active: false })
      expect(await introspected(service, token.refresh_token, 'backend')).toEqual({ active: false })
      expect((await refresh(service, token.refresh_token, { client_id: 'backend' }, basic('backend'))).status).toBe(400)
    }
    expect(await isAccepted(service, other.access_token)).toBe(true)
    expect(await introspected(service, other.refresh_token, 'backend')).toMatchObject({ active: true })
  })

  it('an access token ends alone: its session goes on', async () => {
    const { service } = await startClients(engine)
    const tokens = await at(service, 'backend')
    await expectDone(await revoke(service, tokens.access_token, { client_id: 'backend' }, basic('backend')))
    expect(await isAccepted(service, tokens.access_token)).toBe(false)
    expect(await introspected(service, tokens.access_token, 'backend')).toEqual({ active: false })
    const next = await refreshed(service, tokens.refresh_token, { client_id: 'backend' }, basic('backend'))
    expect(await isAccepted(service, next.access_token)).toBe(true)
  })
})

describe('a revocation', () => {
  it.each(['refresh_token', 'access_token', 'id_token', 'urn:nobody'])(
    'finds either kind of token whatever token_type_hint says: %s',
    async (token_type_hint) => {
      const { service } = await startClients('memory')
      const [first, second] = [await signedIn(service), await signedIn(service)]
      await expectDone(await revoke(service, first.refresh_token, { token_type_hint }))
      await expectDone(await revoke(service, second.access_token, { token_type_hint }))
      expect([await isAccepted(service, first.access_token), await isAccepted(service, second.access_token)]).toEqual([false, false])
      expect((await refresh(service, second.refresh_token)).status).toBe(200)
    },
  )

  it.each([0, 29, 31, 33, 11 * HOUR])('of a refresh token spent %i s ago ends its session too', async (age) => {
    const { service, store } = await startClients('memory')
    const [first, other] = [await signedIn(service), await signedIn(service)]
    const next = await refreshed(service, first.refresh_token)
    store.clock.advance(age)
    await expectDone(await revoke(service, first.refresh_token))
    expect((await refresh(service, next.refresh_token)).status).toBe(400)
    expect((await refresh(service, other.refresh_token)).status).toBe(200)
  })

  it('is audited once, however often it is asked', async () => {
    const { service } = await startClients('memory')
    const tokens = await signedIn(service)
    const before = service.audit.events.length
    for (let n = 0; n < 3; n++) await expectDone(await revoke(service, tokens.refresh_token))
    expect(service.audit.events.slice(before)).toMatchObject([
      { event: 'session.ended', subject: ADA, session: claimsOf(tokens.id_token).sid, reason: 'revoked', by: 'demo' },
    ])
  })

  it('of an access token is audited', async () => {
    const { service } = await startClients('memory')
    const tokens = await signedIn(service)
    await revoke(service, tokens.access_token)
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'token.revoked', subject: ADA, client: 'demo' })
  })

  it.each<[string, (tokens: Tokens) => string]>([
    ['nobody knows', () => 'garbage'],
    ['is an ID token', ({ id_token }) => id_token],
    ['is a session id', ({ id_token }) => String(claimsOf(id_token).sid)],
    ['is cut short', ({ refresh_token }) => refresh_token.slice(0, -1)],
    ['is an access token with another signature', ({ access_token }) => `${access_token.slice(0, -8)}AAAAAAAA`],
    ['is a code', () => `slc_${'A'.repeat(43)}`],
  ])('RFC 7009 2.2: of a token that %s is a success, and nothing ends', async (_what, token) => {
    const { service, store } = await startClients('memory')
    const tokens = await signedIn(service)
    const before = await contents(store)
    await expectDone(await revoke(service, token(tokens)))
    expect(await contents(store)).toEqual(before)
  })

  it('of a token that has expired is a success, and nothing ends', async () => {
    const { service, store } = await startClients('memory')
    const tokens = await signedIn(service)
    store.clock.advance(HOUR)
    const before = await contents(store)
    await expectDone(await revoke(service, tokens.access_token))
    expect(await contents(store)).toEqual(before)
    expect((await refresh(service, tokens.refresh_token)).status).toBe(200)
  })

  it('of the tokens of another instance is a success, and nothing ends there or here', async () => {
    const [here, elsewhere] = [await startClients('memory'), await startClients('memory')]
    const tokens = await signedIn(elsewhere.service)
    const before = [await contents(here.store), await contents(elsewhere.store)]
    for (const token of [tokens.refresh_token, tokens.access_token]) await expectDone(await revoke(here.service, token))
    expect([await contents(here.store), await contents(elsewhere.store)]).toEqual(before)
  })

  it.each<[string, (tokens: Tokens) => string]>([
    ['live refresh token', ({ refresh_token }) => refresh_token],
    ['access token', ({ access_token }) => access_token],
  ])('RFC 7009 2.1: of the %s of another client is refused, and nothing ends', async (_what, token) => {
    const { service, store } = await startClients('memory')
    const tokens = await signedIn(service)
    await expectRefused(store, () => revoke(service, token(tokens), { client_id: 'native' }), 'unauthorized_client')
    await expectRefused(store, () => revoke(service, token(tokens), { client_id: 'backend' }, basic('backend')), 'unauthorized_client')
    expect(await isAccepted(service, tokens.access_token)).toBe(true)
  })

  it('of a spent refresh token of another client is refused, and nothing ends', async () => {
    const { service, store } = await startClients('memory')
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    await expectRefused(store, () => revoke(service, first.refresh_token, { client_id: 'native' }), 'unauthorized_client')
    store.clock.advance(33)
    await expectRefused(store, () => revoke(service, first.refresh_token, { client_id: 'native' }), 'unauthorized_client')
  })

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['without its secret', { client_id: 'backend' }, {}],
    ['with a wrong one', { client_id: 'backend', client_secret: 'guess' }, {}],
    ['with a wrong one in the header', {}, { authorization: `Basic ${btoa('backend:guess')}` }],
  ])('by a confidential client %s is refused, and nothing ends', async (_how, changes, headers) => {
    const { service, store } = await startClients('memory')
    const tokens = await at(service, 'backend')
    const form = { token: tokens.refresh_token, ...changes }
    await expectRefused(store, () => post(service, '/revoke', form, headers), 'invalid_client', 401)
    await expectDone(
      await post(service, '/revoke', { token: tokens.refresh_token, client_id: 'backend', client_secret: 'secret of backend' }),
    )
    expect(await isAccepted(service, tokens.access_token)).toBe(false)
  })

  it.each<[string, Record<string, string>, string, number]>([
    ['without a token', { client_id: 'demo' }, 'invalid_request', 400],
    ['without a client', { token: 'x' }, 'invalid_request', 400],
    ['by nobody', { token: 'x', client_id: 'nobody' }, 'invalid_client', 401],
    ['by a public client with a secret', { token: 'x', client_id: 'demo', client_secret: 'x' }, 'invalid_client', 401],
  ])('%s is refused', async (_what, form, error, status) => {
    const { service, store } = await startClients('memory')
    await expectRefused(store, () => post(service, '/revoke', form), error, status)
  })

  it('of a refresh token that is being refreshed right now leaves nothing that is accepted', async () => {
    const { service } = await startClients('memory')
    const first = await signedIn(service)
    const [answer, done] = await Promise.all([refresh(service, first.refresh_token), revoke(service, first.refresh_token)])
    await expectDone(done)
    const second = await answer.json<Partial<Tokens>>()
    for (const { access_token = 'none', refresh_token = 'none' } of [first, second]) {
      expect(await isAccepted(service, access_token)).toBe(false)
      expect((await refresh(service, refresh_token)).status).toBe(400)
    }
  })
})
