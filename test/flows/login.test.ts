import { describe, expect, it } from 'vitest'
import type { Adapters } from '../../src/compose.ts'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import {
  asBackend,
  authorizeUrl,
  contents,
  engines,
  exchange,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  testStore,
} from './harness.ts'

const ADA = 'ada@acme.example'
const KATHERINE = 'katherine@acme.example'

const store = testStore('memory', {
  edit({ service }) {
    service.directory.people.push({ email: 'alan@acme.example', groups: ['engineering@acme.example'], suspended: true })
  },
})
const service = startService(store)

interface Waiting {
  browser: TestBrowser
  auth: string
}

async function waiting(changes: Record<string, string | undefined> = {}, at: TestService = service): Promise<Waiting> {
  const browser = new TestBrowser(at)
  const answer = await browser.get(await authorizeUrl(changes))
  return { browser, auth: new URL(answer.headers.get('location') ?? '', at.url).searchParams.get('auth') ?? '' }
}

/** Whoever presents these cookies. */
function browserWith(cookies: Record<string, string>): TestBrowser {
  const browser = new TestBrowser(service)
  for (const [name, value] of Object.entries(cookies)) browser.cookies.set(name, value)
  return browser
}

describe('GET /login', () => {
  it('shows the people of the directory to the browser the request began in, and nobody who is suspended', async () => {
    const { browser, auth } = await waiting()
    const html = await pageOf(await browser.get(`/login?auth=${auth}`), 200)
    expect([...html.matchAll(/name="person" value="([^"]+)"/g)].map(([, person]) => person)).toEqual([ADA, 'grace@acme.example', KATHERINE])
    expect(html).toContain('The demo')
  })

  it('may be opened again: a look at it takes nothing away', async () => {
    const { browser, auth } = await waiting()
    const before = await contents(store)
    await pageOf(await browser.get(`/login?auth=${auth}`), 200)
    await pageOf(await browser.get(`/login?auth=${auth}`), 200)
    expect(await contents(store)).toEqual(before)
  })

  it('OIDC Core 3.1.2.1: offers the person of login_hint first', async () => {
    const { browser, auth } = await waiting({ login_hint: ' Katherine@ACME.example ' })
    expect(await pageOf(await browser.get(`/login?auth=${auth}`), 200)).toMatch(/value="katherine@acme\.example" autofocus/)
  })

  it.each<[string, (waiting: Waiting) => [TestBrowser, string] | Promise<[TestBrowser, string]>]>([
    ['another browser', async ({ auth }) => [(await waiting()).browser, auth]],
    ['a browser without the cookie', ({ auth }) => [new TestBrowser(service), auth]],
    ['a browser with a garbage cookie', ({ auth }) => [browserWith({ sluis_browser: '%"\\,==' }), auth]],
    ['a browser with an empty cookie', ({ auth }) => [browserWith({ sluis_browser: '' }), auth]],
    [
      'a browser that sends the cookie under the name it has on https',
      ({ auth, browser }) => {
        return [browserWith({ '__Host-sluis_browser': browser.cookies.get('sluis_browser') ?? '' }), auth]
      },
    ],
    ['its browser, of a request there never was', ({ browser }) => [browser, 'A'.repeat(22)]],
    [
      'its browser, after half an hour',
      ({ browser, auth }) => {
        store.clock.advance(1_800)
        return [browser, auth]
      },
    ],
    ['its browser, without saying which', ({ browser }) => [browser, '']],
    ['its browser, of an id that is a path', ({ browser }) => [browser, '../../etc/passwd']],
    ['its browser, of an id that is a key', ({ browser, auth }) => [browser, `req.a-${auth}`]],
    ['its browser, of an id that is a device flow', ({ browser }) => [browser, 'dc-AAAAAAAAAAAAAAAAAAA']],
    ['its browser, of an id with a character more', ({ browser, auth }) => [browser, `${auth}A`]],
    [
      'its browser, of an id in another case',
      ({ browser, auth }) => [
        browser,
        auth.replace(/[a-z]/i, (letter) => (letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase())),
      ],
    ],
    ['its browser, of an id that is a script', ({ browser }) => [browser, '"><script>alert(1)</script>']],
    ['its browser, of a very long id', ({ browser }) => [browser, 'a'.repeat(8_000)]],
  ])('%s is told the same: it is not valid any more', async (_what, change) => {
    const [browser, auth] = await change(await waiting())
    const before = await contents(store)
    for (const answer of [
      await browser.get(`/login?${new URLSearchParams({ auth })}`),
      await browser.post('/login/picker', { auth: auth || 'x', person: ADA }),
    ]) {
      const html = await pageOf(answer, 400)
      expect(html).toContain('This sign-in is not valid any more')
      expect(html).not.toMatch(/The demo|alert\(1\)/)
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect(await contents(store)).toEqual(before)
  })

  it.each(['auth=a&auth=b', 'auth=%', 'auth=%00', `auth=${'a'.repeat(8_193)}`])('?%s is a bad request', async (query) => {
    await pageOf(await new TestBrowser(service).get(`/login?${query}`), 400)
  })
})

describe('POST /login/picker', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['another site, in a browser that claims our origin', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8787' }],
    ['a browser that says nothing of where it comes from', {}],
    ['an opaque origin', { origin: 'null' }],
    ['another origin', { origin: 'http://localhost:3000' }],
    ['our host on https', { origin: 'https://localhost:8787' }],
    ['an origin that begins like ours', { origin: 'http://localhost:8787.evil.example' }],
  ])('from %s is refused, and the request waits on', async (_what, headers) => {
    const { browser, auth } = await waiting()
    const before = await contents(store)
    const answer = await browser.post('/login/picker', { auth, person: ADA }, headers)
    expect(await pageOf(answer, 403)).toContain('cross_origin_request')
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await contents(store)).toEqual(before)
    expect((await browser.post('/login/picker', { auth, person: ADA })).status).toBe(303)
  })

  it('from a page of ours, in a browser that says only its origin, is taken', async () => {
    const { browser, auth } = await waiting()
    expect((await browser.post('/login/picker', { auth, person: ADA }, { origin: 'http://localhost:8787' })).status).toBe(303)
  })

  it.each([
    ['nobody', undefined, 400],
    ['a person there is not', 'mallory@acme.example', 400],
    ['a name of every object', '__proto__', 400],
    ['a group', 'engineering@acme.example', 400],
    ['a script', '<script>alert(1)</script>', 400],
    ['a person who is suspended', 'alan@acme.example', 403],
  ])('that picks %s is refused, and the request waits on', async (_what, person, status) => {
    const { browser, auth } = await waiting()
    const before = await contents(store)
    const answer = await browser.post('/login/picker', person === undefined ? { auth } : { auth, person })
    expect(await pageOf(answer, status)).not.toContain('alert(1)')
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await contents(store)).toEqual(before)
    expect((await browser.post('/login/picker', { auth, person: ADA })).status).toBe(303)
  })

  it('that picks a person in another case signs in the person of the directory', async () => {
    const { browser, auth } = await waiting()
    await browser.post('/login/picker', { auth, person: ' ADA@Acme.example' })
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'signin.completed', subject: ADA })
  })

  it('with another content type is refused', async () => {
    const { browser, auth } = await waiting()
    const answer = await service.fetch('/login/picker', {
      method: 'POST',
      body: JSON.stringify({ auth, person: ADA }),
      headers: {
        'content-type': 'application/json',
        'sec-fetch-site': 'same-origin',
        cookie: `sluis_browser=${browser.cookies.get('sluis_browser')}`,
      },
    })
    expect(await errorOf(answer, 400)).toMatchObject({ error: 'invalid_request' })
  })

  it('over 16 KiB is refused, and the request waits on', async () => {
    const { browser, auth } = await waiting()
    const big = 'x'.repeat(8_000)
    await pageOf(await browser.post('/login/picker', { auth, person: ADA, a: big, b: big, c: big }), 413)
    expect((await browser.post('/login/picker', { auth, person: ADA })).status).toBe(303)
  })

  it('a second time, finds the request gone: it makes no second code', async () => {
    const { browser, auth } = await waiting()
    await browser.post('/login/picker', { auth, person: ADA })
    const before = await contents(store)
    expect(await pageOf(await browser.post('/login/picker', { auth, person: ADA }), 400)).toContain('finished already')
    expect(await contents(store)).toEqual(before)
  })

  it('is not there where the installation has no picker', async () => {
    const without = testStore('memory', {
      edit({ service }) {
        service.signin.picker = false
      },
    })
    const answer = await new TestBrowser(startService(without)).post('/login/picker', { auth: 'x', person: ADA })
    await pageOf(answer, 404)
  })
})

