import { describe, expect, it } from 'vitest'
import { errorOf, pageOf } from './answers.ts'
import { basic, beginDevice, refreshed, signInAt, startClients } from './clients.ts'
import { contents, signedIn, TestBrowser } from './harness.ts'

const FORM = 'application/x-www-form-urlencoded'

const { service, store } = await startClients('memory')
const browser = new TestBrowser(service)
await signInAt(browser, '/account')
const { refresh_token } = await signedIn(service)
const { user_code } = await beginDevice(service)
const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')

/** Endpoints that take a form, with one that is right, and who answers people by pages. */
const endpoints: { path: string; form: [string, string][]; headers?: Record<string, string>; page?: true }[] = [
  {
    path: '/token',
    form: [
      ['grant_type', 'refresh_token'],
      ['refresh_token', refresh_token],
      ['client_id', 'demo'],
    ],
  },
  {
    path: '/revoke',
    form: [
      ['token', refresh_token],
      ['client_id', 'demo'],
    ],
  },
  { path: '/introspect', form: [['token', refresh_token]], headers: basic('backend') },
  {
    path: '/device_authorization',
    form: [
      ['client_id', 'native'],
      ['scope', 'openid'],
    ],
  },
  {
    path: '/device',
    form: [
      ['user_code', user_code],
      ['action', 'allow'],
    ],
    page: true,
  },
  { path: '/account', form: [['everything', 'yes']], page: true },
]

type Endpoint = (typeof endpoints)[number]

function send({ path, headers = {}, page }: Endpoint, body: BodyInit, type = FORM): Promise<Response> {
  const asBrowser = page === true ? { accept: 'text/html', cookie, 'sec-fetch-site': 'same-origin' } : {}
  return service.fetch(path, { method: 'POST', body, headers: { 'content-type': type, ...asBrowser, ...headers } })
}

/** Refused in the endpoint's own way, with nothing written and nothing ended. */
async function expectRefused(endpoint: Endpoint, body: BodyInit, { type = FORM, status = 400 } = {}): Promise<void> {
  const before = await contents(store)
  const answer = await send(endpoint, body, type)
  if (endpoint.page === true) expect(await pageOf(answer, status)).toContain('invalid_request')
  else expect(await errorOf(answer, status)).toMatchObject({ error: 'invalid_request' })
  expect(await contents(store)).toEqual(before)
}

function encoded(form: [string, string][]): string {
  return new URLSearchParams(form).toString()
}

describe.each(endpoints.map((endpoint) => [endpoint.path, endpoint] as const))('%s refuses', (_path, endpoint) => {
  const { form } = endpoint
  const [[name, value] = ['', '']] = form

  it.each([
    ['JSON', 'application/json'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
    ['plain text', 'text/plain'],
    ['another charset', `${FORM}; charset=utf-16`],
    ['no content type', ''],
  ])('a form that says it is %s', async (_what, type) => {
    await expectRefused(endpoint, encoded(form), { type })
  })

  it('a form in JSON', async () => {
    await expectRefused(endpoint, JSON.stringify(Object.fromEntries(form)), { type: 'application/json' })
  })

  it('each parameter when it comes twice, also with the same value', async () => {
    for (const [twice, same] of form) {
      for (const again of [same, 'x']) await expectRefused(endpoint, `${encoded(form)}&${encoded([[twice, again]])}`)
    }
  })

  it.each([
    ['a stray percent sign', '%'],
    ['half an escape', '%4'],
    ['a NUL', '%00'],
    ['a line break', '%0d%0a'],
    ['bytes that are no UTF-8', '%ff'],
    ['half a surrogate pair', '%ed%a0%80'],
    ['more than 8 KiB', 'a'.repeat(8_193)],
  ])('a value with %s', async (_what, text) => {
    await expectRefused(endpoint, `${encoded(form.slice(1))}&${name}=${text}`)
    await expectRefused(endpoint, `${encoded(form)}&unknown=${text}`)
  })

  it('a name with what no name holds', async () => {
    for (const text of ['%', '%00', '%ff']) await expectRefused(endpoint, `${encoded(form)}&${text}=x`)
  })

  it('more than 16 KiB, whether it says so or not', async () => {
    const large = `${encoded(form)}&a=${'a'.repeat(8_000)}&b=${'b'.repeat(8_000)}&c=${'c'.repeat(1_000)}`
    await expectRefused(endpoint, large, { status: 413 })
    const chunks = new ReadableStream({
      start(controller) {
        for (let at = 0; at < large.length; at += 1_000) controller.enqueue(new TextEncoder().encode(large.slice(at, at + 1_000)))
        controller.close()
      },
    })
    await expectRefused(endpoint, chunks, { status: 413 })
  })

  it('bytes that are no text', async () => {
    await expectRefused(endpoint, new Uint8Array([0xff, 0xfe, 0x00]))
  })

  it('parameters in the query: they do not count', async () => {
    const before = await contents(store)
    const answer = await send({ ...endpoint, path: `${endpoint.path}?${encoded(form)}` }, '')
    expect(answer.status).toBe(400)
    expect(await contents(store)).toEqual(before)
  })

  it('nothing at all', async () => {
    await expectRefused(endpoint, '')
    await expectRefused(endpoint, `${name}=`)
    await expectRefused(endpoint, encoded([[name, value]]).slice(0, name.length))
  })
})

it('what was refused all along is good still', async () => {
  expect((await service.fetch('/account', { headers: { cookie, 'sec-fetch-site': 'none' } })).status).toBe(200)
  expect(await refreshed(service, refresh_token)).toHaveProperty('access_token')
})
