import { describe, expect, it } from 'vitest'
import { errorOf, pageOf } from './answers.ts'
import { authorizeUrl, contents, signedIn, signIn, startService, TestBrowser, testStore } from './harness.ts'

const store = testStore('memory', {
  edit({ service }) {
    service.keyring.rings = ['ES256']
  },
})
const service = startService(store)
const { access_token } = await signedIn(service)

const routes: [string, string][] = [
  ['/.well-known/openid-configuration', 'GET, HEAD'],
  ['/.well-known/oauth-authorization-server', 'GET, HEAD'],
  ['/keys', 'GET, HEAD'],
  ['/authorize', 'GET, POST'],
  ['/token', 'POST'],
  ['/userinfo', 'GET, POST, HEAD'],
  ['/revoke', 'POST'],
  ['/introspect', 'POST'],
  ['/device_authorization', 'POST'],
  ['/', 'GET, HEAD'],
  ['/demo', 'GET, HEAD'],
  ['/login', 'GET, HEAD'],
  ['/login/picker', 'POST'],
  ['/login/google/start', 'GET'],
  ['/login/google/callback', 'GET'],
  ['/device', 'GET, POST, HEAD'],
  ['/account', 'GET, POST'],
  ['/api/sessions', 'GET, DELETE, HEAD'],
  ['/api/sessions/AAAAAAAAAAAAAAAAAAAAAA', 'DELETE'],
  ['/assets/style.css', 'GET, HEAD'],
  ['/healthz', 'GET, HEAD'],
  ['/readyz', 'GET, HEAD'],
  ['/ops', 'POST'],
]
const open = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/keys', '/token', '/userinfo', '/revoke']
const closed = routes.filter(([path]) => !open.includes(path))
const readable = routes.filter(([, allow]) => allow.includes('HEAD'))
const named = routes.filter(([path]) => path !== '/healthz')
const programs = [
  ...open,
  ...['/introspect', '/device_authorization', '/api/sessions', '/api/sessions/AAAAAAAAAAAAAAAAAAAAAA', '/healthz', '/readyz', '/ops'],
]

describe.each(routes)('%s', (path, allow) => {
  it(`RFC 9110 15.5.6: takes ${allow}, and answers any other method 405 with Allow`, async () => {
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'OPTIONS']) {
      if (allow.split(', ').includes(method) || (method === 'OPTIONS' && open.includes(path))) continue
      const answer = await service.fetch(path, { method })
      expect({ method, status: answer.status, allow: answer.headers.get('allow') }).toEqual({ method, status: 405, allow })
    }
  })

  it('has an id for every request, and never one that the request chose', async () => {
    const headers = { 'sluis-request-id': 'AAAAAAAAAAAAAAAAAAAAAA' }
    const ids = await Promise.all([1, 2].map(async () => (await service.fetch(path, { headers })).headers.get('sluis-request-id')))
    for (const id of ids) expect(id).toMatch(/^[A-Za-z0-9_-]{22}$/)
    expect(new Set([...ids, headers['sluis-request-id']]).size).toBe(3)
  })

  it('answers errors as JSON to programs, and as a page to who accepts one, unless only programs call it', async () => {
    const wrong = (accept: string) => service.fetch(path, { method: 'PATCH', headers: { accept } })
    await errorOf(await wrong('application/json'), 405)
    await errorOf(await wrong('*/*'), 405)
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
    if (programs.includes(path)) await errorOf(await wrong(browser), 405)
    else expect(await pageOf(await wrong(browser), 405)).toContain('method_not_allowed')
  })
})

it.each(readable)('RFC 9110 9.3.2: %s answers HEAD as GET, without a body', async (path) => {
  const [head, get] = [await service.fetch(path, { method: 'HEAD' }), await service.fetch(path)]
  expect(head.status).toBe(get.status)
  expect(await head.text()).toBe('')
  for (const name of ['content-type', 'cache-control', 'content-security-policy'])
    expect(head.headers.get(name)).toBe(get.headers.get(name))
})

it.each(routes)('RFC 9110 9.2.1: HEAD of %s writes nothing, in a browser that is signed in too', async (path) => {
  const browser = new TestBrowser(service)
  for (const asker of [browser, await signedInBrowser()]) {
    const before = await contents(store)
    await asker.ask('HEAD', path === '/authorize' ? await authorizeUrl() : path)
    expect(await contents(store)).toEqual(before)
  }
})

async function signedInBrowser(): Promise<TestBrowser> {
  const browser = new TestBrowser(service)
  await signIn(browser)
  return browser
}

