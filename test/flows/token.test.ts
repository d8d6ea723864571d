import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { errorOf } from './answers.ts'
import {
  asBackend,
  authorizeUrl,
  challengeOf,
  contents,
  exchange,
  redeployed,
  signIn,
  startService,
  TestBrowser,
  testStore,
  verifier,
} from './harness.ts'

const store = testStore('memory', {
  edit({ service, policy }) {
    service.keyring.rings = ['ES256']
    delete policy.clients.backend?.signing_alg
  },
})
await store.adapters().secrets.put('internal/oidc/clients/backend', utf8('secret'))
const service = startService(store)
const CHALLENGE = await challengeOf(verifier)

async function freshCode(changes: Record<string, string | undefined> = {}): Promise<string> {
  return (await signIn(new TestBrowser(service), changes)).searchParams.get('code') ?? ''
}

/** A code of the demo client's and the parameters that redeem it. */
async function redeemable(): Promise<Record<string, string>> {
  const redirect_uri = 'http://localhost:8787/demo'
  return { grant_type: 'authorization_code', code: await freshCode(), client_id: 'demo', redirect_uri, code_verifier: verifier }
}

function post(body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return service.fetch('/token', { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } })
}

/** What is refused writes nothing and spends nothing. */
async function expectRefused(answer: () => Promise<Response>, error: string, status = 400): Promise<string> {
  const before = await contents(store)
  const refused = await answer()
  expect(refused.headers.get('cache-control')).toBe('no-store')
  expect(refused.headers.get('pragma')).toBe('no-cache')
  const body = await errorOf(refused, status)
  expect(body.error).toBe(error)
  expect(await contents(store)).toEqual(before)
  return body.error_description
}

describe('RFC 6749 3.2: a token request', () => {
  it.each([
    ['JSON', 'application/json'],
    ['a multipart form', 'multipart/form-data; boundary=x'],
    ['plain text', 'text/plain'],
    ['a form in another charset', 'application/x-www-form-urlencoded; charset=utf-16'],
    ['without a content type', ''],
  ])('that is %s is refused, and its code stays good', async (_what, type) => {
    const parameters = await redeemable()
    await expectRefused(() => post(new URLSearchParams(parameters).toString(), { 'content-type': type }), 'invalid_request')
    expect((await post(new URLSearchParams(parameters))).status).toBe(200)
  })

  it('is answered JSON also where text/html is asked for', async () => {
    await expectRefused(() => post('', { accept: 'text/html' }), 'invalid_request')
  })

  it('has its parameters in the body: those in a query do not count', async () => {
    const query = new URLSearchParams(await redeemable())
    const asked = () =>
      service.fetch(`/token?${query}`, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } })
    expect(await expectRefused(asked, 'invalid_request')).toContain('grant_type')
  })

  it.each(['grant_type', 'client_id', 'code', 'redirect_uri', 'code_verifier'])('that says %s twice is refused', async (name) => {
    const parameters = await redeemable()
    const twice = `${new URLSearchParams(parameters)}&${name}=${encodeURIComponent(parameters[name] ?? '')}`
    expect(await expectRefused(() => post(twice), 'invalid_request')).toContain(name)
    expect((await post(new URLSearchParams(parameters))).status).toBe(200)
  })

  it.each(['grant_type', 'client_id', 'code', 'redirect_uri'])('without %s, or with an empty one, is refused', async (name) => {
    const { [name]: _, ...others } = await redeemable()
    expect(await expectRefused(() => post(new URLSearchParams(others)), 'invalid_request')).toContain(name)
    expect(await expectRefused(() => post(new URLSearchParams({ ...others, [name]: '' })), 'invalid_request')).toContain(name)
  })

  it.each([
    ['a stray percent sign', '%', 'code'],
    ['a NUL', '%00', 'code'],
    ['bytes that are no UTF-8', '%ff', 'code'],
    ['over 8 KiB', 'a'.repeat(8_193), 'code'],
  ])('whose code holds %s is refused', async (_what, code, names) => {
    expect(await expectRefused(() => post(`grant_type=authorization_code&client_id=demo&code=${code}`), 'invalid_request')).toContain(names)
  })

  it('RFC 9110 15.5.14: over 16 KiB is refused', async () => {
    await expectRefused(() => post(`a=${'a'.repeat(8_000)}&b=${'b'.repeat(8_000)}&c=${'c'.repeat(400)}`), 'invalid_request', 413)
  })

  it('RFC 6749 3.2: with parameters nobody knows is answered without them', async () => {
    expect((await post(new URLSearchParams({ ...(await redeemable()), scope: 'openid', foo: 'bar' }))).status).toBe(200)
  })
})

describe('RFC 6749 5.2: another grant_type is unsupported', () => {
  it.each([
    'password',
    'client_credentials',
    'implicit',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'AUTHORIZATION_CODE',
    'refresh_token ',
    'constructor',
  ])('%s', async (grant_type) => {
    const parameters = { ...(await redeemable()), grant_type }
    await expectRefused(() => post(new URLSearchParams(parameters)), 'unsupported_grant_type')
  })
})

