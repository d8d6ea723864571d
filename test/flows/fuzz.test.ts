import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { asBackend, authorizeUrl, exchange, random, signedIn, signIn, startService, TestBrowser, testStore } from './harness.ts'

const store = testStore('memory')
const CLIENT_SECRET = encodeBase64url(random.bytes(32)) // as one is generated
await store.adapters().secrets.put('internal/oidc/clients/backend', utf8(CLIENT_SECRET))
const service = startService(store)
await service.fetch('/readyz')

const browser = new TestBrowser(service)
const tokens = await signedIn(service)
const freshCode = (await signIn(browser)).searchParams.get('code') ?? ''
const spentCode = (await signIn(browser)).searchParams.get('code') ?? ''
await exchange(service, spentCode)
const backendCode = (await signIn(new TestBrowser(service), asBackend)).searchParams.get('code') ?? ''
const waiting = (await browser.get(await authorizeUrl())).headers.get('location')?.split('auth=')[1] ?? ''

/** What no log line may hold: whoever reads logs could use it, or learn of whom they speak. */
const confidential = [
  tokens.access_token,
  tokens.id_token,
  tokens.refresh_token,
  freshCode,
  spentCode,
  backendCode,
  CLIENT_SECRET,
  ...browser.cookies.values(),
  'ada@acme.example',
  'grace@acme.example',
  'mallory@evil.example',
]

const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')

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
  fc.constantFrom(...confidential),
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
    ...['fragment', 'authorization_code', 'refresh_token', 'http://localhost:8787/demo', 'http://localhost:3000/callback', waiting],
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
  ),
  value,
)

/** A right request to start from, so that what is thrown at the service also gets past its first check. */
const right: Record<string, [string, string][]> = {
  '/authorize': [...new URLSearchParams((await authorizeUrl()).split('?')[1])],
  '/login': [['auth', waiting]],
  '/login/picker': [
    ['auth', waiting],
    ['person', 'ada@acme.example'],
  ],
  '/token': [
    ['grant_type', 'authorization_code'],
    ['client_id', 'demo'],
    ['code', freshCode],
    ['redirect_uri', 'http://localhost:8787/demo'],
  ],
  '/userinfo': [['access_token', tokens.access_token]],
}

/** Mostly the addresses and methods there are; the others are refused before anything of the request is read. */
const target = fc.oneof(
  {
    arbitrary: fc.constantFrom(
      ...[
        ['GET', '/authorize'],
        ['POST', '/authorize'],
        ['GET', '/login'],
        ['POST', '/login/picker'],
        ['POST', '/token'],
      ],
      ...[
        ['GET', '/userinfo'],
        ['POST', '/userinfo'],
        ['POST', '/ops'],
      ],
    ),
    weight: 8,
  },
  {
    arbitrary: fc.tuple(
      fc.constantFrom('GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'get'),
      fc.oneof(
        fc.constantFrom(...Object.keys(right)),
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
    ),
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
        fc.constant(cookie),
        fc.constant(cookie),
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
      for (const secret of confidential) expect(lines).not.toContain(secret)
    }),
    { numRuns: 2_000 },
  )
}, 60_000)

type Given = typeof asked extends fc.Arbitrary<infer T> ? T : never

/** The request, or null for one that HTTP can't carry. */
function requestOf({ target: [method = '', path = ''], fromRight, changes, raw, type, body, headers }: Given): Request | null {
  const parameters = fromRight ? [...(right[path] ?? [])] : []
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
