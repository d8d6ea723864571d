import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { cookieHash } from '../../src/issuer/authorize/begin-sign-in.ts'
import { PortError } from '../../src/ports/error.ts'
import { countCalls } from '../crash/count-calls.ts'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import { ADA, API, clientStore, GRACE, HOUR, KATHERINE, MINUTE, refreshed, startClients, tokensIn } from './clients.ts'
import {
  asBackend,
  authorizeUrl,
  claimsOf,
  contents,
  engines,
  exchange,
  redeployed,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  userinfo,
} from './harness.ts'

const asNative = { client_id: 'native', redirect_uri: 'http://localhost/callback' }
const COOKIE = 'sluis_sso'

type Changes = Record<string, string | undefined>

/** What the client is answered without a page. */
async function silently(browser: TestBrowser, changes: Changes = {}) {
  return (await clientAnswer(await browser.get(await authorizeUrl(changes)))).parameters
}

/** The chooser they are sent to, and nowhere else. */
async function expectPage(browser: TestBrowser, changes: Changes = {}): Promise<string> {
  const answer = await browser.get(await authorizeUrl(changes))
  const to = answer.headers.get('location') ?? ''
  expect([answer.status, to]).toEqual([303, expect.stringMatching(/^\/login\?auth=[A-Za-z0-9_-]{22}$/)])
  return to
}

/** No page may be shown, and none is needed to say so. */
async function expectLoginRequired(browser: TestBrowser, changes: Changes = {}): Promise<void> {
  expect(await silently(browser, { ...changes, prompt: 'none' })).toEqual({
    error: 'login_required',
    error_description: expect.any(String),
    state: 'the state',
    iss: browser.issuer,
  })
}

async function signedInBrowser(service: TestService, person = ADA): Promise<TestBrowser> {
  const browser = new TestBrowser(service)
  await signIn(browser, {}, person)
  return browser
}

/** The records of sign-ins, as they stand. */
async function signIns(store: TestStore): Promise<Record<string, unknown>[]> {
  const { entries } = await store.adapters().state.list('sso.')
  return entries.map(({ value }) => JSON.parse(new TextDecoder().decode(value)))
}

describe.each(engines)('single sign-on on %s', (engine) => {
  it('OIDC Core 3.1.2.3: completes without a page, from the proof that was given then', async () => {
    const { service, store } = await startClients(engine)
    const browser = new TestBrowser(service)
    const first = await tokensIn(await exchange(service, (await signIn(browser)).searchParams.get('code') ?? ''))
    const cookie = browser.cookies.get(COOKIE)
    store.clock.advance(HOUR)
    const answer = await silently(browser, { nonce: 'another' })
    expect(answer).toEqual({ code: expect.stringMatching(/^slc_[A-Za-z0-9_-]{43}$/), state: 'the state', iss: 'http://localhost:8787' })
    const second = await tokensIn(await exchange(service, answer.code ?? ''))

    const [before, after] = [claimsOf(first.id_token), claimsOf(second.id_token)]
    for (const name of ['sub', 'auth_time', 'acr', 'amr', 'groups']) expect(after[name]).toEqual(before[name])
    expect(after.nonce).toBe('another')
    expect(after.sid).not.toBe(before.sid)
    expect(browser.cookies.get(COOKIE)).toBe(cookie)
    expect(service.audit.events.map(({ sign_in }) => sign_in).filter(Boolean)).toHaveLength(3)
    expect(new Set(service.audit.events.map(({ sign_in }) => sign_in).filter(Boolean)).size).toBe(1)
  })

  it('lets in a second client, and is known to have', async () => {
    const { service, store } = await startClients(engine)
    const browser = await signedInBrowser(service)
    const { code = '' } = await silently(browser, asNative)
    const tokens = await tokensIn(await exchange(service, code, asNative))
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect(await signIns(store)).toMatchObject([{ identity: ADA, clients: ['demo', 'native'] }])
  })

  it('takes 1 write and 2 reads in 3 rounds where the client is covered', async () => {
    const counter = countCalls()
    const service = startService(await clientStore(engine), counter.wrap)
    const browser = await signedInBrowser(service)
    await silently(browser)
    counter.reset()
    expect(await silently(browser)).toHaveProperty('code')
    const { writes, reads, rounds } = counter.count()
    expect([writes, reads, rounds <= 3]).toEqual([1, 2, true])
  })
})

