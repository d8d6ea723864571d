import { CompactSign, decodeProtectedHeader, exportJWK, generateKeyPair, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { keys } from '../../src/ports/keys.ts'
import { errorOf, inputsOf, pageOf } from './answers.ts'
import { ADA, at, clientStore, GRACE, HOUR, refresh, revoke } from './clients.ts'
import {
  auditedBesideRefusals,
  claimsOf,
  contents,
  engines,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
} from './harness.ts'
import { everything, none, type Outage, reads, records, startOnShakyStores, writes } from './shaky-stores.ts'
import {
  BYE,
  COOKIE,
  expectOver,
  FORGET,
  framesIn,
  HERE,
  isAlive,
  signedInWorld,
  withFrontChannel,
  withSignedOut,
} from './sign-out-world.ts'

type Form = Record<string, string>
const CROSS_SITE = { 'sec-fetch-site': 'cross-site', origin: 'https://demo.acme.example' }

function urlOf(form: Form): string {
  return `/end_session?${new URLSearchParams(form)}`
}

function back(answer: Response): [number, string | null] {
  return [answer.status, answer.headers.get('location')]
}

/** The confirmation: the form it sends. */
async function askedBy(answer: Response): Promise<Form> {
  expect(answer.headers.getSetCookie()).toEqual([])
  const html = await pageOf(answer, 200)
  expect(html).toContain('Sign out?')
  expect(html).toContain('<form method="post" action="/end_session">')
  return inputsOf(html)
}

async function expectNothingChanged<Answer>(store: TestStore, ask: () => Promise<Answer>): Promise<Answer> {
  const before = await contents(store)
  const answer = await ask()
  expect(await contents(store)).toEqual(before)
  return answer
}

/** Refused with a page that says so; nothing has ended and the cookie is kept. */
async function expectRefused({ store, browser }: { store: TestStore; browser: TestBrowser }, form: Form, said: string): Promise<void> {
  for (const ask of [() => browser.get(urlOf(form)), () => browser.post('/end_session', form)]) {
    const answer = await expectNothingChanged(store, ask)
    expect(answer.headers.getSetCookie()).toEqual([])
    const html = await pageOf(answer, 400)
    expect(html).toContain('Nothing was signed out')
    expect(html).toContain(said)
    expect(html).toContain('invalid_request')
  }
  expect(browser.cookies.has(COOKIE)).toBe(true)
}

describe.each(engines)('/end_session on %s', (engine) => {
  it('ends the sign-in of who sends their own ID token, unasked, and sends them back with the state', async () => {
    const world = await signedInWorld(engine)
    const form = { id_token_hint: world.demo.id_token, post_logout_redirect_uri: BYE, state: 'a b&c=d' }
    expect(back(await world.browser.get(urlOf(form)))).toEqual([303, `${BYE}?state=a+b%26c%3Dd`])
    await expectOver(world)
    expect(auditedBesideRefusals(world.service).at(-1)).toMatchObject({
      event: 'sessions.ended',
      subject: ADA,
      reason: 'sign_out',
      by: ADA,
    })
  })

  it('asks who sends nothing, and ends it when they say yes', async () => {
    const world = await signedInWorld(engine)
    const form = await askedBy(await expectNothingChanged(world.store, () => world.browser.get('/end_session')))
    expect(back(await world.browser.post('/end_session', form))).toEqual([303, `${HERE}/signed-out`])
    await expectOver(world)
  })
})

describe('what ends unasked', () => {
  it('is what an ID token says that expired hours ago', async () => {
    const world = await signedInWorld()
    world.store.clock.advance(3 * HOUR)
    expect((await world.browser.get(urlOf({ id_token_hint: world.native.id_token }))).status).toBe(303)
    expect(world.browser.cookies.has(COOKIE)).toBe(false)
  })

  it('is what an ID token of a refresh says', async () => {
    const world = await signedInWorld()
    const { id_token } = await (await refresh(world.service, world.demo.refresh_token)).json<{ id_token: string }>()
    expect((await world.browser.get(urlOf({ id_token_hint: id_token }))).status).toBe(303)
    await expectOver(world)
  })

  it('is what the ID token of a session says that its client has just revoked', async () => {
    const world = await signedInWorld()
    await revoke(world.service, world.native.refresh_token, { client_id: 'native' })
    expect((await world.browser.get(urlOf({ id_token_hint: world.native.id_token }))).status).toBe(303)
    await expectOver(world)
  })

  it('is nothing by HEAD', async () => {
    const { browser, store, demo } = await signedInWorld()
    const answer = await expectNothingChanged(store, () => browser.ask('HEAD', urlOf({ id_token_hint: demo.id_token })))
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []])
  })
})