describe('RFC 6749 4.1.3, 5.2: a code that is presented wrong is refused, and stays good', () => {
  it.each<[string, Record<string, string>]>([
    ['with another redirect URI of the client', { redirect_uri: 'com.acme.demo:/callback' }],
    ['with another port', { redirect_uri: 'http://localhost:8788/demo' }],
    ['with a redirect URI that is not registered', { redirect_uri: 'https://evil.example/' }],
    ['by another public client', { client_id: 'native' }],
    ['by a confidential client', { client_id: 'backend', client_secret: 'secret' }],
    ['RFC 7636 4.6: with another verifier', { code_verifier: `${verifier.slice(0, -1)}j` }],
    ['RFC 7636 4.6: with the verifier in another case', { code_verifier: verifier.toUpperCase() }],
    ['RFC 7636 4.6: with the challenge as its verifier', { code_verifier: CHALLENGE }],
    ['RFC 7636 4.6: without its verifier', { code_verifier: '' }],
  ])('%s', async (_what, changes) => {
    const parameters = await redeemable()
    await expectRefused(() => post(new URLSearchParams({ ...parameters, ...changes })), 'invalid_grant')
    expect((await post(new URLSearchParams(parameters))).status).toBe(200)
  })

  it.each(['x', 'slc_', `slc_${'A'.repeat(43)}`, `slr_${'A'.repeat(43)}`, '../../x', 'é'])('a code there never was: %s', async (code) => {
    await expectRefused(() => exchange(service, code), 'invalid_grant')
  })
})

describe('RFC 9700 4.8.2: PKCE can not be taken out of a request on its way', () => {
  const asClient = { redirect_uri: asBackend.redirect_uri, client_id: 'backend', client_secret: 'secret' }
  const bare = { ...asBackend, code_challenge: undefined, code_challenge_method: undefined }

  it.each([
    ['a code without a challenge, without a verifier', bare, '', 200],
    ['a code without a challenge, with a verifier', bare, verifier, 400],
    ['a code with a challenge, with its verifier', asBackend, verifier, 200],
    ['a code with a challenge, without its verifier', asBackend, '', 400],
  ])('%s, of a confidential client', async (_what, asked, code_verifier, status) => {
    const code = await freshCode(asked)
    if (status === 200) expect((await exchange(service, code, { ...asClient, code_verifier })).status).toBe(200)
    else await expectRefused(() => exchange(service, code, { ...asClient, code_verifier }), 'invalid_grant')
  })
})

describe('a code', () => {
  it.each([
    [299, 200],
    [300, 400],
  ])('RFC 6749 4.1.2: lives five minutes: after %i s it is answered %i', async (seconds, status) => {
    const code = await freshCode()
    store.clock.advance(seconds)
    const answer = await exchange(service, code)
    expect(answer.status).toBe(status)
    if (status === 400) expect(await errorOf(answer, 400)).toMatchObject({ error: 'invalid_grant' })
  })

  it.each<[string, Parameters<typeof redeployed>[1]]>([
    [
      'whose client requires another group since',
      ({ policy }) => {
        policy.clients.demo?.requires.splice(0, 1, 'nobody:holds:this')
      },
    ],
    [
      'that has reached its absolute limit',
      ({ policy }) => {
        policy.lifetimes.absolute = 60
      },
    ],
  ])('%s is invalid_grant', async (_what, edit) => {
    const code = await freshCode()
    store.clock.advance(60)
    const later = startService(redeployed(store, edit))
    await expectRefused(() => exchange(later, code), 'invalid_grant')
  })

  it('whose client is gone authenticates nobody', async () => {
    const code = await freshCode()
    const later = startService(
      redeployed(store, ({ policy }) => {
        delete policy.clients.demo
      }),
    )
    await expectRefused(() => exchange(later, code), 'invalid_client', 401)
  })

  it('RFC 6749 4.1.2: presented again wrong, ends nothing', async () => {
    const code = await freshCode()
    const { access_token } = await (await exchange(service, code)).json<{ access_token: string }>()
    await expectRefused(() => exchange(service, code, { code_verifier: 'wrong' }), 'invalid_grant')
    await expectRefused(() => exchange(service, code, { client_id: 'native' }), 'invalid_grant')
    expect((await service.fetch('/userinfo', { headers: { authorization: `Bearer ${access_token}` } })).status).toBe(200)
  })

  it('asks the browser for nothing: the exchange needs no cookie and sets none', async () => {
    const answer = await exchange(service, await freshCode(), {}, { cookie: 'sluis_sso=x', origin: 'https://app.example' })
    expect(answer.status).toBe(200)
    expect(answer.headers.getSetCookie()).toEqual([])
  })

  it('RFC 6749 4.1.1: is issued for the redirect URI of its own request', async () => {
    const browser = new TestBrowser(service)
    expect((await browser.get(await authorizeUrl({ redirect_uri: 'com.acme.demo:/callback' }))).status).toBe(303)
    const code = await freshCode({ redirect_uri: 'http://localhost:5000/demo' })
    expect((await exchange(service, code, { redirect_uri: 'http://localhost:5000/demo' })).status).toBe(200)
  })
})
