import { describe, expect, it } from 'vitest'
import { type Engine, engines, exchange, startService, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { accepted, freshCode, type Redemption, redemption, sessionsOf, signedTokens, tokenOf, warmIsolate } from './arrange.ts'
import { interleaving, seeded } from './interleave.ts'

const RACERS = 20

/** One racer: an isolate of its own, with the access tokens it signed, and how it is set off. */
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

/** The seeds of an engine's runs: there one seed is one order, here only one more try. */
const seedsOf: Record<Engine, number[]> = { memory: Array.from({ length: 30 }, (_, n) => n), 'durable-object': [0, 1, 2] }

describe.each(engines)('twenty isolates that redeem one code on %s', (engine) => {
  it.each(seedsOf[engine])('answer at most one with tokens, and none that holds once a second was answered (%d)', async (seed) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    const code = await freshCode(judge)
    const isolates = racers(engine, store, seed)
    const tokens = () => isolates.flatMap(({ signed }) => signed)

    let answered = 0
    const answers = await Promise.all(
      isolates.map(async ({ service, run }) => {
        const answer = await run(async () => redemption(await exchange(service, code)))
        answered += 1
        if (answered >= 2) expect(await accepted(judge, tokens())).toEqual([])
        return answer
      }),
    )

    const refused = answers.filter((answer) => answer !== 'stopped' && answer.error === 'invalid_grant')
    expect(answers.filter((answer) => tokenOf(answer) !== undefined).length).toBeLessThanOrEqual(1)
    expect(refused.length).toBeGreaterThanOrEqual(RACERS - 1)
    for (const seconds of [0, 299, 3_000, 299]) {
      store.clock.advance(seconds) // past the code, past what was young; just short of the token's hour
      expect(await accepted(judge, tokens())).toEqual([])
    }
    expect(await sessionsOf(judge)).toEqual([])
  })
})

describe('two isolates that redeem one code', () => {
  it('come to both ends: one is answered with tokens that then end, or none is', async () => {
    const winners = new Set<number>()
    for (let seed = 0; seed < 60; seed++) {
      const store = testStore('memory')
      const code = await freshCode(await warmIsolate(store))
      const answers = await Promise.all(
        racers('memory', store, seed, 2).map(({ service, run }) => run(async () => redemption(await exchange(service, code)))),
      )
      winners.add(answers.filter((answer) => tokenOf(answer) !== undefined).length)
    }
    expect([...winners].sort()).toEqual([0, 1])
  })
})

/** What a thief of a code may lack. */
const misfits: [string, Record<string, string>][] = [
  ['a wrong verifier', { code_verifier: 'a-verifier-that-nobody-made-a-challenge-of-1' }],
  ['no verifier', { code_verifier: '' }],
  ['another client', { client_id: 'native' }],
  ['another redirect URI', { redirect_uri: 'http://localhost:8788/demo' }],
]

describe.each(engines)('a presentation with %s', (engine) => {
  it.each(misfits)(`%s consumes and revokes nothing on ${engine}`, async (_what, changes) => {
    const store = testStore(engine)
    const service = await warmIsolate(store)
    const refuse = async () => expect(await redemption(await exchange(service, code, changes))).toMatchObject(REFUSED)

    const code = await freshCode(service)
    await refuse()
    const tokens = await redemption(await exchange(service, code))
    expect(await accepted(service, [tokenOf(tokens) ?? ''])).toHaveLength(1)
    await refuse()
    store.clock.advance(301) // only the tombstone is left
    await refuse()
    expect(await accepted(service, [tokenOf(tokens) ?? ''])).toHaveLength(1)
    expect(await sessionsOf(service)).toHaveLength(1)
  })
})

describe.each(engines)('in parallel with a redemption on %s', (engine) => {
  it.each(seedsOf[engine])('presentations that do not fit consume and revoke nothing (%d)', async (seed) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    const code = await freshCode(judge)
    const isolates = racers(engine, store, seed, 2 * misfits.length + 1)
    const answers: Redemption[] = await Promise.all(
      isolates.map(async ({ service, run }, n) => {
        const [, changes] = misfits[n % misfits.length] ?? ['', {}]
        return run(async () => redemption(await exchange(service, code, n === isolates.length - 1 ? {} : changes)))
      }),
    )
    const right = answers.pop()
    for (const answer of answers) expect(answer).toMatchObject(REFUSED)
    expect(right).toMatchObject({ status: 200 })
    expect(await accepted(judge, [tokenOf(right ?? 'stopped') ?? ''])).toHaveLength(1)
  })
})

const REFUSED = { status: 400, error: 'invalid_grant' }