describe('what is asked about', () => {
  it('is a hint of somebody else: their session and this one go on until this person says otherwise', async () => {
    const { service, store, browser, demo } = await signedInWorld()
    const graces = await at(service, 'demo', { person: GRACE })
    const form = { id_token_hint: graces.id_token, post_logout_redirect_uri: BYE }
    const sent = await askedBy(await expectNothingChanged(store, () => browser.get(urlOf(form))))
    expect(back(await browser.post('/end_session', sent))).toEqual([303, BYE])
    expect([await isAlive(service, demo), await isAlive(service, graces)]).toEqual([false, true])
  })

  it('is a hint of the same person in another browser', async () => {
    const { store, browser, elsewhere } = await signedInWorld()
    await askedBy(await expectNothingChanged(store, () => browser.get(urlOf({ id_token_hint: elsewhere.id_token }))))
  })

  it('is a hint of a session that ended with another sign-in', async () => {
    const { store, service, other, elsewhere } = await signedInWorld()
    await other.post('/logout', {})
    store.clock.advance(5)
    await at(service, 'demo', { browser: other })
    await askedBy(await other.get(urlOf({ id_token_hint: elsewhere.id_token })))
  })

  it('is a client that only names itself, or the person', async () => {
    const { store, browser } = await signedInWorld()
    const form = { client_id: 'demo', post_logout_redirect_uri: BYE, logout_hint: ADA, ui_locales: 'nl en', state: 'x' }
    const answer = await expectNothingChanged(store, () => browser.get(urlOf(form)))
    expect(answer.headers.get('content-security-policy')).toContain("form-action 'self' https://demo.acme.example")
    expect(await askedBy(answer)).toEqual(form)
    expect(back(await browser.post('/end_session', form))).toEqual([303, `${BYE}?state=x`])
  })

  it('names the client that asks', async () => {
    const { browser } = await signedInWorld()
    expect(await (await browser.get(urlOf({ client_id: 'demo' }))).text()).toContain('<strong>The demo</strong> asks to sign you out')
  })

  it('is a hint whose key is no longer published: it is honoured as a name, and proves nothing', async () => {
    const { store, browser, demo } = await signedInWorld()
    const { state } = store.adapters()
    await state.delete(keys.signingKey('ES256', kidOf(demo.id_token)))
    await state.put(keys.retiredSigningKey('ES256', kidOf(demo.id_token)), utf8('1'), HOUR)
    const restarted = startService(store)
    const again = new TestBrowser(restarted)
    for (const [name, value] of browser.cookies) again.cookies.set(name, value)
    const form = { id_token_hint: demo.id_token, post_logout_redirect_uri: BYE, state: 'x' }
    const sent = await askedBy(await again.get(urlOf(form)))
    expect(await isAlive(restarted, demo)).toBe(false) // its access token cannot be verified either
    expect(back(await again.post('/end_session', sent))).toEqual([303, `${BYE}?state=x`])
    expect(again.cookies.has(COOKIE)).toBe(false)
  })
})

describe('who is not signed in', () => {
  it.each<[string, (hint: string) => Form, string]>([
    ['by a hint', (id_token_hint) => ({ id_token_hint, post_logout_redirect_uri: BYE, state: 'x' }), `${BYE}?state=x`],
    ['by a client id', () => ({ client_id: 'demo', post_logout_redirect_uri: BYE }), BYE],
    ['by nothing', () => ({}), `${HERE}/signed-out`],
  ])('is sent on, and nothing ends: %s', async (_how, form, to) => {
    const { service, store, demo } = await signedInWorld()
    const answer = await expectNothingChanged(store, () => new TestBrowser(service).get(urlOf(form(demo.id_token))))
    expect(back(answer)).toEqual([303, to])
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await isAlive(service, demo)).toBe(true)
  })

  it('loses a cookie that stands for nothing any more', async () => {
    const { browser, demo } = await signedInWorld()
    const cookie = browser.cookies.get(COOKIE) ?? ''
    await browser.post('/logout', {})
    browser.cookies.set(COOKIE, cookie)
    expect((await browser.get(urlOf({ id_token_hint: demo.id_token }))).status).toBe(303)
    expect(browser.cookies.has(COOKIE)).toBe(false)
  })
})