describe('a standing sign-in', () => {
  it.each(['query', 'fragment', 'form_post'] as const)('answers by %s', async (response_mode) => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const answer = await clientAnswer(await browser.get(await authorizeUrl({ response_mode, prompt: 'none' })))
    expect(answer).toMatchObject({
      mode: response_mode,
      to: 'http://localhost:8787/demo',
      parameters: { code: expect.stringMatching(/^slc_/) },
    })
  })

  it('answers a POST of this site, and one of another after a GET: nothing is written before', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const form = Object.fromEntries(new URLSearchParams((await authorizeUrl()).split('?')[1]))
    expect((await clientAnswer(await browser.post('/authorize', form))).parameters).toHaveProperty('code')
    const before = await contents(store)
    const again = await browser.post('/authorize', form, { 'sec-fetch-site': 'cross-site', origin: 'https://app.example' })
    expect(await contents(store)).toEqual(before)
    expect((await clientAnswer(await browser.get(again.headers.get('location') ?? ''))).parameters).toHaveProperty('code')
  })

  it('gives the groups that are held now', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const moved = startService(
      redeployed(store, ({ service }) => {
        for (const person of service.directory.people) person.groups = ['finance@acme.example']
      }),
    )
    const tab = inOtherIsolate(browser, moved)
    const tokens = await tokensIn(await exchange(moved, (await silently(tab, asNative)).code ?? '', asNative))
    expect(claimsOf(tokens.id_token).groups).toEqual(['app:demo:user', 'emp:all'])
  })

  it('is of no use to a code once it has ended', async () => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const { code = '' } = await silently(browser)
    await signIn(browser, {}, GRACE)
    expect(await errorOf(await exchange(service, code), 400)).toMatchObject({ error: 'invalid_grant' })
  })

  it.each(['login', 'select_account', 'consent', 'login consent'])('OIDC Core 3.1.2.1: shows a page for prompt=%s', async (prompt) => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const html = await pageOf(await browser.get(await expectPage(browser, { prompt })), 200)
    expect(html).toContain('The demo')
    expect(html).toContain(ADA)
  })

  it('OIDC Core 2: has the time of the new proof after prompt=login', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    store.clock.advance(HOUR)
    const tokens = await tokensIn(await exchange(service, (await signIn(browser)).searchParams.get('code') ?? ''))
    expect(claimsOf(tokens.id_token).auth_time).toBe(store.clock.now() / 1000)
  })

  it('OIDC Core 3.1.2.1: completes prompt=none, and without one it is login_required, with nothing written', async () => {
    const { service, store } = await startClients('memory')
    expect(await silently(await signedInBrowser(service), { prompt: 'none' })).toHaveProperty('code')
    const before = await contents(store)
    const stranger = new TestBrowser(service)
    await expectLoginRequired(stranger)
    expect(stranger.cookies.size).toBe(0)
    expect(await contents(store)).toEqual(before)
  })

  it.each<[string, string, boolean]>([
    ['0', '0', false],
    ['younger than it', '3599', false],
    ['as old as it', '3600', true],
    ['older than it', '3601', true],
  ])('OIDC Core 3.1.2.1: with max_age %s completes: %s, %s', async (_what, max_age, completes) => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    store.clock.advance(HOUR)
    if (completes) return expect(await silently(browser, { max_age })).toHaveProperty('code')
    await expectPage(browser, { max_age })
    await expectLoginRequired(browser, { max_age })
  })

  it.each<[string, string, boolean]>([
    ['the same person', ADA, true],
    ['the same person, spelled otherwise', ' Ada@ACME.example ', true],
    ['what is no address', 'ada', true],
    ['another person', GRACE, false],
    ['nobody', 'x@', false],
  ])('OIDC Core 3.1.2.1: with login_hint of %s (%s) completes: %s', async (_who, login_hint, completes) => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service)
    if (completes) return expect(await silently(browser, { login_hint })).toHaveProperty('code')
    await expectPage(browser, { login_hint })
    await expectLoginRequired(browser, { login_hint })
  })

  it('OIDC Core 3.1.2.1: with id_token_hint completes for its person, and for nobody else', async () => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const hintOf = async (person: string) => {
      const to = await signIn(new TestBrowser(service), {}, person)
      return (await tokensIn(await exchange(service, to.searchParams.get('code') ?? ''))).id_token
    }
    expect(await silently(browser, { id_token_hint: await hintOf(ADA), prompt: 'none' })).toHaveProperty('code')
    const another = { id_token_hint: await hintOf(GRACE) }
    await expectPage(browser, another)
    await expectLoginRequired(browser, another)
  })

  it('OIDC Core 5.5.1: with a sub asked for by value completes for that person alone', async () => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const asking = (sub: string) => ({ claims: JSON.stringify({ id_token: { sub: { value: sub } } }) })
    expect(await silently(browser, asking(ADA))).toHaveProperty('code')
    await expectPage(browser, asking(GRACE))
  })

  it('completes for twelve hours, and then asks', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    store.clock.advance(12 * HOUR - 1)
    expect(await silently(browser)).toHaveProperty('code')
    store.clock.advance(1)
    await expectPage(browser)
    await expectLoginRequired(browser)
  })

  it('is not made longer by being used', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    for (let hour = 0; hour < 11; hour++) {
      store.clock.advance(HOUR)
      await silently(browser, hour === 3 ? asNative : {})
    }
    store.clock.advance(HOUR)
    await expectLoginRequired(browser)
  })

  it('does not reach past the absolute limit of the resource asked for', async () => {
    const { service, store } = await startClients('memory', ({ policy }) => {
      policy.resources[API] = { requires: ['app:demo:user'], absolute_cap: 30 * MINUTE }
    })
    const browser = await signedInBrowser(service)
    store.clock.advance(30 * MINUTE - 1)
    expect(await silently(browser, { resource: API })).toHaveProperty('code')
    store.clock.advance(1)
    await expectPage(browser, { resource: API })
    await expectLoginRequired(browser, { resource: API })
    expect(await silently(browser)).toHaveProperty('code')
  })
})

