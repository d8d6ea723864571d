import { describe, expect, it } from 'vitest'
import { type Engine, engines, exchange, testStore } from '../flows/harness.ts'
import {
  codeIn,
  EXCHANGE_CALLS,
  freshCode,
  INVALID_GRANT,
  pick,
  range,
  redeem,
  redemption,
  roaming,
  waitingRequest,
  warmIsolate,
} from './arrange.ts'
import { gaps } from './between-calls.ts'
import { faultsOn, misfortune } from './faults.ts'
import { accepted, isSignedIn, sessionsOf, signedTokens, signInOfCode } from './observe.ts'
import { endSessionsUnder, endSignIn } from './sign-out.ts'

/** After which call the sign-in is marked as ended, and after which its sessions are: every pair in memory, on objects at once or at last. */
const moments: Record<Engine, [number, number][]> = {
  memory: range(0, EXCHANGE_CALLS).flatMap((mark) => range(mark, EXCHANGE_CALLS + 1).map((end): [number, number] => [mark, end])),
  'durable-object': range(0, EXCHANGE_CALLS).map((mark) => [mark, mark % 2 === 0 ? mark : EXCHANGE_CALLS + 1]),
  dynamodb: range(0, EXCHANGE_CALLS).map((mark) => [mark, mark % 2 === 0 ? mark : EXCHANGE_CALLS + 1]),
}

describe.each(engines)('a sign-out on %s', (engine) => {
  it('that comes into an exchange leaves no session and no token that is accepted, whenever it comes', async () => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    for (const [mark, end] of moments[engine]) {
      const between = gaps()
      const service = await warmIsolate(store, between.wrap)
      const signed = signedTokens(service)
      const code = await freshCode(judge)
      const signIn = await signInOfCode(judge, code)
      between.after(mark, () => endSignIn(judge, signIn))
      between.after(end, () => endSessionsUnder(judge, signIn))

      const answer = await redemption(await exchange(service, code))
      expect(between.calls.length).toBeGreaterThanOrEqual(EXCHANGE_CALLS)
      if (end > between.calls.length) await endSessionsUnder(judge, signIn)

      // Ended before the exchange read it: nothing was handed out. After that: the sign-out found what was opened.
      expect(answer).toMatchObject(mark < EXCHANGE_CALLS ? INVALID_GRANT : { status: 200 })
      expect(signed).toHaveLength(1)
      expect(await accepted(judge, signed)).toEqual([])
      expect(await sessionsOf(judge)).toEqual([])
      expect(await redeem(judge, code)).toMatchObject(INVALID_GRANT)
    }
  })

  it('that comes into a renewal ends the sign-in for good, whenever it comes', async () => {
    const store = testStore(engine)
    const sound = await warmIsolate(store)
    for (let nth = 0, came = true; came; nth++) {
      const between = gaps()
      const service = await warmIsolate(store, between.wrap)
      const { browser, moveTo } = roaming(sound)
      const signIn = await signInOfCode(sound, await freshCode(sound, browser))
      const auth = await waitingRequest(browser)
      moveTo(service)
      between.after(nth, () => endSignIn(sound, signIn))
      const code = codeIn(await pick(browser, auth))
      came = between.calls.length >= nth
      if (!came) await endSignIn(sound, signIn)

      expect({ nth, live: await isSignedIn(sound, signIn) }).toEqual({ nth, live: false })
      if (code !== null && (await signInOfCode(sound, code)) === signIn) expect(await redeem(sound, code)).toMatchObject(INVALID_GRANT)
    }
  })

  it.each(faultsOn[engine])(
    'before an exchange whose store %s at any call leaves no session once the client has tried again',
    async (fault) => {
      const store = testStore(engine)
      const judge = await warmIsolate(store)
      const luck = misfortune()
      const victim = await warmIsolate(store, luck.wrap)
      for (let nth = 1, struck = true; struck; nth++) {
        const code = await freshCode(judge)
        await endSignIn(judge, await signInOfCode(judge, code))

        luck.strikes(fault, nth)
        const answer = await redemption(await luck.outcome(exchange(victim, code)))
        struck = luck.calls.length >= nth
        if (!struck) expect(answer).toMatchObject(INVALID_GRANT)
        expect(await redeem(judge, code)).toMatchObject(INVALID_GRANT)
        expect({ nth, sessions: (await sessionsOf(judge)).length }).toEqual({ nth, sessions: 0 })
      }
    },
  )
})
