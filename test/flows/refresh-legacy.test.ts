import { describe, expect, it } from 'vitest'
import { fromUtf8, utf8 } from '../../src/crypto/bytes.ts'
import { sha256Hex } from '../../src/crypto/digest.ts'
import { errorOf } from './answers.ts'
import { ADA, basic, GRACE, HOUR, introspected, refresh, refreshed, revoke, signInAt, startClients } from './clients.ts'
import {
  auditedBesideRefusals,
  claimsOf,
  contents,
  type Engine,
  engines,
  redeployed,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'

// As the Go service wrote them: uuids for tokens and ids, a pointer that is a bare session id, RFC 3339 with nanoseconds, empty strings.
const TOKEN = '1f0e6c0a-8a3e-4d8e-9f0c-2f7c7a6b1a11'
const SID = '4b2c0d6e-5f1d-4c7e-8d4b-0a1b2c3d4e5f'
const SESSION = `issuer:session:${SID}`

const session = {
  id: SID,
  identity: ADA,
  client_id: 'demo',
  how: 'code',
  method: '',
  scopes: ['openid', 'email', 'offline_access'],
  resource: '',
  sso: '',
  auth_time: '2026-11-30T11:30:00.123456789Z',
  issued_at: '2026-11-30T11:30:02.987654321Z',
  expires_at: '2026-11-30T23:30:02.987654321Z',
  last_refreshed: '0001-01-01T00:00:00Z',
  involved: true,
  indexed_until: '2026-12-01T11:30:02.987654321Z',
}
const AUTH_TIME = Date.UTC(2026, 10, 30, 11, 30) / 1000

async function write(store: TestStore, key: string, value: object | string, ttl = 12 * HOUR): Promise<void> {
  await store.adapters().state.put(key, utf8(typeof value === 'string' ? value : JSON.stringify(value)), ttl)
}

/** A table the Go service left: one session, with one live token. */
async function leftBehind(engine: Engine, changes: object = {}): Promise<{ store: TestStore; service: TestService }> {
  const { store, service } = await startClients(engine)
  await write(store, `rt.${await sha256Hex(TOKEN)}`, SID)
  await write(store, SESSION, { ...session, ...changes })
  return { store, service }
}

async function textAt(store: TestStore, key: string): Promise<string | null> {
  const entry = await store.adapters().state.get(key)
  return entry === null ? null : fromUtf8(entry.value)
}

async function isAlive(service: TestService, tokens: Tokens): Promise<boolean> {
  return (await userinfo(service, tokens.access_token)).status === 200
}

async function expectNothingWritten(store: TestStore, ask: () => Promise<Response>, error: string): Promise<void> {
  const before = await contents(store)
  expect(await errorOf(await ask(), 400)).toMatchObject({ error })
  expect(await contents(store)).toEqual(before)
}

describe.each(engines)('a session of the Go service, refreshed on %s', (engine) => {
  it('goes on: the same session, person and time, in our form from now on', async () => {
    const { store, service } = await leftBehind(engine)
    const legacy = await textAt(store, SESSION)
    const tokens = await refreshed(service, TOKEN)
    expect(tokens.scope).toBe('openid email offline_access')
    expect(claimsOf(tokens.id_token)).toMatchObject({ sub: ADA, sid: SID, auth_time: AUTH_TIME, email: ADA })
    expect(await isAlive(service, tokens)).toBe(true)

    const ours = JSON.parse((await textAt(store, `ses.ada~40acme~2Eexample.${SID}`)) ?? '')
    expect(ours).toMatchObject({ id: SID, identity: ADA, client_id: 'demo', how: 'code', auth_time: '2026-11-30T11:30:00Z' })
    expect(await textAt(store, `sid.${SID}`)).toBe(ADA)
    expect(await textAt(store, `rt.${await sha256Hex(tokens.refresh_token)}`)).toBe(`ada~40acme~2Eexample.${SID}`)
    expect(await textAt(store, `rt.${await sha256Hex(TOKEN)}`)).toMatch(new RegExp(`^spent:\\d{13}:[A-Za-z0-9_-]{60,}:${SID}$`))
    expect(await textAt(store, SESSION)).toBe(legacy)
    expect(await isAlive(service, await refreshed(service, tokens.refresh_token))).toBe(true)
  })

  it('is rotated as any other: one successor, a grace, and after it the end', async () => {
    const { store, service } = await leftBehind(engine)
    const isolates = [service, startService(store), startService(store)]
    const answers = await Promise.all(isolates.map((isolate) => refreshed(isolate, TOKEN)))
    expect(new Set(answers.map(({ refresh_token }) => refresh_token)).size).toBe(1)
    store.clock.advance(29)
    const again = await refreshed(service, TOKEN)
    expect(again.refresh_token).toBe(answers[0]?.refresh_token)
    store.clock.advance(4)
    expect((await refresh(service, TOKEN)).status).toBe(400)
    expect(await isAlive(service, again)).toBe(false)
    expect((await refresh(service, again.refresh_token)).status).toBe(400)
  })
})

describe('a session of the Go service', () => {
  it('that says no time of sign-in was proved when it was issued', async () => {
    const { service } = await leftBehind('memory', { auth_time: '0001-01-01T00:00:00Z' })
    expect(claimsOf((await refreshed(service, TOKEN)).id_token).auth_time).toBe(AUTH_TIME + 2)
  })

  it.each<[string, object]>([
    ['null scopes', { scopes: null }],
    ['no scopes', { scopes: undefined }],
  ])('with %s has none, and lives', async (_what, changes) => {
    const { service } = await leftBehind('memory', changes)
    const tokens = await refreshed(service, TOKEN)
    expect(tokens).toMatchObject({ scope: '' })
    expect(claimsOf(tokens.access_token)).toMatchObject({ sub: ADA, sid: SID })
  })

  it('ends with its absolute limit, also where its record outlives it', async () => {
    const { store, service } = await leftBehind('memory', { auth_time: '2026-11-29T11:59:00.5Z' })
    expect(await errorOf(await refresh(service, TOKEN), 400)).toMatchObject({ error: 'invalid_grant' })
    expect(auditedBesideRefusals(service)).toMatchObject([{ event: 'session.ended', subject: ADA, session: SID, reason: 'absolute_limit' }])
    expect(await textAt(store, SESSION)).toBeNull()
  })

  it('caps its tokens at that limit', async () => {
    const { service } = await leftBehind('memory', { auth_time: '2026-11-29T12:20:00Z' })
    expect((await refreshed(service, TOKEN)).expires_in).toBe(1_200)
  })

  it('ends when the directory disowns its person', async () => {
    const { store } = await leftBehind('memory')
    const disowned = startService(redeployed(store, ({ service }) => void service.directory.people.splice(0, 1)))
    expect((await refresh(disowned, TOKEN)).status).toBe(400)
    expect(auditedBesideRefusals(disowned)).toMatchObject([{ event: 'session.ended', session: SID, reason: 'account_removed' }])
    expect((await refresh(startService(store), TOKEN)).status).toBe(400)
  })

  it('is refused to another client, with nothing written', async () => {
    const { store, service } = await leftBehind('memory')
    await expectNothingWritten(store, () => refresh(service, TOKEN, { client_id: 'native' }), 'invalid_grant')
    expect((await refresh(service, TOKEN)).status).toBe(200)
  })

  it.each<[string, object | string]>([
    ['that does not parse', '{'],
    ['of nobody', { ...session, identity: '' }],
  ])('%s is absent, with nothing written', async (_what, record) => {
    const { store, service } = await leftBehind('memory')
    await write(store, SESSION, record)
    await expectNothingWritten(store, () => refresh(service, TOKEN), 'invalid_grant')
  })

  it('that is gone leaves its token good for nothing', async () => {
    const { store, service } = await leftBehind('memory')
    await store.adapters().state.delete(SESSION)
    await expectNothingWritten(store, () => refresh(service, TOKEN), 'invalid_grant')
  })

  it('is ended by revoking its token, and is refreshed no more', async () => {
    const { store, service } = await leftBehind('memory')
    expect((await revoke(service, TOKEN, { client_id: 'native' })).status).toBe(400)
    expect((await revoke(service, TOKEN)).status).toBe(200)
    expect(auditedBesideRefusals(service)).toMatchObject([
      { event: 'revocation.refused', subject: ADA, client: 'native' },
      { event: 'session.ended', subject: ADA, session: SID, reason: 'revoked' },
    ])
    expect(await textAt(store, SESSION)).toBeNull()
    await expectNothingWritten(store, () => refresh(service, TOKEN), 'invalid_grant')
  })

  it('is not ended by somebody else who knows its id', async () => {
    const { store, service } = await leftBehind('memory')
    const grace = new TestBrowser(service)
    await signInAt(grace, '/account', GRACE)
    const before = await contents(store)
    expect((await grace.post('/account', { session: SID })).status).toBe(303)
    expect((await grace.ask('DELETE', `/api/sessions/${SID}`)).status).toBe(404)
    expect(await contents(store)).toEqual(before)
    expect((await refresh(service, TOKEN)).status).toBe(200)
  })

  it('is ended for good when it has been refreshed: its old record brings nothing back', async () => {
    const { store, service } = await leftBehind('memory')
    const tokens = await refreshed(service, TOKEN)
    expect((await revoke(service, tokens.refresh_token)).status).toBe(200)
    await write(store, `rt.${await sha256Hex('another live one')}`, SID)
    expect((await refresh(service, 'another live one')).status).toBe(400)
    expect(await isAlive(service, tokens)).toBe(false)
  })

  it('is seen by its client at introspection before and after', async () => {
    const { service, store } = await leftBehind('memory', { client_id: 'backend' })
    expect(await introspected(service, TOKEN, 'backend')).toMatchObject({ active: true, client_id: 'backend', sub: ADA, sid: SID })
    expect(await introspected(service, TOKEN, 'gateway')).toEqual({ active: false })
    const { refresh_token } = await refreshed(service, TOKEN, { client_id: 'backend' }, basic('backend'))
    expect(await introspected(service, refresh_token, 'backend')).toMatchObject({ active: true, sid: SID })
    await store.adapters().state.delete(SESSION)
    expect(await introspected(service, TOKEN, 'backend')).toEqual({ active: false })
  })
})

describe('a token that an older Go service spent', () => {
  const SPENT = '9d1c7f7e-1111-4222-8333-444455556666'

  it('is answered with its successor for as long as its record stands', async () => {
    const { store, service } = await leftBehind('memory')
    await write(store, `rtrot.${await sha256Hex(SPENT)}`, TOKEN, 30)
    const tokens = await refreshed(service, SPENT)
    expect(tokens.refresh_token).toBe(TOKEN)
    expect(claimsOf(tokens.id_token)).toMatchObject({ sub: ADA, sid: SID })
    expect(await isAlive(service, tokens)).toBe(true)
    store.clock.advance(30)
    await expectNothingWritten(store, () => refresh(service, SPENT), 'invalid_grant')
    expect(await isAlive(service, await refreshed(service, TOKEN))).toBe(true)
  })

  it('is answered with what its successor was spent for, and no rtrot. is written', async () => {
    const { store, service } = await leftBehind('memory')
    await write(store, `rtrot.${await sha256Hex(SPENT)}`, TOKEN, 30)
    const winner = await refreshed(service, TOKEN)
    expect((await refreshed(service, SPENT)).refresh_token).toBe(winner.refresh_token)
    expect(Object.keys(await contents(store)).filter((key) => key.startsWith('rtrot.'))).toHaveLength(1)
  })

  it.each<[string, string, Record<string, string>]>([
    ['to another client', TOKEN, { client_id: 'native' }],
    ['with a successor that nobody knows', 'unknown', {}],
    ['with no successor', '', {}],
  ])('is refused %s, with nothing written', async (_what, successor, changes) => {
    const { store, service } = await leftBehind('memory')
    await write(store, `rtrot.${await sha256Hex(SPENT)}`, successor, 30)
    await expectNothingWritten(store, () => refresh(service, SPENT, changes), 'invalid_grant')
  })

  it('is refused once the session has been revoked', async () => {
    const { store, service } = await leftBehind('memory')
    await write(store, `rtrot.${await sha256Hex(SPENT)}`, TOKEN, 30)
    await refreshed(service, SPENT)
    await revoke(service, TOKEN)
    await expectNothingWritten(store, () => refresh(service, SPENT), 'invalid_grant')
  })
})