describe('a person whom the client does not admit', () => {
  it('is told so on a page, and sent nowhere; their sign-in stands', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service, KATHERINE)
    const before = await contents(store)
    const html = await pageOf(await browser.get(await authorizeUrl(asBackend)), 403)
    expect(html).toContain('A server of ours')
    expect(html).toContain(KATHERINE)
    expect(html).not.toMatch(/app:|emp:|finance|engineering|localhost:3000/)
    expect(await contents(store)).toEqual(before)
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'signin.refused', subject: KATHERINE, client: 'backend', how: 'picker' })
    expect(await silently(browser)).toHaveProperty('code')
  })

  it('is access_denied to the client where no page may say it', async () => {
    const { service } = await startClients('memory')
    const browser = await signedInBrowser(service, KATHERINE)
    expect(await silently(browser, { ...asBackend, prompt: 'none' })).toEqual({
      error: 'access_denied',
      error_description: expect.not.stringMatching(/app:|finance/),
      state: 'the state',
      iss: 'http://localhost:8787',
    })
  })

  it('is refused by the resource as by the client', async () => {
    const { service } = await startClients('memory', ({ policy }) => {
      policy.resources[API] = { requires: ['app:backend:user'] }
    })
    const browser = await signedInBrowser(service, KATHERINE)
    await pageOf(await browser.get(await authorizeUrl({ resource: API })), 403)
    expect(await silently(browser, { resource: API, prompt: 'none' })).toMatchObject({ error: 'access_denied' })
  })
})

describe('a person whom the directory', () => {
  it.each<[string, (documents: TestStore['documents']) => void]>([
    [
      'has suspended',
      ({ service }) => {
        for (const person of service.directory.people) person.suspended = person.email === ADA
      },
    ],
    ['no longer has', ({ service }) => void service.directory.people.splice(0, 1)],
  ])('%s loses their sign-in for good; what it opened goes on until its next refresh', async (_what, edit) => {
    const { service, store } = await startClients('memory')
    const browser = new TestBrowser(service)
    const tokens = await tokensIn(await exchange(service, (await signIn(browser)).searchParams.get('code') ?? ''))
    const disowned = startService(redeployed(store, edit))
    await expectPage(inOtherIsolate(browser, disowned))
    expect(await signIns(store)).toEqual([])
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    await expectLoginRequired(browser) // the directory has them again: the sign-in is gone all the same
    await refreshed(service, tokens.refresh_token)
  })

  it('can not be asked about is not signed out: the client is told to come again', async () => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const { issuer } = service.services
    const { directory } = issuer
    const before = await contents(store)
    issuer.directory = { resolve: () => Promise.reject(new PortError('Unavailable', 'the directory is away')) }
    for (const prompt of ['none', undefined])
      expect(await silently(browser, { prompt })).toMatchObject({ error: 'temporarily_unavailable' })
    expect(await contents(store)).toEqual(before)
    issuer.directory = directory
    expect(await silently(browser)).toHaveProperty('code')
  })
})

