import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { DEVICE_CODE_GRANT } from '../../src/issuer/token/device-code.ts'
import { beginDevice, deviceForm, refresh } from './clients.ts'
import {
  asBackend,
  authorizeUrl,
  claimsOf,
  exchange,
  random,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type Tokens,
  testStore,
} from './harness.ts'

const store = testStore('memory')
const CLIENT_SECRET = encodeBase64url(random.bytes(32)) // as one is generated
await store.adapters().secrets.put('internal/oidc/clients/backend', utf8(CLIENT_SECRET))
const service = startService(store)
await service.fetch('/readyz')

/** Ada's browser and what her clients hold: what is thrown at the service is made of this, and of it nothing may reach a log. */
async function arranged() {
  const browser = new TestBrowser(service)
  const tokens = await signedIn(service)
  const spent = await signedIn(service)
  await refresh(service, spent.refresh_token)
  const freshCode = (await signIn(browser)).searchParams.get('code') ?? ''
  const spentCode = (await signIn(browser)).searchParams.get('code') ?? ''
  const own = await (await exchange(service, spentCode)).json<Tokens>()
  const backendCode = (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? ''
  const waiting = (await browser.get(await authorizeUrl({ prompt: 'login' }))).headers.get('location')?.split('auth=')[1] ?? ''
  const device = await beginDevice(service)
  const { request: shown = '' } = await deviceForm(browser, device.user_code)
  return { browser, tokens, spent, freshCode, spentCode, backendCode, waiting, device, shown, sid: String(claimsOf(own.id_token).sid) }
}

let world = await arranged()
service.audit.events.length = 0

/** What was used up or ended leaves little to throw at: the next request finds a world of its own. */
async function arrangeAgain(): Promise<void> {
  if (!service.audit.events.some(({ event }) => !event.endsWith('.refused') && event !== 'sessions.asked')) return
  world = await arranged()
  service.audit.events.length = 0
}

/** What no log line may hold: whoever reads logs could use it, or learn of whom they speak. */
const confidential: (() => string)[] = [
  () => world.tokens.access_token,
  () => world.tokens.id_token,
  () => world.tokens.refresh_token,
  () => world.spent.refresh_token,
  () => world.freshCode,
  () => world.spentCode,
  () => world.backendCode,
  () => world.device.device_code,
  () => world.device.user_code,
  () => CLIENT_SECRET,
  () => world.browser.cookies.get('sluis_sso') ?? '',
  () => world.browser.cookies.get('sluis_browser') ?? '',
  () => 'ada@acme.example',
  () => 'grace@acme.example',
  () => 'mallory@evil.example',
]

function cookie(): string {
  return [...world.browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
}

const nasty = fc.constantFrom(
  '',
  '%',
  '%00',
  '%ff',
  '\u0000',
  '\r\nset-cookie: a=b',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  '%24{jndi:ldap://x}',
  "' OR 1=1 --",
  '<script>alert(1)</script>',
  '{"id_token":{"sub":{"value":"ada@acme.example"}}}',
  '{"userinfo":null}',
  '[[[[[[[[[[',
  '-1',
  '9007199254740993',
  'NaN',
  'null',
  '\ud800',
  '💥',
  'é'.repeat(300),
  'a'.repeat(9_000),
)
const value = fc.oneof(
  fc
    .constantFrom(
      ...confidential,
      () => world.waiting,
      () => world.sid,
      () => world.shown,
    )
    .map((get) => get()),
  nasty,
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    ...[
      'demo',
      'native',
      'backend',
      'code',
      'token',
      'openid',
      'openid email offline_access',
      'none',
      'login',
      'S256',
      'plain',
      'form_post',
    ],
    ...[
      'fragment',
      'authorization_code',
      'refresh_token',
      DEVICE_CODE_GRANT,
      'http://localhost:8787/demo',
      'http://localhost:3000/callback',
    ],
    ...['allow', 'deny', 'yes', 'BCDF-GHJK', 'access_token', 'katherine@acme.example'],
    ...['com.acme.demo:/callback', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'],
  ),
)
const name = fc.oneof(
  fc.constantFrom(
    ...[
      'client_id',
      'redirect_uri',
      'response_type',
      'response_mode',
      'scope',
      'state',
      'nonce',
      'prompt',
      'max_age',
      'claims',
      'resource',
    ],
    ...['code_challenge', 'code_challenge_method', 'id_token_hint', 'login_hint', 'request', 'request_uri', 'grant_type', 'code', 'auth'],
    ...['code_verifier', 'client_secret', 'client_assertion', 'person', 'access_token', 'refresh_token', 'constructor', '__proto__'],
    ...['token', 'token_type_hint', 'device_code', 'user_code', 'action', 'session', 'sign_in', 'everything', 'client', 'page'],
  ),
  value,
)

type Form = [string, string][]

const authorization: Form = [...new URLSearchParams((await authorizeUrl()).split('?')[1])]

/** Where there is something, and a right request to start from, so that what is thrown at the service also gets past its first check. */
const routes: { method: string; path: () => string; form: () => Form }[] = [
  { method: 'GET', path: () => '/authorize', form: () => authorization },
  { method: 'POST', path: () => '/authorize', form: () => authorization },
  { method: 'GET', path: () => '/login', form: () => [['auth', world.waiting]] },
  { method: 'POST', path: () => '/login/picker', form: () => entries({ auth: world.waiting, person: 'ada@acme.example' }) },
  {
    method: 'POST',
    path: () => '/token',
    form: () =>
      entries({
        grant_type: 'authorization_code',
        client_id: 'demo',
        code: world.freshCode,
        redirect_uri: 'http://localhost:8787/demo',
      }),
  },
  {
    method: 'POST',
    path: () => '/token',
    form: () => entries({ grant_type: 'refresh_token', client_id: 'demo', refresh_token: world.tokens.refresh_token }),
  },
  {
    method: 'POST',
    path: () => '/token',
    form: () => entries({ grant_type: DEVICE_CODE_GRANT, client_id: 'native', device_code: world.device.device_code }),
  },
  { method: 'GET', path: () => '/userinfo', form: () => [] },
  { method: 'POST', path: () => '/userinfo', form: () => [['access_token', world.tokens.access_token]] },
  { method: 'POST', path: () => '/revoke', form: () => entries({ client_id: 'native', token: world.tokens.refresh_token }) },
  {
    method: 'POST',
    path: () => '/introspect',
    form: () => entries({ client_id: 'backend', client_secret: CLIENT_SECRET, token: world.tokens.access_token }),
  },
  { method: 'POST', path: () => '/device_authorization', form: () => [['client_id', 'native']] },
  { method: 'GET', path: () => '/device', form: () => [['user_code', world.device.user_code]] },
  { method: 'POST', path: () => '/device', form: () => [['user_code', world.device.user_code]] },
  {
    method: 'POST',
    path: () => '/device',
    form: () => entries({ user_code: world.device.user_code, request: world.shown, person: 'ada@acme.example', action: 'allow' }),
  },
  { method: 'GET', path: () => '/account', form: () => [] },
  { method: 'POST', path: () => '/account', form: () => [['session', world.sid]] },
  { method: 'POST', path: () => '/account', form: () => [['sign_in', world.sid]] },
  { method: 'GET', path: () => '/api/sessions', form: () => [['person', 'ada@acme.example']] },
  { method: 'DELETE', path: () => '/api/sessions', form: () => [['person', 'grace@acme.example']] },
  { method: 'DELETE', path: () => `/api/sessions/${world.sid}`, form: () => [] },
  { method: 'POST', path: () => '/ops', form: () => [] },
]

function entries(form: Record<string, string>): Form {
  return Object.entries(form)
}

/** Mostly the addresses and methods there are; the others are refused before anything of the request is read. */
const target = fc.oneof(
  { arbitrary: fc.constantFrom(...routes).map(({ method, path, form }) => ({ method, path: path(), form: form() })), weight: 8 },
  {
    arbitrary: fc.record({
      method: fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'get'),
      path: fc.oneof(
        fc.constantFrom(...routes).map(({ path }) => path()),
        value.map((text) => `/api/sessions/${encodeURIComponent(text.toWellFormed())}`),
        fc.constantFrom(...['', '%', '%ff', '%00', 'a/b', '..'].map((sid) => `/api/sessions/${sid}`)),
        fc.constantFrom(
          '/',
          '/demo',
          '/keys',
          '/healthz',
          '/readyz',
          '/assets/style.css',
          '/assets/x',
          '/nowhere',
          '/token/',
          '/%2e%2e/token',
        ),
        fc.constantFrom('/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/%74oken', '/userinfo%00'),
        fc.webPath(),
      ),
      form: fc.constant<Form>([]),
    }),
    weight: 2,
  },
)

/** `arbitrary` one time in `times`, else null. */
function seldom<T>(times: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ arbitrary: fc.constant(null), weight: times - 1 }, { arbitrary, weight: 1 })
}