describe.each(engines)('two presses at once, on %s', (engine) => {
  it('make one code, and the other is told that it is done already', async () => {
    const { service, opened } = startTogether(engine)
    const { browser, auth } = await waiting({}, service)
    opened.together(2)
    const answers = await Promise.all([1, 2].map(() => browser.post('/login/picker', { auth, person: ADA })))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
    const lost = answers.find(({ status }) => status === 409)
    expect(lost && (await pageOf(lost, 409))).toContain('This sign-in is done already')
    expect(service.audit.events.filter(({ event }) => event === 'signin.completed')).toHaveLength(1)
  })
})

/** A service whose reads of a waiting request, from `together(n)` on, are answered once n of them have come. */
function startTogether(engine: (typeof engines)[number]) {
  let wanted = 0
  let waitingReads: (() => void)[] = []
  const wrap = (adapters: Adapters): Adapters => ({
    ...adapters,
    state: {
      ...adapters.state,
      async get(key) {
        const entry = await adapters.state.get(key)
        if (wanted === 0 || !key.startsWith('req.')) return entry
        await new Promise<void>((resolve) => {
          waitingReads.push(resolve)
          if (waitingReads.length < wanted) return
          for (const go of waitingReads) go()
          waitingReads = []
        })
        return entry
      },
    },
  })
  const together = (count: number) => {
    wanted = count
  }
  return { service: startService(testStore(engine), wrap), opened: { together } }
}