describe('a POST from another site', () => {
  it('is sent to the same place by GET, and nothing ends before', async () => {
    const world = await signedInWorld()
    const form = { id_token_hint: world.demo.id_token, post_logout_redirect_uri: BYE, state: 'a b' }
    const answer = await expectNothingChanged(world.store, () => world.browser.post('/end_session', { ...form, unknown: 'x' }, CROSS_SITE))
    expect(back(answer)).toEqual([303, HERE + urlOf(form)])
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(back(await world.browser.get(answer.headers.get('location') ?? ''))).toEqual([303, `${BYE}?state=a+b`])
    await expectOver(world)
  })

  it.each<[string, Form]>([
    ['another host of this site', { 'sec-fetch-site': 'same-site' }],
    ['another site, in an old browser', { origin: 'https://evil.example' }],
    ['nowhere', {}],
  ])('or from %s proves nothing: the GET it becomes asks', async (_where, headers) => {
    const { browser, store } = await signedInWorld()
    const answer = await expectNothingChanged(store, () => browser.post('/end_session', { client_id: 'demo' }, headers))
    await askedBy(await browser.get(answer.headers.get('location') ?? ''))
  })
})

describe('where the person is sent', () => {
  it.each<[string, string, string]>([
    ['its query is kept', `${BYE}?from=sluis`, `${BYE}?from=sluis&state=x`],
    ['a native client’s own scheme', 'com.acme.demo:/bye', 'com.acme.demo:/bye?state=x'],
  ])('is the registered address: %s', async (_what, post_logout_redirect_uri, to) => {
    const { browser, demo } = await signedInWorld()
    const form = { id_token_hint: demo.id_token, post_logout_redirect_uri, state: 'x' }
    expect(back(await browser.get(urlOf(form)))).toEqual([303, to])
  })

  it('is our own page without an address, whatever the state', async () => {
    const { browser, demo } = await signedInWorld()
    expect(back(await browser.get(urlOf({ id_token_hint: demo.id_token, state: 'x' })))).toEqual([303, `${HERE}/signed-out`])
  })

  it('is first a page with the frames of clients told in the browser, which then goes on', async () => {
    const world = await signedInWorld('memory', withFrontChannel)
    const form = { id_token_hint: world.native.id_token, client_id: 'native', post_logout_redirect_uri: 'http://127.0.0.1:7777/bye' }
    const html = await pageOf(await world.browser.get(urlOf(form)), 200)
    const query = new URLSearchParams({ iss: HERE, sid: String(claimsOf(world.demo.id_token).sid) })
    expect(framesIn(html)).toEqual([`${FORGET}?${query}`])
    expect(html).toContain('<a id="return" href="http://127.0.0.1:7777/bye">')
    await expectOver(world)
  })
})

describe('what is refused', () => {
  it.each<[string, (hint: string) => Form, string]>([
    ['an address that nothing says whose it is', () => ({ post_logout_redirect_uri: BYE }), 'needs an id_token_hint or a client_id'],
    ['an unregistered address', (id_token_hint) => ({ id_token_hint, post_logout_redirect_uri: 'https://evil.example/' }), 'registered'],
    ['an address that is longer', (id_token_hint) => ({ id_token_hint, post_logout_redirect_uri: `${BYE}/` }), 'registered'],
    ['another client’s address', () => ({ client_id: 'native', post_logout_redirect_uri: BYE }), 'registered'],
    ['another port of loopback', () => ({ client_id: 'native', post_logout_redirect_uri: 'http://127.0.0.1:7778/bye' }), 'registered'],
    ['a redirect URI', (id_token_hint) => ({ id_token_hint, post_logout_redirect_uri: `${HERE}/demo` }), 'registered'],
    ['an unknown client', () => ({ client_id: 'nobody' }), 'client_id names no client'],
    ['a client that is a property of objects', () => ({ client_id: 'constructor' }), 'client_id names no client'],
    ['a client the hint was not issued to', (id_token_hint) => ({ id_token_hint, client_id: 'native' }), 'issued to'],
    ['no JWT', () => ({ id_token_hint: 'nonsense' }), 'not an ID token of this issuer'],
    ['a value nobody needs', () => ({ state: 'x'.repeat(9_000) }), 'longer than'],
    ['values nobody needs', () => ({ state: 'x'.repeat(8_000), logout_hint: 'x'.repeat(8_000) }), 'longer than'],
  ])('is %s', async (_what, form, said) => {
    const world = await signedInWorld()
    await expectRefused(world, form(world.demo.id_token), said)
  })

  it('is a parameter that was sent twice', async () => {
    const { browser, store } = await signedInWorld()
    const ask = () => browser.get('/end_session?client_id=demo&client_id=native')
    expect(await pageOf(await expectNothingChanged(store, ask), 400)).toContain('client_id was sent more than once')
  })

  it('is told to programs in JSON', async () => {
    const { service } = await signedInWorld()
    expect(await errorOf(await service.fetch(urlOf({ post_logout_redirect_uri: BYE })), 400)).toMatchObject({ error: 'invalid_request' })
  })

  it('is another method', async () => {
    const { browser } = await signedInWorld()
    for (const method of ['PUT', 'DELETE', 'PATCH']) expect((await browser.ask(method, '/end_session')).status).toBe(405)
  })

  it('is an enormous body, and one that is no form', async () => {
    const { browser, service } = await signedInWorld()
    expect((await browser.post('/end_session', { state: 'x'.repeat(20_000) })).status).toBe(413)
    expect((await service.fetch('/end_session', { method: 'POST', body: '{}' })).status).toBe(400)
  })
})

