import { describe, expect, it } from 'vitest'
import { elementsOf, errorOf, pageOf } from './answers.ts'
import {
  ADA,
  answerDevice,
  at,
  beginDevice,
  finishSignIn,
  GRACE,
  HOUR,
  poll,
  refresh,
  signInAt,
  startClients,
  tokensIn,
} from './clients.ts'
import {
  auditedBesideRefusals,
  authorizeUrl,
  claimsOf,
  contents,
  type Engine,
  engines,
  exchange,
  signIn,
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

function sidOf(tokens: Tokens): string {
  return String(claimsOf(tokens.id_token).sid)
}

/** Every button of the page: what it says, and the form it sends. */
async function buttonsOf(html: string): Promise<{ label: string; form: Record<string, string> }[]> {
  const buttons = html.matchAll(/<button type="submit" name="([^"]+)" value="([^"]+)"(?: aria-label="([^"]+)")?>([^<]+)</g)
  return [...buttons].map(([, name = '', value = '', label, text = '']) => ({ label: label ?? text, form: { [name]: value } }))
}

/** Presses the button of the page that says so. */
async function press(browser: TestBrowser, label: string): Promise<Response> {
  const button = (await buttonsOf(await pageOf(await browser.get('/account'), 200))).find((one) => one.label === label)
  if (button === undefined) throw new Error(`no button says ${label}`)
  return browser.post('/account', button.form)
}

/** Ada in two browsers with a device, and Grace in hers. */
async function world(engine: Engine = 'memory') {
  const { service, store } = await startClients(engine)
  const [here, there, graces] = [new TestBrowser(service), new TestBrowser(service), new TestBrowser(service)]
  const opened = {
    demoHere: await at(service, 'demo', { browser: here }),
    nativeHere: await at(service, 'native', { browser: here }),
    backendThere: await at(service, 'backend', { browser: there }),
    graceDemo: await at(service, 'demo', { browser: graces, person: GRACE }),
  }
  const { device_code, user_code } = await beginDevice(service)
  await answerDevice(there, user_code)
  const device = await tokensIn(await poll(service, device_code))
  return { service, store, here, there, graces, opened: { ...opened, device } }
}

type Name = keyof Awaited<ReturnType<typeof world>>['opened']

async function alive({ service, opened }: Awaited<ReturnType<typeof world>>): Promise<Name[]> {
  const names = Object.keys(opened) as Name[]
  const standing = await Promise.all(names.map((name) => isAlive(service, opened[name])))
  return names.filter((_, n) => standing[n])
}

async function expectNothingChanged(store: TestStore, ask: () => Promise<Response>): Promise<Response> {
  const before = await contents(store)
  const answer = await ask()
  expect(await contents(store)).toEqual(before)
  return answer
}

async function expectSignedOut(answer: Response, browser: TestBrowser): Promise<void> {
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^sluis_sso=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/)])
  expect(await pageOf(answer, 200)).toContain('You are signed out')
  expect(browser.cookies.has(COOKIE)).toBe(false)
  expect((await browser.get('/account')).status).toBe(303)
}

function back(answer: Response): [number, string | null] {
  return [answer.status, answer.headers.get('location')]
}

