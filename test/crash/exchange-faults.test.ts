import { describe, expect, it } from 'vitest'
import type { Op } from '../../src/adapters/durable-object/protocol.ts'
import { connectionLost, type Fate, type ShardNetwork, shardNetwork } from '../conformance/shard-network.ts'
import { type Engine, engines, exchange, testStore } from '../flows/harness.ts'
import { EXCHANGE_CALLS, freshCode, handedOut, INVALID_GRANT, range, redeem, redemption, warmIsolate } from './arrange.ts'
import { gaps } from './between-calls.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { accepted, sessionsOf, signedTokens, standing } from './observe.ts'

/** A client's first try at an exchange, on an isolate whose nth port call has the fault. */
async function firstTries(engine: Engine, fault: Fault) {
  const store = testStore(engine)
  const judge = await warmIsolate(store)
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  const signed = signedTokens(victim)
  async function firstTry(nth: number) {
    const code = await freshCode(judge)
    const before = (await sessionsOf(judge)).length
    luck.strikes(fault, nth)
    const answer = await redemption(await luck.outcome(exchange(victim, code)))
    const created = luck.calls.filter(({ method }) => method === 'create').map(({ on }) => on)
    return { code, answer, before, left: await standing(judge, created) }
  }
  return { judge, signed, firstTry }
}

describe.each(engines)('an exchange on %s', (engine) => {
  it.each(faultsOn[engine])(
    'whose store %s at any call ends in tokens or in invalid_grant, and nothing undelivered is accepted',
    async (fault) => {
      const { judge, signed, firstTry } = await firstTries(engine, fault)
      for (let nth = 1; nth <= EXCHANGE_CALLS; nth++) {
        const { code, answer, before } = await firstTry(nth)
        if (fault === 'stops') expect(answer).toBe('stopped')
        else expect(answer).toMatchObject({ status: 503, error: 'temporarily_unavailable' })

        const retried = await redeem(judge, code)
        const tokens = handedOut(retried)
        if (tokens.length === 0) expect(retried).toMatchObject(INVALID_GRANT)
        expect(await accepted(judge, signed)).toEqual([]) // nobody was handed what the first tries signed
        expect(await accepted(judge, tokens)).toEqual(tokens)
        expect(await sessionsOf(judge)).toHaveLength(before + tokens.length)

        const anew = handedOut(await redeem(judge, await freshCode(judge)))
        expect(await accepted(judge, anew)).toHaveLength(1)
      }
    },
  )

  it.each(['loses the answer', 'fails'] as const)('whose store %s once leaves nothing, and its code is good again', async (fault) => {
    const { judge, firstTry } = await firstTries(engine, fault)
    for (let nth = 1; nth <= EXCHANGE_CALLS; nth++) {
      const { code, answer, left } = await firstTry(nth)
      expect(answer).toMatchObject({ status: 503 })
      expect(left).toEqual([])
      expect(await redemption(await exchange(judge, code))).toMatchObject({ status: 200 })
    }
  })

  it('whose process stops leaves what it had written, and a replay ends the session among it', async () => {
    const { judge, firstTry } = await firstTries(engine, 'stops')
    for (let nth = 2; nth <= EXCHANGE_CALLS; nth++) {
      const { code, left, before } = await firstTry(nth)
      const written = ['issuer:code-spent:', 'ses.', 'sid.', 'tok.', 'rt.'].slice(0, nth - 1)
      expect(left.map((key) => written.find((prefix) => key.startsWith(prefix)))).toEqual(written)

      expect(await redemption(await exchange(judge, code))).toMatchObject(INVALID_GRANT)
      expect(await sessionsOf(judge)).toHaveLength(before)
      // What else may lie there until it expires: the tombstone, the ended mark, and a pointer and a refresh token that name it.
      expect(await standing(judge, left)).toEqual(left.filter((key) => !key.startsWith('tok.')))
    }
  })
})

