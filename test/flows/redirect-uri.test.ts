import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import { asBackend, authorizeUrl, contents, signIn, startService, TestBrowser, testStore } from './harness.ts'

const store = testStore('memory', {
  edit({ policy }) {
    policy.clients.native?.redirects.push('http://[::1]/callback', 'http://localhost', 'http://127.0.0.1:7000/callback?app=1')
  },
})
const service = startService(store)

/** The same request by GET, by a POST of our own origin and by another site's. */
async function everyWay(changes: Record<string, string | undefined>, more = ''): Promise<Response[]> {
  const query = `${(await authorizeUrl(changes)).slice('/authorize?'.length)}${more}`
  const post = (site: string) =>
    service.fetch('/authorize', {
      method: 'POST',
      body: query,
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': site },
    })
  return [
    await service.fetch(`/authorize?${query}`, { headers: { accept: 'text/html' } }),
    await post('same-origin'),
    await post('cross-site'),
  ]
}

async function expectPages(answers: Response[], before: Record<string, string>): Promise<void> {
  for (const answer of answers) {
    await pageOf(answer, 400)
    expect(answer.headers.getSetCookie()).toEqual([])
  }
  expect(await contents(store)).toEqual(before)
}

describe('RFC 6749 4.1.2.1: an unknown client is told to the person, never by a redirect', () => {
  it.each(['nobody', 'DEMO', 'demo ', 'constructor', '__proto__', 'toString', undefined])('client_id %j', async (client_id) => {
    await expectPages(await everyWay({ client_id }), await contents(store))
  })

  it('client_id sent twice', async () => {
    await expectPages(await everyWay({}, '&client_id=demo'), await contents(store))
  })

  it('a program is answered JSON that names the parameter', async () => {
    const answer = await service.fetch(await authorizeUrl({ client_id: 'nobody' }))
    expect(await errorOf(answer, 400)).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('client_id') })
  })
})

