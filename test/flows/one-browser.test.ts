import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import {
  ADA,
  answerDevice,
  at,
  basic,
  beginDevice,
  finishSignIn,
  GRACE,
  HOUR,
  introspected,
  KATHERINE,
  poll,
  refresh,
  refreshed,
  signInAt,
  startClients,
  tokensIn,
} from './clients.ts'
import {
  asBackend,
  authorizeUrl,
  contents,
  engines,
  exchange,
  redeployed,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'

const COOKIE = 'sluis_sso'

async function isAlive(service: TestService, tokens: Tokens): Promise<boolean> {
  return (await userinfo(service, tokens.access_token)).status === 200
}

/** Whether a browser that has only this cookie is signed in. */
async function proves(service: TestService, cookie: string | undefined): Promise<boolean> {
  const browser = new TestBrowser(service)
  browser.cookies.set(COOKIE, cookie ?? '')
  const { parameters } = await clientAnswer(await browser.get(await authorizeUrl({ prompt: 'none' })))
  return parameters.code !== undefined
}

async function keysUnder(store: TestStore, prefix: string): Promise<string[]> {
  return Object.keys(await contents(store)).filter((key) => key.startsWith(prefix))
}

/** Tokens of a device that a person allowed in this browser. */
async function device(service: TestService, browser: TestBrowser, person = ADA): Promise<Tokens> {
  const { device_code, user_code } = await beginDevice(service)
  await answerDevice(browser, user_code, 'allow', person)
  return tokensIn(await poll(service, device_code))
}

describe.each(engines)('in one browser on %s', (engine) => {
  it('the same person again keeps their sign-in and its sessions, under a new cookie alone', async () => {
    const { service, store } = await startClients(engine)
    const browser = new TestBrowser(service)
    const opened = [await at(service, 'demo', { browser }), await at(service, 'native', { browser })]
    const [signIn] = await keysUnder(store, 'sso.')
    const before = browser.cookies.get(COOKIE)
    store.clock.advance(HOUR / 2)
    opened.push(await at(service, 'backend', { browser }))

    expect(await keysUnder(store, 'sso.')).toEqual([signIn])
    for (const tokens of opened) expect(await isAlive(service, tokens)).toBe(true)
    expect([await proves(service, before), await proves(service, browser.cookies.get(COOKIE))]).toEqual([false, true])
  })

  it('another person ends everything of the first, and nothing of anybody else', async () => {
    const { service, store } = await startClients(engine)
    const browser = new TestBrowser(service)
    const ended = [await at(service, 'demo', { browser }), await at(service, 'backend', { browser })]
    const cookie = browser.cookies.get(COOKIE)
    const kept = [await signedIn(service), await at(service, 'demo', { person: GRACE }), await device(service, new TestBrowser(service))]
    const audited = service.audit.events.length
    const graces = await at(service, 'demo', { browser, person: GRACE })

    for (const tokens of ended) {
      expect(await isAlive(service, tokens)).toBe(false)
      expect(await introspected(service, tokens.refresh_token, 'backend')).toEqual({ active: false })
    }
    expect((await refresh(service, ended[0]?.refresh_token ?? '')).status).toBe(400)
    expect((await refresh(service, ended[1]?.refresh_token ?? '', { client_id: 'backend' }, basic('backend'))).status).toBe(400)
    expect([await proves(service, cookie), await proves(service, browser.cookies.get(COOKIE))]).toEqual([false, true])
    for (const tokens of [...kept, graces]) expect(await isAlive(service, tokens)).toBe(true)
    expect(service.audit.events.slice(audited).filter(({ event }) => event === 'sessions.ended')).toMatchObject([
      { subject: ADA, by: GRACE, reason: 'another_person', count: 2 },
    ])
    expect(await keysUnder(store, 'logout-due.')).toEqual([])
  })

  it('a sign-out at hour 23 ends what was opened at hour 1', async () => {
    const { service, store } = await startClients(engine)
    const browser = new TestBrowser(service)
    await signIn(browser)
    store.clock.advance(HOUR)
    const native = { client_id: 'native', redirect_uri: 'http://localhost/callback' }
    const { parameters } = await clientAnswer(await browser.get(await authorizeUrl(native)))
    let tokens = await tokensIn(await exchange(service, parameters.code ?? '', native))
    for (const _ of [1, 2]) {
      store.clock.advance(11 * HOUR)
      tokens = await refreshed(service, tokens.refresh_token, { client_id: 'native' })
    }
    expect(await isAlive(service, tokens)).toBe(true)

    await signInAt(browser, '/account')
    const html = await pageOf(await browser.get('/account'), 200)
    const id = /name="sign_in" value="([^"]+)"/.exec(html)?.[1] ?? ''
    await pageOf(await browser.post('/account', { sign_in: id }), 200)
    expect(await isAlive(service, tokens)).toBe(false)
    expect((await refresh(service, tokens.refresh_token, { client_id: 'native' })).status).toBe(400)
  })
})

