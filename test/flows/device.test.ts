import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/crypto/digest.ts'
import { errorOf, pageOf } from './answers.ts'
import {
  ADA,
  API,
  answerDevice,
  basic,
  beginDevice,
  type DeviceCodes,
  finishSignIn,
  GRACE,
  KATHERINE,
  poll,
  post,
  refresh,
  refreshed,
  revoke,
  startClients,
  tokensIn,
} from './clients.ts'
import {
  auditedBesideRefusals,
  claimsOf,
  contents,
  engines,
  redeployed,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  userinfo,
} from './harness.ts'
import { allowing, limit } from './limits.ts'

const asNative = { client_id: 'native' }

/** A device that a person has allowed. */
async function allowed(service: TestService, changes: Record<string, string> = {}, person = ADA): Promise<DeviceCodes> {
  const codes = await beginDevice(service, changes)
  const answer = await answerDevice(new TestBrowser(service), codes.user_code, 'allow', person)
  expect(await pageOf(answer, 200)).toContain('Your device is signed in')
  return codes
}

async function expectNothingWritten(store: TestStore, ask: () => Promise<Response>, error: string, status = 400): Promise<void> {
  const before = await contents(store)
  expect(await errorOf(await ask(), status)).toMatchObject({ error })
  expect(await contents(store)).toEqual(before)
}

async function keysUnder(store: TestStore, prefix: string): Promise<string[]> {
  return Object.keys(await contents(store)).filter((key) => key.startsWith(prefix))
}

