import { describe, expect, it } from 'vitest'
import { type Engine, engines, exchange, TestBrowser, testClock, testStore } from '../flows/harness.ts'
import {
  codeIn,
  EXCHANGE_CALLS,
  freshCode,
  GRACE,
  handedOut,
  INVALID_GRANT,
  pick,
  redeem,
  redemption,
  waitingRequest,
  warmIsolate,
} from './arrange.ts'
import { gaps } from './between-calls.ts'
import { accepted, sessionsOf, signedTokens } from './observe.ts'

/** seconds */
const HOUR = 3_600
const steps = [-HOUR, 0, HOUR]

/** seconds: a request waits for half an hour, a code for five minutes, a token is good for an hour (config/policy.json) */
const REQUEST = 1_800
const CODE = 300
const TOKEN = 3_600

const pairs = steps.flatMap((a) => steps.map((b): [number, number] => [a, b]))

describe.each(engines)('a clock that steps between the parts of a flow on %s', (engine) => {
  it.each(pairs)('by %d s and then by %d s refuses what is past its limit, and nothing else', async (beforeCompletion, beforeExchange) => {
    for (const beforeUse of steps) {
      const { clock, ...store } = testStore(engine)
      const service = await warmIsolate({ clock, ...store })
      const browser = new TestBrowser(service)
      const auth = await waitingRequest(browser)

      clock.advance(beforeCompletion)
      const completed = await pick(browser, auth)
      expect(completed.status).toBe(beforeCompletion < REQUEST ? 303 : 400)
      if (completed.status !== 303) continue

      clock.advance(beforeExchange)
      const answer = await redemption(await exchange(service, codeIn(completed) ?? ''))
      const good = beforeExchange < CODE
      expect(answer).toMatchObject(good ? { status: 200 } : INVALID_GRANT)
      if (!good) continue

      clock.advance(beforeUse)
      expect(await accepted(service, handedOut(answer))).toHaveLength(beforeUse < TOKEN ? 1 : 0)
    }
  })

  it.each(pairs)('by %d s before an exchange and by %d s after it lets the code be redeemed once', async (before, after) => {
    const store = testStore(engine)
    const service = await warmIsolate(store)
    const code = await freshCode(service)
    store.clock.advance(before)
    const first = await redeem(service, code)
    store.clock.advance(after)
    const second = await redeem(service, code)

    expect(handedOut(first, second).length).toBeLessThanOrEqual(1)
    if (handedOut(first).length === 0) return
    expect(await accepted(service, handedOut(first))).toEqual([])
    // The tombstone stands as long as the token it names; the session of a code that comes back later is left alone.
    if (after < TOKEN) expect(await sessionsOf(service)).toEqual([])
  })
})

/** Port calls of a completion in a browser that has another person's sign-in. */
const COMPLETION_CALLS = 10

describe.each(engines)('a clock that steps within a flow on %s', (engine) => {
  it.each(steps.filter((step) => step !== 0))('by %d s leaves a completion answered or refused', async (step) => {
    for (let nth = 0; nth <= COMPLETION_CALLS; nth++) {
      const { store, sound, between, service } = await apart(engine)
      const browser = new TestBrowser(service)
      await freshCode(sound, browser, GRACE)
      const auth = await waitingRequest(browser)
      between.after(nth, () => store.clock.advance(step))
      expect((await pick(browser, auth)).status).toBeOneOf([303, 400, 409])
    }
  })

  it.each(steps.filter((step) => step !== 0))('by %d s leaves an exchange answered or refused, and no token past its end', async (step) => {
    const statuses = []
    for (let nth = 0; nth <= EXCHANGE_CALLS; nth++) {
      const { store, sound, between, service } = await apart(engine)
      const signed = signedTokens(service)
      const code = await freshCode(sound)
      between.after(nth, () => store.clock.advance(step))
      const answer = await redemption(await exchange(service, code))
      statuses.push(answer === 'stopped' ? 0 : answer.status)
      if (handedOut(answer).length === 0) expect(await accepted(sound, signed)).toEqual([])
      store.clock.advance(TOKEN - Math.min(step, 0))
      expect(await accepted(sound, signed)).toEqual([])
    }
    expect(statuses.filter((status) => ![200, 400, 503].includes(status))).toEqual([])
  })
})

async function apart(engine: Engine) {
  const store = testStore(engine)
  const between = gaps()
  return { store, between, sound: await warmIsolate(store), service: await warmIsolate(store, between.wrap) }
}

describe('the absolute limit', () => {
  it('that is reached within an exchange is a refusal or an answer, not an error', async () => {
    for (let nth = 0; nth <= EXCHANGE_CALLS; nth++) {
      const clock = testClock()
      const store = testStore('memory', {
        clock,
        edit: ({ policy }) => Object.assign(policy.lifetimes, { token: 60, refresh: 60, absolute: 120, hold: 60 }),
      })
      const between = gaps()
      const [sound, service] = [await warmIsolate(store), await warmIsolate(store, between.wrap)]
      const code = await freshCode(sound)
      clock.advance(119)
      between.after(nth, () => clock.advance(1))
      expect(await redemption(await exchange(service, code))).toMatchObject({ status: expect.toBeOneOf([200, 400]) })
    }
  })

  it("lets another person sign in in the second in which the first one's sign-in ends", async () => {
    const clock = testClock(Date.UTC(2026, 10, 30, 12, 0, 0, 500)) // seconds are rounded up for records, and down for claims
    const service = await warmIsolate(testStore('memory', { clock }))
    const browser = new TestBrowser(service)
    await freshCode(service, browser)
    clock.advance(24 * HOUR)
    const auth = await waitingRequest(browser)
    expect((await pick(browser, auth, GRACE)).status).toBe(303)
  })
})