it.each(named)('RFC 9110 15.5.20: %s is not there for another host: 421', async (path, allow) => {
  for (const origin of ['http://localhost:8788', 'http://127.0.0.1:8787', 'http://evil.example', 'http://localhost.evil.example:8787']) {
    const answer = await service.fetch(new Request(origin + path, { method: allow.startsWith('POST') ? 'POST' : 'GET' }))
    expect(answer.status).toBe(421)
    expect(answer.headers.getSetCookie()).toEqual([])
  }
})

it('/healthz answers by any name: a load balancer asks by address', async () => {
  expect((await service.fetch(new Request('http://192.0.2.1/healthz'))).status).toBe(200)
})

it.each(open)('Fetch 3.3: %s may be called by a page of any origin, refusals too, without credentials', async (path) => {
  const headers = { origin: 'https://app.example' }
  const answers = [
    await service.fetch(path, { headers }),
    await service.fetch(path, { headers, method: 'POST' }),
    await service.fetch(path, { headers, method: 'PUT' }),
    await service.fetch(new Request(`http://evil.example${path}`, { headers })),
  ]
  expect(answers.some(({ status }) => status >= 400)).toBe(true)
  for (const answer of answers) {
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')).toBe('www-authenticate, retry-after, sluis-request-id')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  }
})

it.each(open)('Fetch 4.8: %s answers a preflight for ten minutes', async (path) => {
  const headers = {
    origin: 'https://app.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  }
  const answer = await service.fetch(path, { method: 'OPTIONS', headers })
  expect(answer.status).toBe(204)
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, POST',
    'access-control-allow-headers': 'authorization, content-type',
    'access-control-max-age': '600',
  })
  expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
})

it.each(closed)('Fetch 3.3: %s may be read by no page of another origin, whatever it answers', async (path) => {
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
  for (const method of ['GET', 'POST', 'OPTIONS', 'PUT']) {
    const answer = await service.fetch(path, { method, headers })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

describe('an address there is not', () => {
  it.each([
    '/nowhere',
    '/token/',
    '/Token',
    'http://localhost:8787//token',
    '/token/x',
    '/revoke/',
    '/introspect/x',
    '/device/',
    '/device/BCDF-GHJK',
    '/account/x',
    '/api',
    '/api/sessions/',
    '/api/sessions/a/b',
    '/keys.json',
    '/authorize/callback',
    '/login/picker/',
    '/login/google',
    '/.well-known',
    '/.well-known/openid-configuration/x',
    '/assets/',
    '/assets/a/b',
    '/.env',
    '/.dev.vars',
    '/cdn-cgi/explorer',
    '/%00',
    '/%ff',
    '/%',
    '/a'.repeat(1_000),
  ])('%s answers 404, by GET and by POST, to programs and to people', async (path) => {
    for (const method of ['GET', 'POST', 'OPTIONS', 'PROPFIND']) {
      const json = await errorOf(await service.fetch(path, { method }), 404)
      expect(json.error).toBe('not_found')
      const page = await pageOf(await service.fetch(path, { method, headers: { accept: 'text/html' } }), 404)
      expect(page).toMatch(/Request <code>[A-Za-z0-9_-]{22}<\/code>/)
    }
  })

  it('among the assets answers 404', async () => {
    for (const path of ['/assets/nothing.js', '/assets/..%2fconfig%2fservice.json', '/assets/%2e%2e%2f.dev.vars']) {
      expect((await service.fetch(path)).status).toBe(404)
    }
  })
})

describe('an answer', () => {
  it('has the security headers, whatever it is', async () => {
    const answers = [
      await service.fetch('/keys'),
      await service.fetch('/userinfo', { headers: { authorization: `Bearer ${access_token}` } }),
      await service.fetch('/nowhere'),
      await service.fetch(await authorizeUrl()),
      await service.fetch('/assets/style.css'),
      await service.fetch('/token', { method: 'OPTIONS' }),
      await service.fetch(new Request('http://evil.example/token')),
    ]
    for (const answer of answers) {
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'sluis-request-id': expect.stringMatching(/^[A-Za-z0-9_-]{22}$/),
      })
    }
  })

  it('to an error says nothing of how it came to be', async () => {
    const broken = startService(testStore('memory'), (adapters) => ({
      ...adapters,
      state: {
        ...adapters.state,
        create() {
          throw new TypeError('the record of ada@acme.example')
        },
      },
    }))
    const json = await broken.fetch(await authorizeUrl())
    const page = await broken.fetch(await authorizeUrl(), { headers: { accept: 'text/html' } })
    expect(await errorOf(json, 500)).toEqual({ error: 'server_error', error_description: 'something went wrong on our side' })
    expect(await pageOf(page, 500)).toMatch(/Request <code>[A-Za-z0-9_-]{22}<\/code>/)
    expect(broken.logs.join('\n')).toContain('"TypeError"')
    expect(broken.logs.join('\n')).not.toContain('ada@acme.example')
  })
})