describe('a person whom the client does not admit', () => {
  it('is told so, without the names of groups, and is sent nowhere', async () => {
    const { browser, auth } = await waiting(asBackend)
    const html = await pageOf(await browser.post('/login/picker', { auth, person: KATHERINE }), 403)
    expect(html).toContain('A server of ours')
    expect(html).toContain(KATHERINE)
    expect(html).not.toMatch(/app:|emp:|finance|engineering|localhost:3000/)
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'signin.refused', subject: KATHERINE, client: 'backend' })
  })

  it('leaves the request for another person to complete', async () => {
    const { browser, auth } = await waiting(asBackend)
    await browser.post('/login/picker', { auth, person: KATHERINE })
    const told = await clientAnswer(await browser.post('/login/picker', { auth, person: ADA }))
    expect(told).toMatchObject({ to: 'http://localhost:3000/callback', parameters: { code: expect.stringMatching(/^slc_/) } })
  })

  it('is signed in all the same, and not in the name of that client', async () => {
    const { browser, auth } = await waiting(asBackend)
    await browser.post('/login/picker', { auth, person: KATHERINE })
    expect(browser.cookies.get('sluis_sso')).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const { entries } = await store.adapters().state.list('sso.')
    const signIns = entries.map(({ value }) => JSON.parse(new TextDecoder().decode(value)))
    expect(signIns.filter(({ identity }) => identity === KATHERINE).at(-1)).toMatchObject({ clients: [] })
  })
})

describe('a completed sign-in', () => {
  it('RFC 6749 4.1.2, RFC 9207 2: sends back code, state and iss, and nothing else, in every mode', async () => {
    for (const response_mode of ['query', 'fragment', 'form_post'] as const) {
      const { browser, auth } = await waiting({ response_mode })
      const told = await clientAnswer(await browser.post('/login/picker', { auth, person: ADA }))
      expect(told).toEqual({
        mode: response_mode,
        to: 'http://localhost:8787/demo',
        parameters: { code: expect.stringMatching(/^slc_[A-Za-z0-9_-]{43}$/), state: 'the state', iss: 'http://localhost:8787' },
      })
    }
  })

  it('keeps the sign-in as a cookie for its whole life', async () => {
    const { browser, auth } = await waiting()
    const answer = await browser.post('/login/picker', { auth, person: ADA })
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^sluis_sso=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=86400$/),
    ])
  })

  it('of the same person in the same browser keeps the sign-in, under a new cookie', async () => {
    const browser = new TestBrowser(service)
    await signIn(browser)
    const first = browser.cookies.get('sluis_sso')
    await signIn(browser, { client_id: 'native', redirect_uri: 'http://localhost/callback' })
    expect(browser.cookies.get('sluis_sso')).not.toBe(first)
    const [before, after] = service.audit.events.slice(-2)
    expect(after?.sign_in).toBe(before?.sign_in)
  })

  it('of another person in the same browser ends the sign-in of the first: a code under it opens nothing', async () => {
    const browser = new TestBrowser(service)
    const code = (await signIn(browser)).searchParams.get('code') ?? ''
    await signIn(browser, {}, 'grace@acme.example')
    const opened = async () => Object.keys(await contents(store)).filter((key) => /^(ses|sid|rt|tok)\./.test(key))
    const before = await opened()
    expect(await errorOf(await exchange(service, code), 400)).toMatchObject({ error: 'invalid_grant' })
    expect(await opened()).toEqual(before)
  })

  it('uses a browser cookie that stands in its place when the one it has is not ours', async () => {
    const browser = browserWith({ sluis_browser: 'mine', sluis_sso: '"garbage' })
    expect((await signIn(browser)).searchParams.get('code')).toMatch(/^slc_/)
    expect(browser.cookies.get('sluis_browser')).toMatch(/^[A-Za-z0-9_-]{43}$/)
  })

  it('keeps the cookie of a browser that has one: its other tabs are under way with it', async () => {
    const { browser, auth } = await waiting()
    const other = await browser.get(await authorizeUrl())
    expect(other.headers.getSetCookie()).toEqual([])
    expect((await browser.post('/login/picker', { auth, person: ADA })).status).toBe(303)
  })
})