describe('RFC 9700 4.1.3: a redirect URI that is not registered, byte for byte, is never redirected to', () => {
  it.each([
    ['a trailing slash', 'http://localhost:8787/demo/'],
    ['the path in another case', 'http://localhost:8787/Demo'],
    ['the host in another case', 'http://LOCALHOST:8787/demo'],
    ['the scheme in another case', 'HTTP://localhost:8787/demo'],
    ['https for http', 'https://localhost:8787/demo'],
    ['a query', 'http://localhost:8787/demo?next=1'],
    ['an empty query', 'http://localhost:8787/demo?'],
    ['a fragment', 'http://localhost:1/demo#x'],
    ['an empty fragment', 'http://localhost:1/demo#'],
    ['userinfo', 'http://ada@localhost:8787/demo'],
    ['userinfo that reads as the host', 'http://localhost:8787@evil.example/demo'],
    ['an empty port', 'http://localhost:/demo'],
    ['a port there is not', 'http://localhost:99999/demo'],
    ['a port with a leading zero', 'http://localhost:08787/demo'],
    ['a port that is no number', 'http://localhost:8787x/demo'],
    ['127.0.0.1 for localhost', 'http://127.0.0.1:8787/demo'],
    ['::1 for localhost', 'http://[::1]:8787/demo'],
    ['0.0.0.0', 'http://0.0.0.0:8787/demo'],
    ['another address of the loopback network', 'http://127.0.0.2/demo'],
    ['localhost with a dot', 'http://localhost./demo'],
    ['a host that begins with localhost', 'http://localhost.evil.example/demo'],
    ['a host that ends in localhost', 'http://evil-localhost/demo'],
    ['another host', 'http://evil.example/demo'],
    ['a path that comes back to it', 'http://localhost:1/x/../demo'],
    ['a path with a dot segment', 'http://localhost:1/./demo'],
    ['a path that leaves it', 'http://localhost:1/demo/..'],
    ['an encoded dot segment', 'http://localhost:1/%2e%2e/demo'],
    ['a path below it', 'http://localhost:1/demo/more'],
    ['a path that begins with it', 'http://localhost:1/demonstration'],
    ['a double slash', 'http://localhost:1//demo'],
    ['an encoded letter', 'http://localhost:1/%64emo'],
    ['a backslash', 'http://localhost:1\\demo'],
    ['a backslash before another host', 'http://localhost:1\\@evil.example/demo'],
    ['one slash', 'http:/localhost/demo'],
    ['no scheme', '//localhost/demo'],
    ['a path alone', '/demo'],
    ['a space before', ' http://localhost/demo'],
    ['a space after', 'http://localhost/demo '],
    ['a script', 'javascript:alert(1)'],
    ['data', 'data:text/html,<script>alert(1)</script>'],
    ['a custom scheme with a slash more', 'com.acme.demo:/callback/'],
    ['a custom scheme with an authority', 'com.acme.demo://callback'],
    ['a custom scheme in another case', 'COM.ACME.DEMO:/callback'],
    ['a custom scheme with a query', 'com.acme.demo:/callback?x=1'],
    ['the address of another client', 'http://127.0.0.1/callback'],
  ])('%s: %s', async (_what, redirect_uri) => {
    await expectPages(await everyWay({ redirect_uri }), await contents(store))
  })

  it.each([
    'http://localhost:3001/callback',
    'http://localhost/callback',
    'http://localhost:3000/callback/',
    'http://127.0.0.1:3000/callback',
  ])('RFC 8252 7.3: a web client has no other port: %s', async (redirect_uri) => {
    await expectPages(await everyWay({ ...asBackend, redirect_uri }), await contents(store))
  })

  it('one that is missing, also where only one is registered', async () => {
    await expectPages(await everyWay({ ...asBackend, redirect_uri: undefined }), await contents(store))
  })

  it('one that is sent twice, also when both are registered', async () => {
    await expectPages(await everyWay({}, `&redirect_uri=${encodeURIComponent('http://localhost/demo')}`), await contents(store))
  })

  it('whatever else is wrong with the request', async () => {
    const wrong = { redirect_uri: 'http://evil.example/demo', response_type: 'token', prompt: 'none', response_mode: 'form_post' }
    await expectPages(await everyWay(wrong), await contents(store))
  })
})

describe('RFC 8252 7.3: a native client is sent back to the loopback port it names', () => {
  it.each([
    ['demo', 'http://localhost/demo'],
    ['demo', 'http://localhost:1/demo'],
    ['demo', 'http://localhost:80/demo'],
    ['demo', 'http://localhost:65535/demo'],
    ['native', 'http://127.0.0.1:49152/callback'],
    ['native', 'http://localhost:49152/callback'],
    ['native', 'http://[::1]:49152/callback'],
    ['native', 'http://[::1]/callback'],
    ['native', 'http://localhost:49152'],
  ])('%s at %s', async (client_id, redirect_uri) => {
    const redirect = await signIn(new TestBrowser(service), { client_id, redirect_uri })
    expect(redirect.searchParams.get('code')).toMatch(/^slc_/)
    const { to } = await clientAnswer(await service.fetch(await authorizeUrl({ client_id, redirect_uri, scope: 'nothing' })))
    expect(to).toBe(redirect_uri)
  })

  it('RFC 8252 7.1: a custom scheme, exactly', async () => {
    const redirect = await signIn(new TestBrowser(service), { redirect_uri: 'com.acme.demo:/callback' })
    expect(redirect.href).toMatch(/^com\.acme\.demo:\/callback\?code=slc_/)
  })

  it('RFC 6749 4.1.2: a registered query is kept, and the answer follows it', async () => {
    const redirect_uri = 'http://127.0.0.1:7001/callback?app=1'
    const redirect = await signIn(new TestBrowser(service), { client_id: 'native', redirect_uri })
    expect(redirect.href).toMatch(/^http:\/\/127\.0\.0\.1:7001\/callback\?app=1&code=slc_/)
    await expectPages(await everyWay({ client_id: 'native', redirect_uri: 'http://127.0.0.1:7001/callback?app=2' }), await contents(store))
  })
})
