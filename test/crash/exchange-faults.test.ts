import { describe, expect, it } from 'vitest'
import type { Op } from '../../src/adapters/durable-object/protocol.ts'
import { connectionLost, type Fate, type ShardNetwork, shardNetwork } from '../conformance/shard-network.ts'
import { type Engine, engines, exchange, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { accepted, freshCode, redeem, redemption, sessionsOf, signedTokens, tokenOf, warmIsolate } from './arrange.ts'
import { type Fault, faults, misfortune } from './faults.ts'
import type { PortCall } from './port-calls.ts'

/** How many port calls an exchange makes that nothing befalls. */
async function undisturbed(store: TestStore, code: string): Promise<number> {
  const luck = misfortune()
  const service = await warmIsolate(store, luck.wrap)
  luck.strikes('fails', Number.POSITIVE_INFINITY)
  expect((await exchange(service, code)).status).toBe(200)
  return luck.calls.length
}

/** The keys a flow created records at: what it can leave behind. */
function createdBy(calls: readonly PortCall[]): string[] {
  return calls.filter(({ method }) => method === 'create').map(({ on }) => on)
}

async function standing(service: TestService, of: readonly string[]): Promise<string[]> {
  const entries = await Promise.all(of.map((key) => service.services.issuer.state.get(key)))
  return of.filter((_, at) => entries[at] !== null)
}

async function struck(engine: Engine, fault: Fault) {
  const store = testStore(engine)
  const judge = await warmIsolate(store)
  const calls = await undisturbed(store, await freshCode(judge))

  /** The client's first try, on an isolate whose nth port call has the fault. */
  async function firstTry(nth: number) {
    const luck = misfortune()
    const victim = await warmIsolate(store, luck.wrap)
    const signed = signedTokens(victim)
    const code = await freshCode(judge)
    const sessions = (await sessionsOf(judge)).length
    luck.strikes(fault, nth)
    const answer = await redemption(await luck.outcome(exchange(victim, code)))
    return { code, answer, signed, sessions, left: await standing(judge, createdBy(luck.calls)) }
  }
  return { judge, calls, firstTry }
}

describe.each(engines)('an exchange on %s', (engine) => {
  it.each(faults)(
    'whose store %s at any call is retried to tokens or to invalid_grant, and nothing undelivered is accepted',
    async (fault) => {
      const { judge, calls, firstTry } = await struck(engine, fault)
      expect(calls).toBe(7)
      for (let nth = 1; nth <= calls; nth++) {
        const { code, answer, signed, sessions } = await firstTry(nth)
        if (fault === 'stops') expect(answer).toBe('stopped')
        else expect(answer).toMatchObject({ status: 503, error: 'temporarily_unavailable' })

        const retried = await redeem(judge, code)
        const token = tokenOf(retried)
        if (token === undefined) expect(retried).toMatchObject({ status: 400, error: 'invalid_grant' })
        // Nobody was handed what the first try signed.
        expect(await accepted(judge, signed)).toEqual([])
        expect(await accepted(judge, token === undefined ? [] : [token])).toHaveLength(token === undefined ? 0 : 1)
        expect(await sessionsOf(judge)).toHaveLength(token === undefined ? sessions : sessions + 1)

        const anew = await redeem(judge, await freshCode(judge))
        expect(await accepted(judge, [tokenOf(anew) ?? ''])).toHaveLength(1)
      }
    },
  )

  it.each(['loses the answer', 'fails'] as const)(
    'that answers 503 because its store once %s leaves nothing, and its code is good again',
    async (fault) => {
      const { judge, calls, firstTry } = await struck(engine, fault)
      for (let nth = 1; nth <= calls; nth++) {
        const { code, answer, left } = await firstTry(nth)
        expect(answer).toMatchObject({ status: 503 })
        expect(left).toEqual([])
        expect(await redemption(await exchange(judge, code))).toMatchObject({ status: 200 })
      }
    },
  )

  it('that stops leaves what it had written, which a replay ends', async () => {
    const { judge, calls, firstTry } = await struck(engine, 'stops')
    for (let nth = 1; nth <= calls; nth++) {
      const { code, left, sessions } = await firstTry(nth)
      const kinds = left.map((key) => key.split(/[.:](?=[^.:]*$)/)[0]?.split('.')[0])
      expect(kinds).toEqual(['issuer:code-spent', 'ses', 'sid', 'tok', 'rt'].slice(0, Math.max(0, nth - 1)))

      const replayed = await redeem(judge, code)
      expect(replayed).toMatchObject(nth === 1 ? { status: 200 } : { status: 400, error: 'invalid_grant' })
      expect(await sessionsOf(judge)).toHaveLength(nth === 1 ? sessions + 1 : sessions)
      // A pointer and a refresh token may lie there until they expire: the session they name is over.
      const dead = left.filter((key) => !key.startsWith('tok.'))
      expect(await standing(judge, left)).toEqual(nth === 1 ? [] : dead)
    }
  })
})

describe.each(engines)('a replay on %s', (engine) => {
  it.each(faults)('whose store %s at any call ends what the code opened once it is tried again', async (fault) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    for (let nth = 1, struck = true; struck; nth++) {
      const luck = misfortune()
      const victim = await warmIsolate(store, luck.wrap)
      const code = await freshCode(judge)
      const token = tokenOf(await redemption(await exchange(judge, code))) ?? ''
      expect(await accepted(judge, [token])).toHaveLength(1)

      luck.strikes(fault, nth)
      const answer = await redemption(await luck.outcome(exchange(victim, code)))
      struck = luck.calls.length >= nth
      if (!struck) expect(answer).toMatchObject({ status: 400, error: 'invalid_grant' })
      else if (fault === 'stops') expect(answer).toBe('stopped')
      else expect(answer).toMatchObject({ status: 503 })

      expect(await redeem(judge, code)).toMatchObject({ status: 400, error: 'invalid_grant' })
      expect(await accepted(judge, [token])).toEqual([])
      expect(await sessionsOf(judge)).toEqual([])
    }
  })
})

/** Objects of which one message, from `strikes` on the nth, has the fate; so has its repeat, for the adapter asks twice. */
function troubledObjects(): ShardNetwork & { strikes(nth: number, fate: Fate): void } {
  let plan: { nth: number; fate: Fate } | null = null
  const seen: Op[] = []
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
  })
}

describe('an exchange on durable-object', () => {
  it.each(['loses', 'fails'] as const)('one message of which an object %s, and its repeat, is undone whole', async (how) => {
    const objects = troubledObjects()
    const service = await warmIsolate(testStore('durable-object', { namespace: objects }))
    for (let nth = 1; nth <= MESSAGES; nth++) {
      const code = await freshCode(service)
      const sessions = await sessionsOf(service)
      objects.strikes(nth, { [how]: connectionLost() })
      expect(await redemption(await exchange(service, code))).toMatchObject({ status: 503 })
      objects.strikes(0, {})
      expect(await sessionsOf(service)).toEqual(sessions)
      expect(await redemption(await exchange(service, code))).toMatchObject({ status: 200 })
    }
  })
})

/** An exchange's to its objects, at the least: the code, its tombstone, what it opens, the sign-in. */
const MESSAGES = 4