type Forge = (hint: string, service: TestService) => string | Promise<string>

/** Claims of a hint signed by the issuer itself, but for what is changed. */
function resigned(typ: 'JWT' | 'at+jwt' | 'logout+jwt', changes: Record<string, unknown>): Forge {
  return (hint, { services }) =>
    services.issuer.keyring.sign('ES256', typ, { ...claimsOf(hint), ...changes } as { iat: number; exp: number })
}

/** Signed with a key of the forger's own. */
function forged(header: (hint: string) => Record<string, unknown>, changes: Record<string, unknown> = {}): Forge {
  return async (hint) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const claims = utf8(JSON.stringify({ ...claimsOf(hint), ...changes }))
    return new CompactSign(claims)
      .setProtectedHeader({ alg: 'ES256', typ: 'JWT', jwk: await exportJWK(publicKey), ...header(hint) })
      .sign(privateKey)
  }
}

function kidOf(hint: string): string {
  return String(decodeProtectedHeader(hint).kid)
}

const forgeries: [string, Forge][] = [
  ['signed with another key under our kid', forged((hint) => ({ kid: kidOf(hint) }))],
  ['signed with another key and no kid', forged(() => ({}))],
  ['of another issuer that has keys of its own', forged(() => ({ kid: 'theirs' }), { iss: 'https://elsewhere.example' })],
  ['of another issuer', resigned('JWT', { iss: 'https://elsewhere.example' })],
  ['of alg none', (hint) => new UnsecuredJWT(claimsOf(hint)).encode()],
  [
    'of alg none under our kid',
    (hint) => `${encodeBase64url(utf8(JSON.stringify({ alg: 'none', typ: 'JWT', kid: kidOf(hint) })))}.${hint.split('.')[1]}.`,
  ],
  [
    'whose person was changed',
    (hint) => {
      const [header, , signature] = hint.split('.')
      return `${header}.${encodeBase64url(utf8(JSON.stringify({ ...claimsOf(hint), sub: GRACE })))}.${signature}`
    },
  ],
  ['an access token', resigned('at+jwt', {})],
  ['a logout token', resigned('logout+jwt', {})],
  ['without a person', resigned('JWT', { sub: undefined })],
  ['for several clients', resigned('JWT', { aud: ['demo', 'native'] })],
]

describe('an id_token_hint', () => {
  it.each(forgeries)('is refused when it is %s', async (_what, forge) => {
    const world = await signedInWorld()
    const id_token_hint = await forge(world.demo.id_token, world.service)
    await expectRefused(world, { id_token_hint, client_id: 'demo' }, 'not an ID token of this issuer')
  })

  it('that names an unknown key of ours proves nothing, however right it looks', async () => {
    const { browser, store, service, demo } = await signedInWorld()
    const hint = await forged(() => ({ kid: 'gone' }))(demo.id_token, service)
    await askedBy(await expectNothingChanged(store, () => browser.get(urlOf({ id_token_hint: hint }))))
  })

  it('of a client that is no longer in the policy still signs its person out', async () => {
    const world = await signedInWorld()
    const id_token_hint = world.demo.id_token
    delete world.service.services.issuer.policy.clients.demo
    await expectRefused(world, { id_token_hint, post_logout_redirect_uri: BYE }, 'registered')
    expect(back(await world.browser.get(urlOf({ id_token_hint })))).toEqual([303, `${HERE}/signed-out`])
    expect(world.browser.cookies.has(COOKIE)).toBe(false)
  })
})

describe.each<[string, Outage['fails']]>([
  ['all of them', everything],
  ['reads', reads],
  ['writes', writes],
  ['records', records],
])('while the stores are away: %s', (_what, fails) => {
  it('nothing is claimed, the cookie is kept, nobody is sent on, and it works afterwards', async () => {
    const { service, outage } = startOnShakyStores(await clientStore('memory', withSignedOut))
    const browser = new TestBrowser(service)
    const { id_token } = await at(service, 'demo', { browser })
    const form = { id_token_hint: id_token, post_logout_redirect_uri: BYE }
    outage.fails = fails
    const answer = await browser.get(urlOf(form))
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await pageOf(answer, 503)).toContain('temporarily_unavailable')
    outage.fails = none
    expect(back(await browser.get(urlOf(form)))).toEqual([303, BYE])
  })
})