describe.each(engines)('a replay on %s', (engine) => {
  it.each(faultsOn[engine])('whose store %s at any call ends what the code opened once it is tried again', async (fault) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    const luck = misfortune()
    const victim = await warmIsolate(store, luck.wrap)
    for (let nth = 1, struck = true; struck; nth++) {
      const code = await freshCode(judge)
      const tokens = handedOut(await redemption(await exchange(judge, code)))
      expect(await accepted(judge, tokens)).toHaveLength(1)

      luck.strikes(fault, nth)
      const answer = await redemption(await luck.outcome(exchange(victim, code)))
      struck = luck.calls.length >= nth
      if (!struck) expect(answer).toMatchObject(INVALID_GRANT)
      else if (fault === 'stops') expect(answer).toBe('stopped')
      else expect(answer).toMatchObject({ status: 503 })

      expect(await redeem(judge, code)).toMatchObject(INVALID_GRANT)
      expect(await accepted(judge, tokens)).toEqual([])
      expect(await sessionsOf(judge)).toEqual([])
    }
  })

  it('that comes into an exchange which then fails is final: no undo brings the code or the session back', async () => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    // After the tombstone stands (2) and before the last call that can fail.
    for (let replayed = 2; replayed < EXCHANGE_CALLS; replayed++) {
      for (const nth of engine === 'memory' ? range(replayed + 1, EXCHANGE_CALLS) : [EXCHANGE_CALLS]) {
        const [luck, between] = [misfortune(), gaps()]
        const victim = await warmIsolate(store, (adapters) => luck.wrap(between.wrap(adapters)))
        const signed = signedTokens(victim)
        const code = await freshCode(judge)
        between.after(replayed, async () => expect(await redemption(await exchange(judge, code))).toMatchObject(INVALID_GRANT))
        luck.strikes('fails', nth)

        expect(await redemption(await exchange(victim, code))).toMatchObject(INVALID_GRANT)
        const marks = luck.calls
          .filter(({ method, on }) => method === 'create' && /^(ses\.|issuer:code-spent:)/.test(on))
          .map(({ on }) => on)
        expect(await standing(judge, marks)).toEqual(marks) // the tombstone, and the mark where the session would be
        expect(await redeem(judge, code)).toMatchObject(INVALID_GRANT)
        expect(await accepted(judge, signed)).toEqual([])
        expect(await sessionsOf(judge)).toEqual([])
      }
    }
  })
})

/** An exchange's messages to its objects, at the least: the code, its tombstone, what it opens, the sign-in. */
const MESSAGES = 4

describe('an exchange on durable-object', () => {
  it.each(['loses', 'fails'] as const)(
    'one message of which %s whole, and so does its repeat, leaves nothing, and its code is good again',
    async (how) => {
      const objects = troubledObjects()
      const service = await warmIsolate(testStore('durable-object', { namespace: objects }))
      for (let nth = 1; nth <= MESSAGES; nth++) {
        const code = await freshCode(service)
        const before = await sessionsOf(service)
        objects.strikes(nth, { [how]: connectionLost() })
        expect(await redemption(await exchange(service, code))).toMatchObject({ status: 503 })
        objects.mend()
        expect(await sessionsOf(service)).toEqual(before)
        expect(await redemption(await exchange(service, code))).toMatchObject({ status: 200 })
      }
    },
  )
})

/** Objects of which one message, the nth from `strikes` on, has the fate, and its repeat too: the adapter asks twice. */
function troubledObjects(): ShardNetwork & { strikes(nth: number, fate: Fate): void; mend(): void } {
  const seen: Op[] = []
  let plan: { nth: number; fate: Fate } | null = null
  const network = shardNetwork((ops) => {
    const [first] = ops
    if (plan === null || first === undefined) return {}
    if (!seen.includes(first)) seen.push(first)
    return seen.indexOf(first) === plan.nth - 1 ? plan.fate : {}
  })
  return Object.assign(network, {
    strikes(nth: number, fate: Fate) {
      seen.length = 0
      plan = { nth, fate }
    },
    mend() {
      plan = null
    },
  })
}
