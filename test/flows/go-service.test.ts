import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { fromUtf8, utf8 } from '../../src/crypto/bytes.ts'
import { clientAnswer, pageOf } from './answers.ts'
import { ADA, at, clientStore, finishSignIn, GRACE, introspected, MINUTE, refresh, refreshed, revoke } from './clients.ts'
import { type GoTable, goRecords } from './go-records.ts'
import {
  authorizeUrl,
  claimsOf,
  contents,
  type Engine,
  engines,
  exchange,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  userinfo,
} from './harness.ts'

interface World {
  store: TestStore
  service: TestService
  go: GoTable
}

/** A service over a table that the Go service wrote. */
async function takenOver(engine: Engine): Promise<World> {
  const store = await clientStore(engine)
  const { issuer, instance } = store.documents.service
  const go = await goRecords(store.adapters(), { now: store.clock.now(), issuer, instance })
  return { store, service: startService(store), go }
}

/** A browser that comes with the cookie of a sign-in of the Go service. */
function browserWith(service: TestService, cookie: string): TestBrowser {
  const browser = new TestBrowser(service)
  browser.cookies.set('__Host-access_issuer_sso', cookie)
  return browser
}

const names = ['demo', 'native', 'backend', 'graces'] as const

/** Which sessions of the Go service stand: those whose access tokens are accepted. */
async function standing({ service, go }: Pick<World, 'service' | 'go'>): Promise<string[]> {
  const answers = await Promise.all(names.map((name) => userinfo(service, go.sessions[name].accessToken)))
  return names.filter((_, at) => answers[at]?.status === 200)
}

async function expectEnded({ service, go }: World, ...ended: (typeof names)[number][]): Promise<void> {
  expect(await standing({ service, go })).toEqual(names.filter((name) => !ended.includes(name)))
  for (const name of ended) {
    const { live, client } = go.sessions[name]
    const proof = client === 'backend' ? { authorization: `Basic ${btoa('backend:secret of backend')}` } : {}
    expect((await refresh(service, live, { client_id: client }, proof)).status).toBe(400)
  }
}

async function listed(browser: TestBrowser, query = ''): Promise<string[]> {
  const sids: string[] = []
  let next: string | undefined = ''
  while (next !== undefined) {
    const page: string = next === '' ? query : `${query}${query === '' ? '?' : '&'}page=${encodeURIComponent(next)}`
    const answer = await browser.ask('GET', `/api/sessions${page}`)
    expect(answer.status).toBe(200)
    const body = await answer.json<{ sessions: { sid: string }[]; next?: string }>()
    sids.push(...body.sessions.map(({ sid }) => sid))
    next = body.next
  }
  return sids.sort()
}

function sidsOf({ sessions }: GoTable, ...of: (typeof names)[number][]): string[] {
  return of.map((name) => sessions[name].sid).sort()
}

async function textAt(store: TestStore, key: string): Promise<string | null> {
  const entry = await store.adapters().state.get(key)
  return entry === null ? null : fromUtf8(entry.value)
}

