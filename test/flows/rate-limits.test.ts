import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { compose, type Env } from '../../src/compose.ts'
import type { RateLimitBinding } from '../../src/http/rate-limit.ts'
import type { Limits } from '../../src/issuer/issuer.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { errorOf, pageOf } from './answers.ts'
import { ADA, answerDevice, at, basic, beginDevice, introspected, poll, post, refresh, refreshed, revoke, startClients } from './clients.ts'
import { authorizeUrl, contents, exchange, random, signIn, TestBrowser, testClock, testStore, userinfo } from './harness.ts'
import { allowing, limit } from './limits.ts'

const unreachable: RateLimitBinding = { limit: () => Promise.reject(new Error('192.0.2.1')) }

function from(address: string): Record<string, string> {
  return { 'cf-connecting-ip': address }
}

describe('TOKEN, at the token endpoint', () => {
  it('RFC 6585 4: is 429 with Retry-After to who asks too often, and spends nothing', async () => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await at(service, 'demo')
    const binding = allowing(2)
    limit(service, 'token', binding)
    const code = (await signIn(new TestBrowser(service))).searchParams.get('code') ?? ''
    for (const token of ['a', 'b']) expect((await refresh(service, token, {}, from('192.0.2.1'))).status).toBe(400)
    const before = await contents(store)
    for (const answer of [
      await refresh(service, refresh_token, {}, from('192.0.2.1')),
      await exchange(service, code, {}, from('192.0.2.1')),
    ]) {
      expect(answer.headers.get('retry-after')).toBe('60')
      expect(answer.headers.get('access-control-allow-origin')).toBe('*')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(await errorOf(answer, 429)).toMatchObject({ error: 'too_many_requests' })
    }
    expect(await contents(store)).toEqual(before)
    binding.passes()
    expect((await refresh(service, refresh_token, {}, from('192.0.2.1'))).status).toBe(200)
    expect((await exchange(service, code, {}, from('192.0.2.1'))).status).toBe(200)
  })

  it('counts by client and address, however the client says who it is, proved or not', async () => {
    const { service } = await startClients('memory')
    const binding = allowing(100)
    limit(service, 'token', binding)
    await refresh(service, 'x', {}, from('192.0.2.1'))
    await refresh(service, 'x', { client_id: 'native' }, from('192.0.2.1'))
    await refresh(service, 'x', {}, from('192.0.2.2'))
    await post(service, '/token', { grant_type: 'refresh_token', refresh_token: 'x' }, { ...basic('backend'), ...from('2001:db8::1') })
    await refresh(service, 'x', { client_id: 'nobody' }, from('2001:db8:0:1::1'))
    await beginDevice(service)
    expect(binding.keys).toEqual([
      'demo 192.0.2.1',
      'native 192.0.2.1',
      'demo 192.0.2.2',
      'backend 2001:db8:0:0',
      'nobody 2001:db8:0:1',
      'native unknown',
    ])
  })

  it('of one client and address leaves every other alone', async () => {
    const { service } = await startClients('memory')
    limit(service, 'token', allowing(1))
    const statuses = async (changes: Record<string, string>, address: string) =>
      (await refresh(service, 'x', changes, from(address))).status
    expect([await statuses({}, '192.0.2.1'), await statuses({}, '192.0.2.1')]).toEqual([400, 429])
    expect([await statuses({}, '192.0.2.2'), await statuses({ client_id: 'native' }, '192.0.2.1')]).toEqual([400, 400])
  })

  it('brakes guesses of a secret before the secret is looked at', async () => {
    const { service } = await startClients('memory')
    limit(service, 'token', allowing(6)) // a wrong one counts as a request and as a guess
    const guess = async (client_secret: string) => (await refresh(service, 'x', { client_id: 'backend', client_secret })).status
    expect([await guess('a'), await guess('b'), await guess('c'), await guess('d'), await guess('secret of backend')]).toEqual([
      401, 401, 401, 429, 429,
    ])
  })

  it.each(['/introspect', '/revoke'])('brakes guesses of a secret at %s too, and never who has it', async (path) => {
    const { service } = await startClients('memory')
    const binding = allowing(3)
    limit(service, 'token', binding)
    const ask = async (client_secret: string) => (await post(service, path, { token: 'x', client_id: 'backend', client_secret })).status
    for (let n = 0; n < 5; n++) expect(await ask('secret of backend')).toBe(200)
    expect(binding.keys).toEqual([])
    expect([await ask('a'), await ask('b'), await ask('c'), await ask('d'), await ask('secret of backend')]).toEqual([
      401, 401, 401, 429, 200,
    ])
  })

  it('leaves a device that polls to its own limiter', async () => {
    const { service } = await startClients('memory')
    const { device_code } = await beginDevice(service)
    limit(service, 'token', allowing(0))
    expect(await errorOf(await poll(service, device_code), 400)).toMatchObject({ error: 'authorization_pending' })
    expect((await post(service, '/device_authorization', { client_id: 'native' })).status).toBe(429)
  })

  it('keeps no access token and no revocation waiting', async () => {
    const { service } = await startClients('memory')
    const tokens = await at(service, 'backend')
    limit(service, 'token', allowing(0))
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect(await introspected(service, tokens.access_token, 'backend')).toMatchObject({ active: true })
    expect((await revoke(service, tokens.refresh_token, { client_id: 'backend' }, basic('backend'))).status).toBe(200)
  })
})

