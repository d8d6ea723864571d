import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import {
  ADA,
  answerDevice,
  at,
  basic,
  beginDevice,
  clientStore,
  finishSignIn,
  HOUR,
  introspected,
  poll,
  post,
  refresh,
  refreshed,
  revoke,
  tokensIn,
} from './clients.ts'
import { authorizeUrl, claimsOf, contents, signedIn, signIn, TestBrowser, userinfo } from './harness.ts'
import { everything, none, type Outage, reads, records, secretStore, startOnShakyStores, writes } from './shaky-stores.ts'

const outages: [string, Outage['fails']][] = [
  ['all of them', everything],
  ['reads', reads],
  ['writes', writes],
  ['records', records],
]

async function shaky() {
  return startOnShakyStores(await clientStore('memory'))
}

/** 503 with the seconds to wait, and no verdict on what was presented. */
async function expectUnavailable(answer: Response): Promise<void> {
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
  expect(await errorOf(answer, 503)).toMatchObject({ error: 'temporarily_unavailable' })
}

/** The same, as a person is told; their cookie stays. */
async function expectUnavailablePage(answer: Response): Promise<void> {
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
  expect(answer.headers.getSetCookie()).toEqual([])
  expect(await pageOf(answer, 503)).toContain('temporarily_unavailable')
}