describe.each(engines)('/account on %s', (engine) => {
  it('shows a person their sign-ins, their sessions and their devices, each with a button, and nobody else’s', async () => {
    const { here, opened } = await world(engine)
    const html = await pageOf(await here.get('/account'), 200)
    for (const said of [
      ADA,
      'This browser',
      'Another browser',
      'The demo',
      'A program on this computer',
      'A server of ours',
      'a device',
      'by picker',
    ]) {
      expect(html).toContain(said)
    }
    expect(html).toContain('30 Nov 2026, 12:00 UTC')
    expect(html).toContain('1 Dec 2026, 12:00 UTC')
    expect(html).not.toContain(GRACE)
    expect(html).not.toContain(sidOf(opened.graceDemo))
    expect((await buttonsOf(html)).map(({ label }) => label).sort()).toEqual([
      'End A program on this computer',
      'End A program on this computer',
      'End A server of ours',
      'End The demo',
      'End everything, here and everywhere',
      'End this sign-in',
      'Sign out of this browser',
    ])
  })

  it('ends one session', async () => {
    const all = await world(engine)
    expect(back(await press(all.here, 'End The demo'))).toEqual([303, 'http://localhost:8787/account'])
    expect(await alive(all)).toEqual(['nativeHere', 'backendThere', 'graceDemo', 'device'])
    expect((await refresh(all.service, all.opened.demoHere.refresh_token)).status).toBe(400)
    expect(auditedBesideRefusals(all.service).at(-1)).toMatchObject({ event: 'session.ended', subject: ADA, reason: 'sign_out', by: ADA })
  })

  it('ends the sign-in of another browser, and what it opened', async () => {
    const all = await world(engine)
    expect(back(await press(all.here, 'End this sign-in'))).toEqual([303, 'http://localhost:8787/account'])
    expect(await alive(all)).toEqual(['demoHere', 'nativeHere', 'graceDemo', 'device'])
    expect((await all.there.get('/account')).status).toBe(303)
    expect((await all.here.get('/account')).status).toBe(200)
  })

  it('signs this browser out: what it opened ends, a device and the other browser stay', async () => {
    const all = await world(engine)
    await expectSignedOut(await press(all.here, 'Sign out of this browser'), all.here)
    expect(await alive(all)).toEqual(['backendThere', 'graceDemo', 'device'])
    expect((await all.there.get('/account')).status).toBe(200)
    expect((await refresh(all.service, all.opened.device.refresh_token, { client_id: 'native' })).status).toBe(200)
    expect(Object.keys(await contents(all.store)).filter((key) => key.startsWith('logout-due.'))).toEqual([])
  })

  it('ends everything, everywhere', async () => {
    const all = await world(engine)
    await expectSignedOut(await press(all.here, 'End everything, here and everywhere'), all.here)
    expect(await alive(all)).toEqual(['graceDemo'])
    expect((await all.there.get('/account')).status).toBe(303)
    expect((await all.graces.get('/account')).status).toBe(200)
    expect(all.service.audit.events.at(-1)).toMatchObject({ event: 'sessions.ended', subject: ADA, reason: 'sign_out', by: ADA, count: 4 })
  })
})

describe('/account', () => {
  it('ends a device by its own button', async () => {
    const all = await world()
    const { here, opened } = all
    expect(back(await here.post('/account', { session: sidOf(opened.device) }))).toEqual([303, 'http://localhost:8787/account'])
    expect(await alive(all)).toEqual(['demoHere', 'nativeHere', 'backendThere', 'graceDemo'])
  })

  it('asks who is not signed in to sign in, and goes on from there', async () => {
    const { service } = await startClients('memory')
    const browser = new TestBrowser(service)
    const answer = await browser.get('/account')
    expect(back(answer)).toEqual([303, expect.stringMatching(/^\/login\?auth=[A-Za-z0-9_-]{22}$/)])
    const chooser = await pageOf(await browser.get(answer.headers.get('location') ?? ''), 200)
    expect(chooser).toContain('Acme (development)')
    const to = await finishSignIn(browser, answer.headers.get('location') ?? '')
    expect(to).toBe('http://localhost:8787/account')
    expect(await pageOf(await browser.get(to), 200)).toContain('No application is open.')
    expect(service.audit.events).toMatchObject([{ event: 'signin.completed', subject: ADA }])
  })

  it('asks again when the sign-in completes nothing any more, and the same person finds their sessions', async () => {
    const { service, store } = await startClients('memory')
    const browser = new TestBrowser(service)
    await at(service, 'demo', { browser })
    store.clock.advance(12 * HOUR)
    await signInAt(browser, '/account')
    const html = await pageOf(await browser.get('/account'), 200)
    expect(html).toContain('The demo')
    expect(html.match(/This browser/g)).toHaveLength(1)
    expect(html).not.toContain('Another browser')
  })

  it('of a person the directory refuses is not shown: their sign-in is refused', async () => {
    const { service } = await startClients('memory', ({ service }) => {
      for (const person of service.directory.people) person.suspended = person.email === GRACE
    })
    const browser = new TestBrowser(service)
    const login = (await browser.get('/account')).headers.get('location') ?? ''
    await pageOf(await browser.post('/login/picker', { auth: login.split('auth=')[1] ?? '', person: GRACE }), 403)
    expect(browser.cookies.has(COOKIE)).toBe(false)
  })

  it('can be framed by nobody, runs no script, and is not kept', async () => {
    const { here } = await world()
    const answer = await here.get('/account')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'; form-action 'self'$/),
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
    })
    const elements = await elementsOf(await answer.text())
    expect(elements.filter(({ tag }) => tag === 'script')).toEqual([])
    const forms = elements.filter(({ tag }) => tag === 'form')
    expect(new Set(forms.map(({ attributes }) => `${attributes.method} ${attributes.action}`))).toEqual(new Set(['post /account']))
  })

  it('shows a client by the name it has, which is never markup', async () => {
    const { service } = await startClients('memory', ({ policy }) => {
      Object.assign(policy.clients.demo ?? {}, { display_name: '<script>alert(1)</script>' })
    })
    const browser = new TestBrowser(service)
    await at(service, 'demo', { browser })
    const html = await pageOf(await browser.get('/account'), 200)
    expect(html).toContain('&lt;script&gt;')
    expect((await elementsOf(html)).some(({ tag }) => tag === 'script')).toBe(false)
  })

  it('leaves a code that was on its way good for nothing', async () => {
    const { service } = await startClients('memory')
    const browser = new TestBrowser(service)
    const code = (await signIn(browser)).searchParams.get('code') ?? ''
    await press(browser, 'Sign out of this browser')
    expect(await errorOf(await exchange(service, code), 400)).toMatchObject({ error: 'invalid_grant' })
  })

  it('signs out of single sign-on too: the next authorization shows a page', async () => {
    const { here } = await world()
    const cookie = here.cookies.get(COOKIE) ?? ''
    await press(here, 'Sign out of this browser')
    here.cookies.set(COOKIE, cookie)
    expect((await here.get(await authorizeUrl())).headers.get('location')).toMatch(/^\/login/)
  })
})