describe('another person in the browser', () => {
  it('at hour 23 ends what the first opened, though that sign-in completes nothing any more', async () => {
    const { service, store } = await startClients('memory')
    const browser = new TestBrowser(service)
    let tokens = await at(service, 'demo', { browser })
    for (const _ of [1, 2]) {
      store.clock.advance(11.5 * HOUR)
      tokens = await refreshed(service, tokens.refresh_token)
    }
    await signIn(browser, {}, GRACE)
    expect(await isAlive(service, tokens)).toBe(false)
  })

  it('ends what the first opened also where the client does not admit them', async () => {
    const { service } = await startClients('memory')
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    const login = (await browser.get(await authorizeUrl({ ...asBackend, prompt: 'login' }))).headers.get('location') ?? ''
    await pageOf(await browser.post('/login/picker', { auth: login.split('auth=')[1] ?? '', person: KATHERINE }), 403)
    expect(await isAlive(service, tokens)).toBe(false)
  })

  it('ends nothing when the directory refuses them', async () => {
    const { service, store } = await startClients('memory')
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    const strict = startService(
      redeployed(store, ({ service }) => {
        for (const person of service.directory.people) person.suspended = person.email === GRACE
      }),
    )
    const tab = new TestBrowser(strict)
    for (const [name, value] of browser.cookies) tab.cookies.set(name, value)
    const login = (await tab.get(await authorizeUrl({ prompt: 'login' }))).headers.get('location') ?? ''
    await pageOf(await tab.post('/login/picker', { auth: login.split('auth=')[1] ?? '', person: GRACE }), 403)
    expect(await isAlive(service, tokens)).toBe(true)
    expect(await proves(service, browser.cookies.get(COOKIE))).toBe(true)
  })

  it('ends nothing when the client asked for the first', async () => {
    const { service } = await startClients('memory')
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    const to = await signIn(browser, { id_token_hint: tokens.id_token }, GRACE)
    expect(to.searchParams.get('error')).toBe('login_required')
    expect(await isAlive(service, tokens)).toBe(true)
    expect(await proves(service, browser.cookies.get(COOKIE))).toBe(true)
  })

  it('ends it for a page of ours as for a client', async () => {
    const { service } = await startClients('memory')
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    const { user_code } = await beginDevice(service)
    await browser.post('/device', { user_code })
    const login = (await browser.get(await authorizeUrl({ prompt: 'login' }))).headers.get('location') ?? ''
    await finishSignIn(browser, login, GRACE)
    expect(await isAlive(service, tokens)).toBe(false)
  })

  it('leaves a code of the first good for nothing', async () => {
    const { service } = await startClients('memory')
    const browser = new TestBrowser(service)
    const code = (await signIn(browser)).searchParams.get('code') ?? ''
    await signIn(browser, {}, GRACE)
    expect(await errorOf(await exchange(service, code), 400)).toMatchObject({ error: 'invalid_grant' })
  })
})
