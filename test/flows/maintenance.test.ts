import { beforeAll, describe, expect, it } from 'vitest'
import { runMaintenance } from '../../src/ops/maintenance.ts'
import { createRunner } from '../../src/ticks/runner.ts'
import { handTime } from '../conformance/hand-time.ts'
import { waitingRequest, warmIsolate } from '../crash/arrange.ts'
import { countCalls } from '../crash/count-calls.ts'
import { fakeObject } from '../crash/runner-builders.ts'
import { post, refresh } from './clients.ts'
import {
  authorizeUrl,
  contents,
  engines,
  exchange,
  random,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  testStore,
  userinfo,
} from './harness.ts'

/** What the operator's command does, with the State the command opens. */
async function flag(store: TestStore, service: TestService, command: 'on' | 'off' | 'status'): Promise<Record<string, unknown>> {
  const { clock, documents } = store
  // An engine whose Worker never writes the flag has it written by another's State.
  const { restore = null } = store.adapters()
  if (restore === null) throw new Error(`${documents.service.instance} has no restore role here`)
  return runMaintenance(
    { command: `maintenance.${command}`, module: 'oidc' },
    { maintenance: restore, clock, audit: service.services.issuer.audit, log: service.services.issuer.log },
  )
}

describe.each(engines.filter((engine) => engine !== 'dynamodb'))('under maintenance, on %s', (engine) => {
  let store: TestStore
  let service: TestService
  let tokens: Tokens
  let browser: TestBrowser
  let signedInBrowser: TestBrowser
  let auth: string
  let code: string
  let before: Record<string, string>

  beforeAll(async () => {
    store = testStore(engine)
    service = await warmIsolate(store)
    await service.services.issuer.keyring.keySet()
    await service.services.readiness.guard()
    tokens = await signedIn(service)
    browser = new TestBrowser(service)
    auth = await waitingRequest(browser)
    signedInBrowser = new TestBrowser(service)
    code = (await signIn(signedInBrowser)).searchParams.get('code') ?? ''
    await flag(store, service, 'on')
    store.clock.advance(10)
    before = await contents(store)
  })

  const refused: [string, () => Promise<Response>][] = [
    ['a sign-in', () => browser.post('/login/picker', { auth, person: 'ada@acme.example' })],
    ['a code exchange', () => exchange(service, code)],
    ['a refresh', () => refresh(service, tokens.refresh_token)],
    ['a device', () => post(service, '/device_authorization', { client_id: 'native' })],
    ['a revocation', () => post(service, '/revoke', { token: tokens.refresh_token, client_id: 'demo' })],
    ['a sign-out', () => signedInBrowser.post('/logout', {})],
  ]

  it.each(refused)('%s is answered 503 with Retry-After, in words, and nothing is written', async (_, ask) => {
    const answer = await ask()
    expect(answer.status, await answer.clone().text()).toBe(503)
    expect(answer.headers.get('retry-after')).toBe('30')
    expect(await answer.text()).toMatch(/being worked on/)
    expect(await contents(store)).toEqual(before)
  })

  it('an authorization request goes back to its client, as for any store that is away', async () => {
    const answer = await service.fetch(await authorizeUrl(), { headers: { accept: 'text/html' } })
    expect(answer.headers.get('location')).toContain('error=temporarily_unavailable')
    expect(await contents(store)).toEqual(before)
  })

  it('reads, discovery and keys go on, and readiness says so without failing', async () => {
    expect((await userinfo(service, tokens.access_token)).status).toBe(200)
    expect((await service.fetch('/.well-known/openid-configuration')).status).toBe(200)
    expect((await service.fetch('/keys')).status).toBe(200)
    const ready = await service.fetch('/readyz')
    expect(ready.status).toBe(200)
    expect(await ready.json<{ warnings: string[] }>()).toMatchObject({
      warnings: [expect.stringContaining('maintenance: module oidc writes nothing')],
    })
  })

  it('a tick is skipped before it takes its lease, unless it has nothing to do anyway', async () => {
    const time = handTime()
    const object = fakeObject(time)
    const { log } = service.services.issuer
    const runner = createRunner({
      ...{ memory: object.memory, clock: time.clock, timer: time.timer, random, log },
      ticks: () => service.services.ticks,
      subrequests: () => 800,
    })
    const run = async (kind: string) => {
      await runner.poke({ kind, target: 'all', due: time.clock.now() })
      await object.fire(runner)
      return (await runner.status())?.last?.outcome
    }
    expect(await run('logout')).toBe('ran')
    const keyring = { ...service.services.ticks.fixed.find(({ kind }) => kind === 'keyring') }
    expect(await keyring.paused?.()).toBe(true)
    expect(await contents(store)).toEqual(before)
  })

  it('once lifted, everything that waited goes on within 10 s: the code, the sign-in and the refresh token are as good as before', async () => {
    expect(await flag(store, service, 'on')).toMatchObject({ set: true, changed: false, by: 'operator' })
    expect(await flag(store, service, 'off')).toEqual({ set: false, changed: true })
    expect(await flag(store, service, 'off')).toEqual({ set: false, changed: false })
    expect(await flag(store, service, 'status')).toEqual({ set: false })
    store.clock.advance(10)
    expect((await exchange(service, code)).status).toBe(200)
    expect((await refresh(service, tokens.refresh_token)).status).toBe(200)
    expect((await browser.post('/login/picker', { auth, person: 'ada@acme.example' })).headers.get('location')).toContain('code=')
  })
})

describe('what the flag costs a flow', () => {
  it('is no round: it is read beside the first read, when it is old', async () => {
    const store = testStore('memory')
    const counter = countCalls()
    const service = await warmIsolate(store, counter.wrap)
    const { refresh_token } = await signedIn(service)
    store.clock.advance(30)
    counter.reset()
    expect((await refresh(service, refresh_token)).status).toBe(200)
    expect(counter.count().rounds).toBe(3)
  })
})

describe('a flag set between any two calls of a flow', () => {
  it('loses nothing: once lifted the same refresh goes through', async () => {
    for (let nth = 1; nth <= 6; nth++) {
      const store = testStore('memory')
      const plain = await warmIsolate(store)
      const { refresh_token } = await signedIn(plain)
      let calls = 0
      const service = startService(store, (adapters) => {
        const state = adapters.state
        const strike = async <T>(call: () => Promise<T>): Promise<T> => {
          if (++calls === nth) await flag(store, plain, 'on')
          return call()
        }
        return {
          ...adapters,
          state: {
            ...state,
            get: (key, options) => (key === 'rec.maintenance' ? state.get(key) : strike(() => state.get(key, options))),
            create: (...call) => strike(() => state.create(...call)),
            update: (...call) => strike(() => state.update(...call)),
          },
        }
      })
      await service.services.issuer.keyring.keySet()
      calls = 0
      const first = await refresh(service, refresh_token)
      await flag(store, plain, 'off')
      store.clock.advance(10)
      const token = first.status === 200 ? (await first.json<Tokens>()).refresh_token : refresh_token
      expect((await refresh(service, token)).status, `struck at call ${nth}, first answered ${first.status}`).toBe(200)
    }
  })
})
