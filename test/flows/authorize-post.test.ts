import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import { authorizeUrl, contents, startService, TestBrowser, testStore } from './harness.ts'

const store = testStore('memory')
const service = startService(store)

async function query(changes: Record<string, string | undefined> = {}): Promise<string> {
  return (await authorizeUrl(changes)).slice('/authorize?'.length)
}

function post(body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  const form = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }
  return service.fetch('/authorize', { method: 'POST', body, headers: { ...form, ...headers } })
}

describe('OIDC Core 3.1.2.1: /authorize by POST', () => {
  it.each<[string, Record<string, string>]>([
    ['from a page of ours', {}],
    ['from a page of ours, in a browser that says only its origin', { 'sec-fetch-site': '', origin: 'http://localhost:8787' }],
    ['with a charset', { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }],
    ['with the content type in another case', { 'content-type': 'Application/X-WWW-Form-Urlencoded;charset="utf-8"' }],
  ])('%s is the same as by GET', async (_what, headers) => {
    const request = new Request('http://localhost:8787/authorize', { method: 'POST', body: await query(), redirect: 'manual' })
    const all = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers }
    for (const [name, value] of Object.entries(all)) {
      if (value === '') request.headers.delete(name)
      else request.headers.set(name, value)
    }
    expect((await service.fetch(request)).headers.get('location')).toMatch(/^\/login\?auth=[A-Za-z0-9_-]{22}$/)
  })

  it('tells the client what is wrong as by GET', async () => {
    const { parameters } = await clientAnswer(await post(await query({ response_type: 'token' })))
    expect(parameters).toMatchObject({ error: 'unsupported_response_type', state: 'the state', iss: 'http://localhost:8787' })
  })

  it.each<[string, Record<string, string>]>([
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' }],
    ['of another host of the site', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' }],
    ['of a browser that claims our origin, and another site', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:8787' }],
    ['of a browser that says nothing of where it comes from', { 'sec-fetch-site': '' }],
    ['of an opaque origin', { 'sec-fetch-site': '', origin: 'null' }],
    ['of our origin with a path', { 'sec-fetch-site': '', origin: 'http://localhost:8787/' }],
    ['of the address bar', { 'sec-fetch-site': 'none' }],
  ])('%s answers 303 to the same by GET, and nothing is written before', async (_what, headers) => {
    const before = await contents(store)
    const sent = `${await query({ state: 'a&b=c é', response_mode: 'form_post' })}&resource=https://a.example/&resource=urn:b&odd=%20+`
    const request = new Request('http://localhost:8787/authorize', { method: 'POST', body: sent, redirect: 'manual' })
    request.headers.set('content-type', 'application/x-www-form-urlencoded')
    for (const [name, value] of Object.entries(headers)) if (value !== '') request.headers.set(name, value)
    const answer = await service.fetch(request)

    expect(answer.status).toBe(303)
    const location = new URL(answer.headers.get('location') ?? '')
    expect(location.origin + location.pathname).toBe('http://localhost:8787/authorize')
    expect([...location.searchParams]).toEqual([...new URLSearchParams(sent)])
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await contents(store)).toEqual(before)
  })

  it('of another site completes once its GET has arrived', async () => {
    const browser = new TestBrowser(service)
    const sent = Object.fromEntries(new URLSearchParams(await query()))
    const again = await browser.post('/authorize', sent, { 'sec-fetch-site': 'cross-site' })
    const login = await browser.get(again.headers.get('location') ?? '')
    const auth = new URL(login.headers.get('location') ?? '', service.url).searchParams.get('auth') ?? ''
    const done = await browser.post('/login/picker', { auth, person: 'ada@acme.example' })
    expect((await clientAnswer(done)).parameters.code).toMatch(/^slc_/)
  })

  it('RFC 6749 3.1: reads its body, not its query', async () => {
    const answer = await service.fetch(await authorizeUrl(), {
      method: 'POST',
      body: 'x=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    })
    expect((await errorOf(answer, 400)).error_description).toContain('client_id')
  })

  it.each([
    ['JSON', 'application/json'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
    ['plain text', 'text/plain'],
    ['a form in another charset', 'application/x-www-form-urlencoded; charset=iso-8859-1'],
    ['a content type that only begins like a form', 'application/x-www-form-urlencoded-not'],
    ['no content type', ''],
  ])('with %s is refused, to the person', async (_what, type) => {
    const before = await contents(store)
    const answer = await post(await query(), { 'content-type': type, accept: 'text/html' })
    expect(await pageOf(answer, 400)).toContain('invalid_request')
    expect(await contents(store)).toEqual(before)
  })

  it.each([
    ['a body that is no UTF-8', new Uint8Array([0x61, 0x3d, 0xff])],
    ['no body', ''],
  ])('with %s is refused', async (_what, body) => {
    expect(await errorOf(await post(body), 400)).toMatchObject({ error: 'invalid_request' })
  })

  it('RFC 9110 15.5.14: over 16 KiB is refused', async () => {
    const answer = await post(`${await query()}&a=${'a'.repeat(8_192)}&b=${'b'.repeat(8_192)}`)
    expect(await errorOf(answer, 413)).toMatchObject({ error: 'invalid_request' })
  })
})

it('RFC 6749 4.1.2.1: a cross-site POST too long for a Location goes back to the client, and not into a header nobody takes', async () => {
  const service = startService(testStore('memory'))
  const { searchParams } = new URL(await authorizeUrl({ login_hint: 'é'.repeat(3_000) }), service.url)
  const body = `${searchParams}`.replaceAll('%C3%A9', 'é')
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'cross-site' }
  const answer = await service.fetch('/authorize', { method: 'POST', body, headers })
  const location = new URL(answer.headers.get('location') ?? '')
  expect(location.searchParams.get('error')).toBe('invalid_request')
  expect(location.searchParams.get('state')).toBe('the state')
})