describe.each(engines)('RFC 8628 on %s', (engine) => {
  it('a device begins, a person allows it on a page, and the device is signed in', async () => {
    const { service, store } = await startClients(engine)
    const begun = await post(service, '/device_authorization', { ...asNative, scope: 'openid email offline_access' })
    expect([begun.status, begun.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const codes = await begun.json<DeviceCodes>()
    expect(codes).toEqual({
      device_code: expect.stringMatching(/^sld_[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: 'http://localhost:8787/device',
      verification_uri_complete: `http://localhost:8787/device?user_code=${codes.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    await expectNothingWritten(store, () => poll(service, codes.device_code), 'authorization_pending')

    const browser = new TestBrowser(service)
    await pageOf(await browser.get(codes.verification_uri), 200)
    const login = (await browser.post('/device', { user_code: codes.user_code })).headers.get('location') ?? ''
    const back = await finishSignIn(browser, login)
    expect(back).toBe(`http://localhost:8787/device?user_code=${codes.user_code.replace('-', '')}`)
    expect(await pageOf(await browser.get(back), 200)).toContain('Allow this device?')
    await expectNothingWritten(store, () => poll(service, codes.device_code), 'authorization_pending')
    await pageOf(await browser.post('/device', { user_code: codes.user_code, action: 'allow' }), 200)

    const answer = await poll(service, codes.device_code)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const tokens = await tokensIn(answer)
    expect(tokens).toMatchObject({ token_type: 'Bearer', expires_in: 3_600, scope: 'openid email offline_access' })
    expect(claimsOf(tokens.id_token)).toMatchObject({ sub: ADA, aud: 'native', email: ADA, acr: 'urn:sluis:acr:directory' })
    expect(claimsOf(tokens.id_token)).not.toHaveProperty('nonce')
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect(await keysUnder(store, 'req.')).toEqual([])
    expect(auditedBesideRefusals(service).map(({ event, how }) => [event, how])).toEqual([
      ['signin.completed', 'picker'],
      ['device.allowed', undefined],
      ['session.opened', 'device'],
    ])
  })

  it('its session is refreshed and revoked as any other', async () => {
    const { service } = await startClients(engine)
    const first = await tokensIn(await poll(service, (await allowed(service)).device_code))
    const second = await refreshed(service, first.refresh_token, asNative)
    expect(claimsOf(second.id_token).sid).toBe(claimsOf(first.id_token).sid)
    expect((await refreshed(service, first.refresh_token, asNative)).refresh_token).toBe(second.refresh_token)
    expect((await revoke(service, second.refresh_token, asNative)).status).toBe(200)
    expect((await userinfo(service, second.access_token)).status).toBe(401)
    expect((await refresh(service, second.refresh_token, asNative)).status).toBe(400)
  })

  it('ten polls at once after the approval open one session, and end nothing', async () => {
    const { service, store } = await startClients(engine)
    const { device_code } = await allowed(service)
    const isolates = [service, startService(store)]
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => poll(isolates[n % 2] ?? service, device_code)))
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    for (const answer of answers) {
      if (answer.status !== 200) expect((await errorOf(answer, 400)).error).toMatch(/^(invalid_grant|expired_token)$/)
    }
    const tokens = await tokensIn(won[0] ?? new Response())
    expect(await keysUnder(store, 'ses.')).toHaveLength(1)
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    await expectNothingWritten(store, () => poll(service, device_code), 'expired_token')
    expect((await refresh(service, tokens.refresh_token, asNative)).status).toBe(200)
  })

  it('of two people who answer at once, one is heard', async () => {
    const { service, store } = await startClients(engine)
    const { device_code, user_code } = await beginDevice(service)
    const [ada, grace] = [new TestBrowser(service), new TestBrowser(startService(store))]
    for (const [browser, person] of [[ada, ADA] as const, [grace, GRACE] as const]) {
      await finishSignIn(browser, (await browser.post('/device', { user_code })).headers.get('location') ?? '', person)
    }
    const answers = await Promise.all([
      ada.post('/device', { user_code, action: 'allow' }),
      grace.post('/device', { user_code, action: 'deny' }),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    const polled = await poll(service, device_code)
    if (answers[0]?.status === 200) expect(claimsOf((await tokensIn(polled)).id_token).sub).toBe(ADA)
    else expect(await errorOf(polled, 400)).toMatchObject({ error: 'access_denied' })
  })
})

describe('RFC 8628 3.1: a device that begins', () => {
  it('draws codes that nobody has', async () => {
    const { service } = await startClients('memory')
    const begun = await Promise.all(Array.from({ length: 20 }, () => beginDevice(service)))
    expect(new Set(begun.flatMap(({ device_code, user_code }) => [device_code, user_code])).size).toBe(40)
  })

  it.each<[string, string | undefined, string]>([
    ['nothing', undefined, 'openid'],
    ['what there is and what there is not', 'openid admin email', 'openid email'],
    ['the same twice', 'email email', 'email'],
  ])('gets the scopes there are: asked for %s', async (_what, scope, granted) => {
    const { service } = await startClients('memory')
    const form = scope === undefined ? asNative : { ...asNative, scope }
    const codes = await (await post(service, '/device_authorization', form)).json<DeviceCodes>()
    await answerDevice(new TestBrowser(service), codes.user_code)
    const tokens = await tokensIn(await poll(service, codes.device_code))
    expect(tokens.scope).toBe(granted)
    expect(tokens).not.toHaveProperty('refresh_token')
  })

  it('RFC 8707 2: may name a resource', async () => {
    const { service } = await startClients('memory')
    const { device_code } = await allowed(service, { resource: API })
    const tokens = await tokensIn(await poll(service, device_code))
    expect(claimsOf(tokens.access_token).aud).toBe(API)
    expect((await refreshed(service, tokens.refresh_token, { ...asNative, resource: API })).scope).toBe('openid offline_access')
  })

  it.each<[string, Record<string, string>, Record<string, string>, string, number]>([
    ['as a client whose policy gives it no device flow', { client_id: 'demo' }, {}, 'unauthorized_client', 400],
    ['as a confidential one without', {}, basic('backend'), 'unauthorized_client', 400],
    ['as nobody', { client_id: 'nobody' }, {}, 'invalid_client', 401],
    ['without a client', {}, {}, 'invalid_request', 400],
    ['as a public client with a secret', { ...asNative, client_secret: 'x' }, {}, 'invalid_client', 401],
    ['for no scope there is', { ...asNative, scope: 'admin' }, {}, 'invalid_scope', 400],
    ['for a resource there is not', { ...asNative, resource: 'https://nowhere.acme.example' }, {}, 'invalid_target', 400],
  ])('%s is refused', async (_how, form, headers, error, status) => {
    const { service, store } = await startClients('memory')
    await expectNothingWritten(store, () => post(service, '/device_authorization', form, headers), error, status)
  })

  it('as a confidential client proves itself here and at every poll', async () => {
    const { service, store } = await startClients('memory', ({ policy }) => Object.assign(policy.clients.backend ?? {}, { device: true }))
    await expectNothingWritten(store, () => post(service, '/device_authorization', { client_id: 'backend' }), 'invalid_client', 401)
    const codes = await (await post(service, '/device_authorization', {}, basic('backend'))).json<DeviceCodes>()
    await answerDevice(new TestBrowser(service), codes.user_code)
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: codes.device_code }
    await expectNothingWritten(store, () => post(service, '/token', { ...form, client_id: 'backend' }), 'invalid_client', 401)
    expect((await post(service, '/token', form, basic('backend'))).status).toBe(200)
  })
})

describe('RFC 8628 3.5: a poll', () => {
  it('is access_denied once a person has refused, and stays so', async () => {
    const { service, store } = await startClients('memory')
    const { device_code, user_code } = await beginDevice(service)
    expect(await pageOf(await answerDevice(new TestBrowser(service), user_code, 'deny'), 200)).toContain('was not let in')
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'device.denied', subject: ADA, client: 'native' })
    for (let n = 0; n < 3; n++) await expectNothingWritten(store, () => poll(service, device_code), 'access_denied')
  })

  it.each(['pending', 'allowed', 'denied'])('is expired_token after ten minutes, where it was %s', async (state) => {
    const { service, store } = await startClients('memory')
    const { device_code, user_code } = await beginDevice(service)
    store.clock.advance(500)
    if (state !== 'pending') await answerDevice(new TestBrowser(service), user_code, state === 'allowed' ? 'allow' : 'deny')
    store.clock.advance(99)
    if (state === 'pending') await expectNothingWritten(store, () => poll(service, device_code), 'authorization_pending')
    store.clock.advance(1)
    await expectNothingWritten(store, () => poll(service, device_code), 'expired_token')
  })

  it('with the code of another client is refused, before and after the approval, and the code stays good', async () => {
    const { service, store } = await startClients('memory', ({ policy }) => Object.assign(policy.clients.backend ?? {}, { device: true }))
    const { device_code, user_code } = await beginDevice(service)
    const form = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code }
    await expectNothingWritten(store, () => post(service, '/token', form, basic('backend')), 'invalid_grant')
    await answerDevice(new TestBrowser(service), user_code)
    await expectNothingWritten(store, () => post(service, '/token', form, basic('backend')), 'invalid_grant')
    expect((await poll(service, device_code)).status).toBe(200)
  })

  it('by a client whose policy gives it no device flow is refused', async () => {
    const { service, store } = await startClients('memory')
    const { device_code } = await allowed(service)
    await expectNothingWritten(store, () => poll(service, device_code, { client_id: 'demo' }), 'unauthorized_client')
    const strict = startService(redeployed(store, ({ policy }) => Object.assign(policy.clients.native ?? {}, { device: false })))
    await expectNothingWritten(store, () => poll(strict, device_code), 'unauthorized_client')
    expect((await poll(service, device_code)).status).toBe(200)
  })

  it.each<[string, (codes: DeviceCodes) => string, string]>([
    ['a word', () => 'garbage', 'invalid_grant'],
    ['the user code', ({ user_code }) => user_code, 'invalid_grant'],
    ['a code cut short', ({ device_code }) => device_code.slice(0, -1), 'invalid_grant'],
    ['a code without its prefix', ({ device_code }) => device_code.slice(4), 'invalid_grant'],
    ['a code that could be one', () => `sld_${'A'.repeat(43)}`, 'expired_token'],
  ])('with %s is refused', async (_what, presented, error) => {
    const { service, store } = await startClients('memory')
    const codes = await allowed(service)
    await expectNothingWritten(store, () => poll(service, presented(codes)), error)
  })

  it('with a device code of another instance is refused', async () => {
    const [here, elsewhere] = [await startClients('memory'), await startClients('memory')]
    const { device_code } = await allowed(elsewhere.service)
    await expectNothingWritten(here.store, () => poll(here.service, device_code), 'expired_token')
  })

  it('without a code, and with two, is refused', async () => {
    const { service } = await startClients('memory')
    const form = 'grant_type=urn:ietf:params:oauth:grant-type:device_code&client_id=native'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const more of ['', '&device_code=', '&device_code=a&device_code=b']) {
      const answer = await service.fetch('/token', { method: 'POST', body: form + more, headers })
      expect(await errorOf(answer, 400)).toMatchObject({ error: 'invalid_request' })
    }
  })

  it('is slow_down where it comes too often, per device code, and writes nothing', async () => {
    const { service, store } = await startClients('memory')
    const binding = allowing(3)
    limit(service, 'devicePoll', binding)
    const [hasty, patient] = [await beginDevice(service), await beginDevice(service)]
    for (let n = 0; n < 3; n++) await expectNothingWritten(store, () => poll(service, hasty.device_code), 'authorization_pending')
    for (let n = 0; n < 2; n++) await expectNothingWritten(store, () => poll(service, hasty.device_code), 'slow_down')
    await expectNothingWritten(store, () => poll(service, patient.device_code), 'authorization_pending')
    expect(new Set(binding.keys)).toEqual(new Set([await sha256Hex(hasty.device_code), await sha256Hex(patient.device_code)]))

    await answerDevice(new TestBrowser(service), hasty.user_code)
    await expectNothingWritten(store, () => poll(service, hasty.device_code), 'slow_down')
    binding.passes()
    expect((await poll(service, hasty.device_code)).status).toBe(200)
  })

  it('is refused where the policy has stopped admitting the person since, and writes nothing', async () => {
    const { service, store } = await startClients('memory')
    const { device_code } = await allowed(service, {}, KATHERINE)
    const strict = startService(
      redeployed(store, ({ policy }) => Object.assign(policy.clients.native ?? {}, { requires: ['app:backend:user'] })),
    )
    await expectNothingWritten(store, () => poll(strict, device_code), 'invalid_grant')
    expect((await poll(service, device_code)).status).toBe(200)
  })
})

describe('a device’s session', () => {
  it('rests on no sign-in: another person in the browser that allowed it leaves it', async () => {
    const { service } = await startClients('memory')
    const { device_code, user_code } = await beginDevice(service)
    const browser = new TestBrowser(service)
    await answerDevice(browser, user_code)
    const tokens = await tokensIn(await poll(service, device_code))
    await signIn(browser, {}, GRACE)
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect((await refresh(service, tokens.refresh_token, asNative)).status).toBe(200)
  })

  it.each([
    ['everything has been ended on the account page', (browser: TestBrowser) => browser.post('/account', { everything: 'yes' })],
    ['its person has been ended', (browser: TestBrowser) => browser.ask('DELETE', `/api/sessions?person=${encodeURIComponent(ADA)}`)],
  ])('is not opened where %s since it was allowed', async (_what, end) => {
    const { service, store } = await startClients('memory')
    const { device_code, user_code } = await beginDevice(service)
    const browser = new TestBrowser(service)
    await answerDevice(browser, user_code)
    expect((await end(browser)).status).toBe(200)
    expect(await errorOf(await poll(service, device_code), 400)).toMatchObject({ error: 'invalid_grant' })
    expect(Object.keys(await contents(store)).filter((key) => /^(?:ses|rt|sid|tok)\./.test(key))).toEqual([])
  })

  it('has the time of the sign-in it was allowed under, and ends a day after that', async () => {
    const { service, store } = await startClients('memory')
    const { device_code, user_code } = await beginDevice(service)
    const browser = new TestBrowser(service)
    await finishSignIn(browser, (await browser.post('/device', { user_code })).headers.get('location') ?? '')
    store.clock.advance(200)
    await browser.post('/device', { user_code, action: 'allow' })
    store.clock.advance(100)
    let tokens = await tokensIn(await poll(service, device_code))
    const signedIn = store.clock.now() / 1000 - 300
    expect(claimsOf(tokens.id_token).auth_time).toBe(signedIn)
    for (const _ of [1, 2]) {
      store.clock.advance(41_400)
      tokens = await refreshed(service, tokens.refresh_token, asNative)
    }
    store.clock.advance(3_300 - 1)
    tokens = await refreshed(service, tokens.refresh_token, asNative)
    expect(claimsOf(tokens.access_token).exp).toBe(signedIn + 86_400)
    store.clock.advance(1)
    expect((await refresh(service, tokens.refresh_token, asNative)).status).toBe(400)
  })
})