const FORM = 'application/x-www-form-urlencoded'

const asked = fc.record({
  target,
  fromRight: fc.nat(9).map((draw) => draw > 0),
  changes: fc.array(fc.tuple(name, value), { maxLength: 3 }),
  raw: seldom(8, fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), nasty)),
  type: seldom(8, fc.constantFrom(`${FORM};charset=utf-8`, 'application/json', 'multipart/form-data', '')),
  body: seldom(12, fc.uint8Array({ maxLength: 60 })),
  headers: fc.record(
    {
      accept: fc.constantFrom('text/html', '*/*', 'application/json', ''),
      origin: fc.oneof(fc.constantFrom('http://localhost:8787', 'null', 'https://app.example'), value),
      'sec-fetch-site': fc.constantFrom('same-origin', 'same-origin', 'same-origin', 'same-site', 'cross-site', 'none', 'x'),
      authorization: fc.oneof(
        value,
        value.map((token) => `Bearer ${token}`),
        fc.tuple(value, value).map(([id, secret]) => `Basic ${base64(`${id}:${secret}`)}`),
        fc.constant(`Basic ${btoa(`backend:${CLIENT_SECRET}`)}`),
      ),
      cookie: fc.oneof(
        fc.constant(null).map(cookie),
        fc.constant(null).map(cookie),
        fc.tuple(fc.constantFrom('sluis_browser', 'sluis_sso', '__Host-sluis_sso', 'x'), value).map(([key, text]) => `${key}=${text}`),
        value,
      ),
      'sluis-time': value,
      'sluis-nonce': value,
      'sluis-signature': value,
      'sluis-request-id': value,
      'x-forwarded-host': value,
    },
    { requiredKeys: [] },
  ),
})