describe.each(engines)('over a table of the Go service on %s', (engine) => {
  it('its keys are published, the one that is due signs, and no other is made', async () => {
    const { store, service, go } = await takenOver(engine)
    const { keys } = await (await service.fetch('/keys')).json<{ keys: { kid: string }[] }>()
    expect(keys.map(({ kid }) => kid).sort()).toEqual([go.kids.signing, go.kids.waiting, go.kids.es384].sort())
    const tokens = await refreshed(service, go.sessions.demo.live)
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ kid: go.kids.signing, typ: 'at+jwt' })

    store.clock.advance(14 * MINUTE)
    const later = await refreshed(startService(store), tokens.refresh_token)
    expect(decodeProtectedHeader(later.access_token).kid).toBe(go.kids.waiting)
    expect(Object.keys(await contents(store)).filter((key) => key.startsWith('keyring.'))).toEqual([])
  })

  it('its keys are renewed in their own spelling, and one that was superseded leaves when its tokens have', async () => {
    const { store, service, go } = await takenOver(engine)
    const records = async () => (await store.adapters().state.list('issuer:keyring:entry:')).entries
    const before = await records()
    store.clock.advance(11 * 24 * 60 * MINUTE)
    await service.services.issuer.keyring.renew()
    expect((await records()).map(({ key }) => key)).toEqual(before.map(({ key }) => key))
    store.clock.advance(20 * 24 * 60 * MINUTE)
    expect((await records()).map(({ value }) => fromUtf8(value))).toEqual(before.map(({ value }) => fromUtf8(value)))
    const { keys } = await startService(store).services.issuer.keyring.keySet()
    expect(keys.map(({ kid }) => kid)).toEqual([go.kids.waiting, go.kids.es384])
  })

  it('access tokens are answered from their records by userinfo and introspection', async () => {
    const { service, go } = await takenOver(engine)
    expect(await (await userinfo(service, go.sessions.demo.accessToken)).json()).toMatchObject({ sub: ADA, email: ADA })
    const { accessToken } = go.sessions.backend
    const known = { active: true, client_id: 'backend', sub: ADA, scope: 'openid email offline_access' }
    expect(await introspected(service, accessToken, 'backend')).toMatchObject(known)
    expect(await introspected(service, accessToken, 'gateway')).toEqual({ active: false })
    expect((await userinfo(service, go.sessions.demo.idToken)).status).toBe(401)
  })

  it('an access token that is revoked is accepted no more, and its session goes on', async () => {
    const { service, go } = await takenOver(engine)
    expect((await revoke(service, go.sessions.demo.accessToken)).status).toBe(200)
    expect(await standing({ service, go })).toEqual(['native', 'backend', 'graces'])
    expect((await refresh(service, go.sessions.demo.live)).status).toBe(200)
  })

  it('a browser goes on without a page: its sign-in keeps its time, covers new clients, and ends what it opened', async () => {
    const { store, service, go } = await takenOver(engine)
    const browser = browserWith(service, go.cookies.ada)
    const { parameters } = await clientAnswer(
      await browser.get(await authorizeUrl({ prompt: 'none', id_token_hint: go.sessions.demo.idToken })),
    )
    const tokens = await (await exchange(service, parameters.code ?? '')).json<{ id_token: string; access_token: string }>()
    expect(claimsOf(tokens.id_token)).toMatchObject({ sub: ADA, auth_time: go.authTime, acr: 'urn:sluis:acr:directory' })

    expect((await browser.post('/account', { sign_in: go.signIns.ada })).status).toBe(200)
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
    await expectEnded({ store, service, go }, 'demo', 'backend')
    expect(
      (await clientAnswer(await browserWith(service, go.cookies.ada).get(await authorizeUrl({ prompt: 'none' })))).parameters.error,
    ).toBe('login_required')
  })

  it('a sign-in completes nothing silently for longer than that service had it', async () => {
    const { store, service, go } = await takenOver(engine)
    const silently = async () =>
      (await clientAnswer(await browserWith(service, go.cookies.ada).get(await authorizeUrl({ prompt: 'none' })))).parameters
    store.clock.advance(11 * 60 * MINUTE + 39 * MINUTE)
    expect(await silently()).toHaveProperty('code')
    store.clock.advance(MINUTE)
    expect(await silently()).toMatchObject({ error: 'login_required' })
  })

  it('/account shows sign-ins and sessions, and ends one of them', async () => {
    const { store, service, go } = await takenOver(engine)
    const browser = browserWith(service, go.cookies.ada)
    const html = await pageOf(await browser.get('/account'), 200)
    for (const sid of [...sidsOf(go, 'demo', 'native', 'backend'), go.signIns.ada]) expect(html).toContain(`value="${sid}"`)
    expect(html).not.toContain(go.sessions.graces.sid)
    expect((await browser.post('/account', { session: go.sessions.native.sid })).status).toBe(303)
    expect((await browser.post('/account', { session: go.sessions.graces.sid })).status).toBe(303)
    await expectEnded({ store, service, go }, 'native')
  })

  it('/account ends everything of a person, refreshed since or not', async () => {
    const { store, service, go } = await takenOver(engine)
    const { refresh_token } = await refreshed(service, go.sessions.demo.live)
    expect((await browserWith(service, go.cookies.ada).post('/account', { everything: 'yes' })).status).toBe(200)
    expect((await refresh(service, refresh_token)).status).toBe(400)
    await expectEnded({ store, service, go }, 'demo', 'native', 'backend')
    expect(Object.keys(await contents(store)).filter((key) => key.startsWith('issuer:session:'))).toEqual([
      `issuer:session:${go.sessions.graces.sid}`,
    ])
  })

  it('an operator lists all, a person’s and a client’s, each session once, in whichever form it stands', async () => {
    const { service, go } = await takenOver(engine)
    await refreshed(service, go.sessions.demo.live)
    const operator = browserWith(service, go.cookies.ada)
    expect(await listed(operator)).toEqual(sidsOf(go, ...names))
    expect(await listed(operator, `?person=${GRACE}`)).toEqual(sidsOf(go, 'graces'))
    expect(await listed(operator, `?person=${ADA}&client=native`)).toEqual(sidsOf(go, 'native'))
    expect(await listed(browserWith(service, go.cookies.grace), `?person=${GRACE}`)).toEqual(sidsOf(go, 'graces'))
    expect((await browserWith(service, go.cookies.grace).ask('GET', `/api/sessions?person=${GRACE}&page=go.x`)).status).toBe(400)
  })

  it.each<[string, (go: GoTable) => string, (typeof names)[number][]]>([
    ['one', ({ sessions }) => `/${sessions.graces.sid}`, ['graces']],
    ['those of a client', () => '?client=demo', ['demo', 'graces']],
    ['those of a person', () => `?person=${GRACE}`, ['graces']],
    ['those of a person at a client', () => `?person=${ADA}&client=backend`, ['backend']],
  ])('an operator ends %s, refreshed since or not, and no other', async (_what, path, ended) => {
    const { store, service, go } = await takenOver(engine)
    await refreshed(service, go.sessions.demo.live)
    const operator = browserWith(service, go.cookies.ada)
    const answer = await operator.ask('DELETE', `/api/sessions${path(go)}`)
    expect(await answer.json()).toEqual({ ended: ended.length })
    await expectEnded({ store, service, go }, ...ended)
    expect((await operator.ask('DELETE', `/api/sessions/${go.sessions.graces.sid}`)).status).toBe(ended.includes('graces') ? 404 : 200)
  })

  it('another person in the browser ends what its sign-in opened', async () => {
    const { store, service, go } = await takenOver(engine)
    const browser = browserWith(service, go.cookies.ada)
    const login = (await browser.get(await authorizeUrl({ prompt: 'login' }))).headers.get('location') ?? ''
    await finishSignIn(browser, login, GRACE)
    await expectEnded({ store, service, go }, 'demo', 'backend')
  })

  it('the same person in the browser keeps it', async () => {
    const { service, go } = await takenOver(engine)
    const browser = browserWith(service, go.cookies.ada)
    const { id_token } = await at(service, 'demo', { browser })
    expect(claimsOf(id_token).sub).toBe(ADA)
    expect(await standing({ service, go })).toEqual(names)
    expect((await browser.post('/account', { sign_in: go.signIns.ada })).status).toBe(200)
    expect(await standing({ service, go })).toEqual(['native', 'graces'])
  })

  it('a token it spent is answered with its successor in the grace, and later ends its session: by the right client, and no other', async () => {
    const { store, service, go } = await takenOver(engine)
    const { spent, live } = go.sessions.demo
    expect((await refreshed(service, spent)).refresh_token).toBe(live)
    store.clock.advance(23)
    expect((await refresh(service, spent, { client_id: 'native' })).status).toBe(400)
    expect((await refresh(service, go.sessions.native.spent, { client_id: 'native' })).status).toBe(400)
    await expectEnded({ store, service, go }, 'native')
    expect((await refresh(service, spent)).status).toBe(400)
    await expectEnded({ store, service, go }, 'native', 'demo')
  })

  it('a token that an older version spent is answered with its successor', async () => {
    const { service, go } = await takenOver(engine)
    expect((await refreshed(service, go.spentLongAgo)).refresh_token).toBe(go.sessions.demo.live)
  })

  it.each(['live', 'spent'] as const)('revoking a %s token ends its session', async (which) => {
    const { store, service, go } = await takenOver(engine)
    await revoke(service, go.sessions.demo[which])
    await expectEnded({ store, service, go }, 'demo')
    await revoke(service, go.sessions.native[which], { client_id: 'native' })
    await expectEnded({ store, service, go }, 'demo', 'native')
  })

  it('an ending that stopped after its record was written is done by the next tick', async () => {
    const { store, service, go } = await takenOver(engine)
    const { issuer } = service.services
    const ending = { id: 'e', person: ADA, which: { of: 'everything' }, cause: 'operator', by: 'system', at: '2026-11-30T12:00:00Z' }
    await issuer.state.put('logout-due.e', utf8(JSON.stringify(ending)), 600)
    await service.tick()
    await expectEnded({ store, service, go }, 'demo', 'native', 'backend')
  })

  it('what it held of people, its fingerprint and its tombstones stay as they are', async () => {
    const { store, service, go } = await takenOver(engine)
    const kept = [`issuer:held:${ADA}`, 'issuer:kms:state-secret-fingerprint', `issuer:keyring:retired:ES256:${go.kids.retired}`]
    const before = await Promise.all(kept.map((key) => textAt(store, key)))
    expect(await service.services.readiness.guard()).toBe('foreign')
    await refreshed(service, go.sessions.demo.live)
    await at(service, 'demo')
    expect(await Promise.all(kept.map((key) => textAt(store, key)))).toEqual(before)
  })

  it('nobody signs in again: each session is refreshed, and once more in our form', async () => {
    const { service, go } = await takenOver(engine)
    for (const { live, client, person, sid } of Object.values(go.sessions)) {
      const proof = client === 'backend' ? { authorization: `Basic ${btoa('backend:secret of backend')}` } : {}
      const first = await refreshed(service, live, { client_id: client }, proof)
      const second = await refreshed(service, first.refresh_token, { client_id: client }, proof)
      expect(claimsOf(second.id_token)).toMatchObject({ sub: person, sid, auth_time: go.authTime })
    }
    expect(await standing({ service, go })).toEqual(names)
  })
})