describe('a form sent to /account', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another host of this site', { 'sec-fetch-site': 'same-site' }],
    ['another site, in an old browser', { origin: 'https://evil.example' }],
    ['nowhere', {}],
  ])('from %s is refused, and ends nothing', async (_where, headers) => {
    const { here, store, opened } = await world()
    for (const form of [{ everything: 'yes' }, { session: sidOf(opened.demoHere) }] as Record<string, string>[]) {
      await pageOf(await expectNothingChanged(store, () => here.post('/account', form, headers)), 403)
    }
  })

  it('by who is not signed in ends nothing, and asks them to', async () => {
    const all = await world()
    const stranger = new TestBrowser(all.service)
    for (const form of [{ everything: 'yes' }, { session: sidOf(all.opened.demoHere) }] as Record<string, string>[]) {
      expect(back(await stranger.post('/account', form))).toEqual([303, expect.stringMatching(/^\/login\?auth=/)])
    }
    expect(await alive(all)).toHaveLength(5)
  })

  it.each<[string, (opened: Record<Name, Tokens>, signIn: string) => Record<string, string>]>([
    ['the session of another person', ({ graceDemo }) => ({ session: sidOf(graceDemo) })],
    ['the sign-in of another person', (_opened, signIn) => ({ sign_in: signIn })],
    ['a session nobody has', () => ({ session: 'AAAAAAAAAAAAAAAAAAAAAA' })],
    ['a sign-in nobody has', () => ({ sign_in: 'AAAAAAAAAAAAAAAAAAAAAA' })],
    ['a token for a session', ({ demoHere }) => ({ session: demoHere.refresh_token })],
    ['a path for a session', () => ({ session: '../../ses.x' })],
  ])('that names %s ends nothing, of nobody', async (_what, form) => {
    const { service, here, store, opened } = await world()
    const graces = service.audit.events.find(({ subject, event }) => subject === GRACE && event === 'signin.completed')?.sign_in
    const audited = service.audit.events.length
    const answer = await expectNothingChanged(store, () => here.post('/account', form(opened, graces ?? '')))
    expect(back(answer)).toEqual([303, 'http://localhost:8787/account'])
    expect(service.audit.events.slice(audited)).toEqual([])
  })

  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['an empty session', { session: '' }],
    ['what there is not', { all: 'yes' }],
  ])('that names %s is refused, and ends nothing', async (_what, form) => {
    const { here, store } = await world()
    await pageOf(await expectNothingChanged(store, () => here.post('/account', form)), 400)
  })
})