describe('SIGN_IN, where people sign in', () => {
  it('counts what failed, by address and never by account, and says when to come again', async () => {
    const { service, store } = await startClients('memory')
    const binding = allowing(10)
    limit(service, 'signIn', binding)
    const browser = new TestBrowser(service)
    const pick = (form: Record<string, string>) =>
      browser.post('/login/picker', form, { ...from('192.0.2.1'), 'sec-fetch-site': 'same-origin' })
    for (let n = 0; n < 5; n++) await pageOf(await pick({ auth: 'A'.repeat(22), person: ADA }), 400)
    for (let n = 0; n < 5; n++) await pageOf(await pick({ auth: 'A'.repeat(22), person: `p${n}@acme.example` }), 400)
    const before = await contents(store)
    for (const person of [ADA, 'mallory@evil.example']) {
      const answer = await pick({ auth: 'A'.repeat(22), person })
      expect(answer.headers.get('retry-after')).toBe('60')
      expect(await pageOf(answer, 429)).toContain('Too many attempts')
    }
    expect(await contents(store)).toEqual(before)
    expect(new Set(binding.keys)).toEqual(new Set(['192.0.2.1']))
  })

  it('keeps nobody from signing in, also from an address that has failed too often', async () => {
    const { service } = await startClients('memory')
    const binding = allowing(0)
    limit(service, 'signIn', binding)
    for (let n = 0; n < 20; n++) expect((await signIn(new TestBrowser(service))).searchParams.get('code')).toMatch(/^slc_/)
    expect(binding.keys).toEqual([])
  })
})

describe('a limiter that can not be reached', () => {
  it('stops no flow, and is told of, without the address or the person', async () => {
    const { service } = await startClients('memory')
    for (const name of ['token', 'userCode', 'signIn', 'devicePoll'] as const) limit(service, name, unreachable)
    const { refresh_token } = await at(service, 'demo')
    await refreshed(service, refresh_token)
    const { device_code, user_code } = await beginDevice(service)
    await answerDevice(new TestBrowser(service), user_code)
    expect((await poll(service, device_code)).status).toBe(200)
    await pageOf(await new TestBrowser(service).post('/login/picker', { auth: 'A'.repeat(22), person: ADA }), 400)

    const told = service.logs.filter((line) => line.includes('rate_limit.unreachable'))
    expect(new Set(told.map((line) => JSON.parse(line).kind))).toEqual(new Set(['token', 'userCode', 'signIn', 'devicePoll']))
    expect(told.join('\n')).not.toMatch(/192\.0\.2\.1|ada@|acme\.example/)
  })
})

describe('the bindings of the Worker', () => {
  it.each<[keyof Limits, 'TOKEN' | 'USER_CODE' | 'SIGN_IN' | 'DEVICE_POLL', number]>([
    ['token', 'TOKEN', 60],
    ['userCode', 'USER_CODE', 60],
    ['signIn', 'SIGN_IN', 60],
    ['devicePoll', 'DEVICE_POLL', 10],
  ])('%s is %s, over %i s', async (name, binding, period) => {
    const bindings = env as unknown as Env
    expect(bindings[binding]).toHaveProperty('limit')
    const counted = allowing(1)
    const clock = testClock()
    const { documents } = testStore('memory')
    const { limits } = compose({ ...bindings, [binding]: counted }, documents, { clock, random, fetch, log: noLog, write() {} }).issuer
    expect([limits[name].period, await limits[name].allows('a'), await limits[name].allows('a')]).toEqual([period, true, false])
    expect(counted.keys).toEqual(['a', 'a'])
  })

  it('may be missing: then nothing is limited', async () => {
    const { documents } = testStore('memory')
    const { TOKEN: _, USER_CODE: _2, SIGN_IN: _3, DEVICE_POLL: _4, ...bindings } = env as unknown as Env
    const { limits } = compose(bindings, documents, { clock: testClock(), random, fetch, log: noLog, write() {} }).issuer
    for (const { allows } of Object.values(limits)) expect(await allows('a')).toBe(true)
  })
})

it('a page that is not limited stays so: the authorization endpoint asks no limiter', async () => {
  const { service } = await startClients('memory')
  const bindings = (['token', 'userCode', 'signIn', 'devicePoll'] as const).map((name) => {
    const binding = allowing(0)
    limit(service, name, binding)
    return binding
  })
  expect((await service.fetch(await authorizeUrl())).status).toBe(303)
  expect((await service.fetch('/keys')).status).toBe(200)
  expect(bindings.flatMap(({ keys }) => keys)).toEqual([])
})