it('whatever is sent, nothing answers 500, shows a stack, or writes what is confidential into a log', async () => {
  await fc.assert(
    fc.asyncProperty(asked, async (given) => {
      const request = requestOf(given)
      fc.pre(request !== null)
      service.logs.length = 0
      const answer = await service.fetch(request)
      const text = await answer.text()

      expect(answer.status, text).toBeLessThan(500)
      expect(answer.headers.get('sluis-request-id')).toMatch(/^[A-Za-z0-9_-]{22}$/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(text).not.toMatch(/\n\s+at |\.tsx?:\d+:\d+|(?:Type|Range|Syntax|Port|Zod)Error/)
      if (answer.headers.get('content-type')?.includes('html')) expect(text).not.toContain('<script>alert(1)')

      const lines = service.logs.join('\n')
      expect(service.logs.length).toBeGreaterThan(0)
      for (const secret of confidential) expect(lines).not.toContain(secret())
      await arrangeAgain()
    }),
    { numRuns: 2_000 },
  )
}, 60_000)

type Given = typeof asked extends fc.Arbitrary<infer T> ? T : never

/** The request, or null for one that HTTP can't carry. */
function requestOf({ target: { method, path, form: base }, fromRight, changes, raw, type, body, headers }: Given): Request | null {
  const parameters: Form = fromRight ? [...base] : []
  for (const [key, text] of changes) {
    const at = parameters.findIndex(([known]) => known === key)
    if (at === -1) parameters.push([key, text])
    else parameters[at] = [key, text]
  }
  const form = `${new URLSearchParams(parameters)}${raw === null ? '' : `&${raw}`}`
  const inBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  try {
    const request = new Request(`http://localhost:8787${path}${inBody ? '' : `?${form}`}`, {
      method,
      redirect: 'manual',
      ...(inBody ? { body: body === null ? form : new Uint8Array(body) } : {}),
    })
    if (inBody && type !== '') request.headers.set('content-type', type ?? FORM)
    if (fromRight)
      for (const [key, text] of Object.entries({ 'sec-fetch-site': 'same-origin', cookie: cookie() })) request.headers.set(key, text)
    for (const [key, text] of Object.entries(headers)) if (text !== undefined) request.headers.set(key, ascii(text))
    return request
  } catch {
    return null
  }
}

/** workerd warns of every header beyond ASCII; Request refuses NUL and line breaks by itself. */
function ascii(text: string): string {
  return text.replaceAll(/[^ -~]/g, '?')
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...utf8(text.slice(0, 2_000))))
}