describe.each(outages)('while the stores are away: %s', (_what, fails) => {
  it('a refresh is unavailable, never invalid_grant, and its token is good afterwards', async () => {
    const { service, outage } = await shaky()
    const { refresh_token } = await signedIn(service)
    outage.fails = fails
    await expectUnavailable(await refresh(service, refresh_token))
    outage.fails = none
    const next = await refreshed(service, refresh_token)
    expect((await userinfo(service, next.access_token)).status).toBe(200)
    expect((await refresh(service, next.refresh_token)).status).toBe(200)
  })

  it('a replay in the grace is unavailable, and answered with the successor afterwards', async () => {
    const { service, outage } = await shaky()
    const { refresh_token } = await signedIn(service)
    const winner = await refreshed(service, refresh_token)
    outage.fails = fails
    await expectUnavailable(await refresh(service, refresh_token))
    outage.fails = none
    expect((await refreshed(service, refresh_token)).refresh_token).toBe(winner.refresh_token)
  })

  it('a reuse is unavailable until its session has ended', async () => {
    const { service, outage, store } = await shaky()
    const first = await signedIn(service)
    await refreshed(service, first.refresh_token)
    store.clock.advance(33)
    outage.fails = fails
    await expectUnavailable(await refresh(service, first.refresh_token))
    outage.fails = none
    expect((await userinfo(service, first.access_token)).status).toBe(200)
    expect(await errorOf(await refresh(service, first.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    expect((await userinfo(service, first.access_token)).status).toBe(401)
  })

  it('a revocation is not said to be done, and is afterwards', async () => {
    const { service, outage } = await shaky()
    const [first, second] = [await signedIn(service), await signedIn(service)]
    outage.fails = fails
    await expectUnavailable(await revoke(service, first.refresh_token))
    await expectUnavailable(await revoke(service, second.access_token))
    outage.fails = none
    expect((await userinfo(service, first.access_token)).status).toBe(200)
    for (const token of [first.refresh_token, second.access_token]) expect((await revoke(service, token)).status).toBe(200)
    for (const { access_token } of [first, second]) expect((await userinfo(service, access_token)).status).toBe(401)
  })

  it('a device is told neither that its code has expired nor that it may wait, and is let in afterwards', async () => {
    const { service, outage } = await shaky()
    const { device_code, user_code } = await beginDevice(service)
    await answerDevice(new TestBrowser(service), user_code)
    outage.fails = fails
    await expectUnavailable(await poll(service, device_code))
    outage.fails = none
    expect((await poll(service, device_code)).status).toBe(200)
  })

  it('a device that is to be allowed waits on', async () => {
    const { service, outage } = await shaky()
    const { device_code, user_code } = await beginDevice(service)
    const browser = new TestBrowser(service)
    await finishSignIn(browser, (await browser.post('/device', { user_code })).headers.get('location') ?? '')
    outage.fails = fails
    await expectUnavailablePage(await browser.post('/device', { user_code, action: 'allow' }))
    outage.fails = none
    expect(await errorOf(await poll(service, device_code), 400)).toMatchObject({ error: 'authorization_pending' })
    await pageOf(await browser.post('/device', { user_code, action: 'allow' }), 200)
    expect((await poll(service, device_code)).status).toBe(200)
  })

  it('/account does not say that anything has ended, and keeps the cookie', async () => {
    const { service, outage } = await shaky()
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    outage.fails = fails
    for (const form of [{ everything: 'yes' }, { session: String(claimsOf(tokens.id_token).sid) }] as Record<string, string>[]) {
      await expectUnavailablePage(await browser.post('/account', form))
    }
    outage.fails = none
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect(await pageOf(await browser.post('/account', { everything: 'yes' }), 200)).toContain('You are signed out')
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
  })

  it('/api/sessions does not say that anything has ended', async () => {
    const { service, outage } = await shaky()
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    const sid = String(claimsOf(tokens.id_token).sid)
    outage.fails = fails
    await expectUnavailable(await browser.ask('DELETE', `/api/sessions/${sid}`))
    await expectUnavailable(await browser.ask('DELETE', `/api/sessions?person=${ADA}`))
    outage.fails = none
    expect((await browser.ask('DELETE', `/api/sessions/${sid}`)).status).toBe(200)
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
  })

  it('another person is not let in before the first one’s sessions have ended', async () => {
    const { service, outage } = await shaky()
    const browser = new TestBrowser(service)
    const tokens = await at(service, 'demo', { browser })
    const login = (await browser.get(await authorizeUrl({ prompt: 'login' }))).headers.get('location') ?? ''
    const form = { auth: login.split('auth=')[1] ?? '', person: 'grace@acme.example' }
    outage.fails = fails
    await expectUnavailablePage(await browser.post('/login/picker', form))
    outage.fails = none
    expect((await browser.post('/login/picker', form)).status).toBe(303)
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
  })
})

describe.each(outages.filter(([, fails]) => fails !== writes))('while the stores can not be read: %s', (_what, fails) => {
  it('introspection gives no verdict: never inactive', async () => {
    const { service, outage } = await shaky()
    const tokens = await at(service, 'backend')
    await introspected(service, tokens.access_token, 'backend') // so that the secret is read
    outage.fails = fails
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      await expectUnavailable(await post(service, '/introspect', { token }, basic('backend')))
    }
    outage.fails = none
    expect(await introspected(service, tokens.access_token, 'backend')).toMatchObject({ active: true })
  })

  it('single sign-on asks the client to come again, and never for a sign-in', async () => {
    const { service, outage } = await shaky()
    const browser = new TestBrowser(service)
    await signIn(browser)
    outage.fails = fails
    for (const prompt of ['none', undefined]) {
      const answer = await browser.get(await authorizeUrl({ prompt }))
      expect(answer.headers.getSetCookie()).toEqual([])
      expect((await clientAnswer(answer)).parameters).toMatchObject({ error: 'temporarily_unavailable' })
    }
    outage.fails = none
    expect((await clientAnswer(await browser.get(await authorizeUrl({ prompt: 'none' })))).parameters).toHaveProperty('code')
  })

  it('a device that waits is told to come again', async () => {
    const { service, outage } = await shaky()
    const { device_code } = await beginDevice(service)
    outage.fails = fails
    await expectUnavailable(await poll(service, device_code))
  })

  it('/account and /api/sessions list nothing', async () => {
    const { service, outage } = await shaky()
    const browser = new TestBrowser(service)
    await at(service, 'demo', { browser })
    outage.fails = fails
    await expectUnavailablePage(await browser.get('/account'))
    await expectUnavailable(await browser.ask('GET', '/api/sessions'))
  })
})

it('a device can not begin while nothing can be written', async () => {
  const { service, outage, store } = await shaky()
  await signedIn(service)
  const before = await contents(store)
  outage.fails = writes
  await expectUnavailable(await post(service, '/device_authorization', { client_id: 'native' }))
  outage.fails = none
  expect(await contents(store)).toEqual(before)
})

it('a client whose secret can not be read is told to come again, at every endpoint', async () => {
  const { service, outage, store } = await shaky()
  const { refresh_token, access_token } = await at(service, 'backend')
  outage.fails = secretStore
  store.clock.advance(HOUR / 2)
  await expectUnavailable(await refresh(service, refresh_token, { client_id: 'backend' }, basic('backend')))
  await expectUnavailable(await revoke(service, refresh_token, { client_id: 'backend' }, basic('backend')))
  await expectUnavailable(await post(service, '/introspect', { token: access_token }, basic('backend')))
  outage.fails = none
  expect(await tokensIn(await refresh(service, refresh_token, { client_id: 'backend' }, basic('backend')))).toHaveProperty('access_token')
})
