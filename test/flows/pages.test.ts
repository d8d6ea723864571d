import { describe, expect, it } from 'vitest'
import { elementsOf, pageOf } from './answers.ts'
import { asBackend, authorizeUrl, startService, TestBrowser, type TestService, type TestStore, testStore } from './harness.ts'

const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(2)>' onfocus=alert(3) x='`

const store = testStore('memory')
const service = startService(store)

async function loginOf(browser: TestBrowser, at: TestService, changes: Record<string, string | undefined> = {}): Promise<string> {
  return (await browser.get(await authorizeUrl(changes))).headers.get('location') ?? at.url
}

async function posted(person: string, changes: Record<string, string | undefined>): Promise<Response> {
  const browser = new TestBrowser(service)
  const auth = (await loginOf(browser, service, changes)).split('auth=')[1] ?? ''
  return browser.post('/login/picker', { auth, person })
}

async function login(changes: Record<string, string | undefined> = {}): Promise<Response> {
  const browser = new TestBrowser(service)
  return browser.get(await loginOf(browser, service, changes))
}

const PLAIN = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
/** The script of the password form calls the issuer. */
const SIGN_IN = PLAIN.replace('; base-uri', "; script-src 'self'; connect-src 'self'; base-uri")

const pages: [string, number, () => Promise<Response>, string][] = [
  ['the start page', 200, () => new TestBrowser(service).get('/'), `${PLAIN}; form-action 'self'`],
  [
    'the demo client',
    200,
    () => new TestBrowser(service).get('/demo'),
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
  ],
  ['the sign-in page', 200, () => login(), `${SIGN_IN}; form-action 'self' http://localhost:8787`],
  ['the sign-in page of a client on another port', 200, () => login(asBackend), `${SIGN_IN}; form-action 'self' http://localhost:3000`],
  [
    'the sign-in page of a client on another host',
    200,
    () => login({ client_id: 'native', redirect_uri: 'http://127.0.0.1:50123/callback' }),
    `${SIGN_IN}; form-action 'self' http://127.0.0.1:50123`,
  ],
  [
    'the sign-in page of a client with a scheme of its own',
    200,
    () => login({ redirect_uri: 'com.acme.demo:/callback' }),
    `${SIGN_IN}; form-action 'self' com.acme.demo:`,
  ],
  [
    'the page whose form goes to the client',
    200,
    () => posted('ada@acme.example', { response_mode: 'form_post' }),
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http://localhost:8787",
  ],
  ['the page for who is not admitted', 403, () => posted('katherine@acme.example', asBackend), `${PLAIN}; form-action 'self'`],
  ['the page for a request that is gone', 400, () => new TestBrowser(service).get('/login?auth=x'), `${PLAIN}; form-action 'self'`],
  ['the page of an error', 400, () => new TestBrowser(service).get('/authorize?client_id=x'), `${PLAIN}; form-action 'self'`],
  ['the page of an address there is not', 404, () => new TestBrowser(service).get('/nowhere'), `${PLAIN}; form-action 'self'`],
  ['the page of a form of another site', 403, () => new TestBrowser(service).post('/login/picker', {}, {}), `${PLAIN}; form-action 'self'`],
]

describe.each(pages)('%s', (_name, status, open, csp) => {
  it('lets no browser frame it, keep it, guess its type, or tell others where it was', async () => {
    const answer = await open()
    await pageOf(answer, status)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': csp,
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
  })

  it('has no script, style or handler in it, and one heading', async () => {
    const html = await (await open()).text()
    await expectInert(html)
    expect(html.match(/<h1>/g)).toHaveLength(1)
  })
})

/** Nothing runs but files of ours, and nothing is loaded from elsewhere. */
async function expectInert(html: string): Promise<void> {
  for (const { tag, attributes } of await elementsOf(html)) {
    expect(Object.keys(attributes).filter((name) => name.startsWith('on') || name === 'style')).toEqual([])
    expect(['style', 'iframe', 'object', 'embed', 'base', 'svg']).not.toContain(tag)
    if (tag === 'script' || tag === 'img') expect(attributes.src).toMatch(/^\/assets\/[a-z-]+\.(js|svg)$/)
    if ('href' in attributes) expect(attributes.href).toMatch(/^\//)
  }
}

describe('whatever is in the documents or the request', () => {
  const hostile = testStore('memory', {
    edit({ service, policy }) {
      service.name = HOSTILE
      service.directory.people.push({ email: 'eve@acme.example', given_name: HOSTILE, groups: ['finance@acme.example'], suspended: false })
      Object.assign(policy.clients.demo ?? {}, { display_name: HOSTILE, description: HOSTILE })
    },
  })
  const at = startService(hostile)

  it.each<[string, (browser: TestBrowser) => Promise<Response>]>([
    [
      'the sign-in page',
      async (browser) => browser.get(await loginOf(browser, at, { login_hint: HOSTILE, state: HOSTILE, nonce: HOSTILE })),
    ],
    ['the start page', (browser) => browser.get('/')],
    ['an error page', (browser) => browser.get(`/authorize?client_id=${encodeURIComponent(HOSTILE)}`)],
    [
      'an error page that names a parameter',
      (browser) => browser.get(`/login?${encodeURIComponent(HOSTILE)}=1&${encodeURIComponent(HOSTILE)}=2`),
    ],
    ['an address there is not', (browser) => browser.get(`/${encodeURIComponent(HOSTILE)}`)],
    [
      'the page whose form goes to the client',
      async (browser) => browser.get(await authorizeUrl({ state: HOSTILE, response_mode: 'form_post', prompt: 'none' })),
    ],
  ])('%s holds it as text only', async (_name, open) => {
    const html = await (await open(new TestBrowser(at))).text()
    expect(html).toMatch(/^<!doctype html>/)
    expect(html).toContain('&lt;script&gt;alert(1)')
    await expectInert(html)
  })
})

describe('an issuer on https', () => {
  const https: TestStore = testStore('memory', {
    edit({ service, policy }) {
      service.issuer = 'https://id.acme.example'
      policy.clients.demo?.redirects.push('https://app.acme.example/cb')
    },
  })
  const at = startService(https)

  it('RFC 6265bis 4.1.3: has cookies of the __Host- prefix, Secure', async () => {
    const browser = new TestBrowser(at)
    const started = await browser.get(await authorizeUrl({ redirect_uri: 'https://app.acme.example/cb' }))
    expect(started.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-sluis_browser=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/),
    ])
    const auth = started.headers.get('location')?.split('auth=')[1] ?? ''
    const done = await browser.post('/login/picker', { auth, person: 'ada@acme.example' })
    expect(done.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-sluis_sso=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=86400$/),
    ])
  })

  it('RFC 6797 7.2: tells browsers to stay on it, which one on http does not', async () => {
    expect((await at.fetch('/healthz')).headers.get('strict-transport-security')).toBe('max-age=31536000')
    expect((await service.fetch('/healthz')).headers.has('strict-transport-security')).toBe(false)
  })

  it('has no start page and no demo client: they are for a developer', async () => {
    await pageOf(await new TestBrowser(at).get('/'), 404)
    await pageOf(await new TestBrowser(at).get('/demo'), 404)
  })
})