describe('a cookie that proves no sign-in', () => {
  it.each<[string, (proved: { cookie: string; id: string; elsewhere: string }) => string | Promise<string>]>([
    ['is empty', () => ''],
    ['is a word', () => 'garbage'],
    ['was drawn by nobody', () => 'A'.repeat(43)],
    ['is cut short', ({ cookie }) => cookie.slice(0, -1)],
    ['has a letter more', ({ cookie }) => `${cookie}A`],
    ['is quoted', ({ cookie }) => `"${cookie}"`],
    ['is the sign-in’s id', ({ id }) => id],
    ['is the hash of the right one', ({ cookie }) => cookieHash(cookie)],
    ['is of another issuer', ({ elsewhere }) => elsewhere],
    ['is 8 KiB', () => 'a'.repeat(8_192)],
    ['is a path', () => '../../x'],
  ])('%s: they sign in on a page', async (_what, forge) => {
    const { service, store } = await startClients('memory')
    const elsewhere = await startClients('memory')
    const cookie = (await signedInBrowser(service)).cookies.get(COOKIE) ?? ''
    const [signIn] = await signIns(store)
    const other = (await signedInBrowser(elsewhere.service)).cookies.get(COOKIE) ?? ''
    const browser = new TestBrowser(service)
    browser.cookies.set(COOKIE, await forge({ cookie, id: String(signIn?.id), elsewhere: other }))
    await expectLoginRequired(browser)
    await expectPage(browser)
    expect(await signIns(store)).toHaveLength(1)
  })

  it('by a pointer that the sign-in does not answer to', async () => {
    const { service, store } = await startClients('memory')
    await signedInBrowser(service)
    const [signIn] = await signIns(store)
    const forged = 'B'.repeat(43)
    await store.adapters().state.put(`issuer:sso-cookie:${await cookieHash(forged)}`, utf8(String(signIn?.id)), HOUR)
    const browser = new TestBrowser(service)
    browser.cookies.set(COOKIE, forged)
    await expectLoginRequired(browser)
  })

  it.each<[string, (record: Record<string, unknown>) => unknown]>([
    ['has ended', (record) => ({ ...record, ended: 1 })],
    ['can not be read', ({ identity: _, ...record }) => record],
  ])('whose sign-in %s', async (_what, edit) => {
    const { service, store } = await startClients('memory')
    const browser = await signedInBrowser(service)
    const [record] = await signIns(store)
    await store.adapters().state.put(`sso.${record?.id}`, utf8(JSON.stringify(edit(record ?? {}))), HOUR)
    await expectLoginRequired(browser)
    await expectPage(browser)
  })
})

describe('over https', () => {
  it('RFC 6265bis 4.1.3.2: the cookie is __Host-, Secure, and known by that name alone', async () => {
    const { service } = await startClients('memory', ({ service }) => {
      service.issuer = 'https://login.acme.example'
    })
    const browser = new TestBrowser(service)
    await signIn(browser)
    expect([...browser.cookies.keys()].sort()).toEqual(['__Host-sluis_browser', '__Host-sluis_sso'])
    expect(await silently(browser)).toHaveProperty('code')
    const plain = new TestBrowser(service)
    plain.cookies.set(COOKIE, browser.cookies.get('__Host-sluis_sso') ?? '')
    await expectLoginRequired(plain)
  })
})

/** The same browser, answered by another isolate. */
function inOtherIsolate(browser: TestBrowser, service: TestService): TestBrowser {
  const tab = new TestBrowser(service)
  for (const [name, value] of browser.cookies) tab.cookies.set(name, value)
  return tab
}
