import { describe, expect, it } from 'vitest'
import { type Engine, engines, exchange, startService, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { freshCode, handedOut, INVALID_GRANT, redemption, warmIsolate } from './arrange.ts'
import { interleaving, seeded } from './interleave.ts'
import { accepted, sessionsOf, signedTokens } from './observe.ts'

const RACERS = 20

/** One isolate of its own, cold, with the access tokens it signs and how it is set off. */
interface Racer {
  service: TestService
  signed: string[]
  run<T>(work: () => Promise<T>): Promise<T>
}

/** On `memory` the seed decides who moves; on `durable-object` the isolates ask workerd's objects at once. */
function racers(engine: Engine, store: TestStore, seed: number, count = RACERS): Racer[] {
  const race = interleaving(seeded(seed))
  return Array.from({ length: count }, () => {
    const racer = race.racer()
    const service = startService(store, engine === 'memory' ? racer.wrap : undefined)
    return { service, signed: signedTokens(service), run: engine === 'memory' ? racer.run : (work) => work() }
  })
}

/** On `memory` a seed is an order; elsewhere it is one more try. */
const seedsOf: Record<Engine, number[]> = { memory: Array.from({ length: 20 }, (_, n) => n), 'durable-object': [0, 1], dynamodb: [0, 1] }

describe.each(engines)('of twenty isolates that redeem one code on %s', (engine) => {
  it.each(seedsOf[engine])('one at most is answered with tokens, and none is accepted once a second was answered (%d)', async (seed) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    const code = await freshCode(judge)
    const isolates = racers(engine, store, seed)
    const signed = () => isolates.flatMap((isolate) => isolate.signed)

    let answered = 0
    const answers = await Promise.all(
      isolates.map(async ({ service, run }) => {
        const answer = await run(async () => redemption(await exchange(service, code)))
        answered += 1
        if (answered >= 2) expect(await accepted(judge, signed())).toEqual([])
        return answer
      }),
    )

    expect(handedOut(...answers).length).toBeLessThanOrEqual(1)
    for (const answer of answers) if (handedOut(answer).length === 0) expect(answer).toMatchObject(INVALID_GRANT)
    // At once, past the code's five minutes, and to the last second of the tokens' hour.
    for (const seconds of [0, 301, 3_298]) {
      store.clock.advance(seconds)
      expect(await accepted(judge, signed())).toEqual([])
    }
    expect(await sessionsOf(judge)).toEqual([])
  })
})

describe('of two isolates that redeem one code', () => {
  it('one is answered with tokens, which then end, or none is: both come about', async () => {
    const winners = new Set<number>()
    for (let seed = 0; seed < 40; seed++) {
      const store = testStore('memory')
      const code = await freshCode(await warmIsolate(store))
      const race = racers('memory', store, seed, 2)
      const answers = await Promise.all(race.map(({ service, run }) => run(async () => redemption(await exchange(service, code)))))
      winners.add(handedOut(...answers).length)
    }
    expect([...winners].sort()).toEqual([0, 1])
  })
})

/** What a thief of a code may lack. */
const misfits: [string, Record<string, string>][] = [
  ['a wrong verifier', { code_verifier: 'a-verifier-that-nobody-made-a-challenge-of-1' }],
  ['an empty verifier', { code_verifier: '' }],
  ['another client', { client_id: 'native' }],
  ['another redirect URI', { redirect_uri: 'http://localhost:8788/demo' }],
]

describe.each(engines)('a presentation on %s', (engine) => {
  it.each(misfits)('with %s consumes and revokes nothing, before the redemption and after it', async (_what, changes) => {
    const store = testStore(engine)
    const service = await warmIsolate(store)
    const code = await freshCode(service)
    const refuse = async () => expect(await redemption(await exchange(service, code, changes))).toMatchObject(INVALID_GRANT)

    await refuse()
    const tokens = handedOut(await redemption(await exchange(service, code)))
    expect(await accepted(service, tokens)).toHaveLength(1)
    await refuse()
    store.clock.advance(301) // only the tombstone is left
    await refuse()
    expect(await accepted(service, tokens)).toHaveLength(1)
    expect(await sessionsOf(service)).toHaveLength(1)
  })

  it.each(seedsOf[engine])('that does not fit consumes and revokes nothing beside the redemption (%d)', async (seed) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    const code = await freshCode(judge)
    const isolates = racers(engine, store, seed, 2 * misfits.length + 1)
    const answers = await Promise.all(
      isolates.map(({ service, run }, n) => {
        const changes = n === 0 ? {} : misfits[n % misfits.length]?.[1]
        return run(async () => redemption(await exchange(service, code, changes)))
      }),
    )

    const [right, ...wrong] = answers
    for (const answer of wrong) expect(answer).toMatchObject(INVALID_GRANT)
    expect(right).toMatchObject({ status: 200 })
    expect(await accepted(judge, handedOut(...answers))).toHaveLength(1)
  })
})
