import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/crypto/digest.ts'
import { keys } from '../../src/ports/keys.ts'
import { refresh } from '../flows/clients.ts'
import { type Engine, engines, signedIn, startService, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { handedOut, warmIsolate } from './arrange.ts'
import { interleaving, seeded } from './interleave.ts'
import { accepted, sessionsOf, signedTokens } from './observe.ts'
import { livePointers, type Refreshed, refreshAnswer, successorIn } from './refreshing.ts'

/** Cold isolates of their own. On `memory` the seed decides who moves; on `durable-object` they ask workerd's objects at once. */
function racers(engine: Engine, store: TestStore, seed: number, count: number) {
  const race = interleaving(seeded(seed))
  return Array.from({ length: count }, () => {
    const racer = race.racer()
    const service = startService(store, engine === 'memory' ? racer.wrap : undefined)
    return { service, signed: signedTokens(service), run: engine === 'memory' ? racer.run : <T>(work: () => Promise<T>) => work() }
  })
}

/** Seeds with how many race: few in many orders, and a hundred. Elsewhere a seed is one more try. */
const races: Record<Engine, [number, number][]> = {
  memory: [...Array.from({ length: 40 }, (_, seed): [number, number] => [2 + (seed % 7), seed]), [100, 40], [100, 41]],
  'durable-object': [
    [100, 0],
    [100, 1],
  ],
  dynamodb: [
    [100, 0],
    [100, 1],
  ],
}

describe.each(engines)('isolates that refresh one token at once on %s', (engine) => {
  it.each(races[engine])('(%d, order %d) are each answered with the one successor, and the session lives', async (count, seed) => {
    const store = testStore(engine)
    const judge = await warmIsolate(store)
    const { refresh_token } = await signedIn(judge)
    const isolates = racers(engine, store, seed, count)

    const answers = await Promise.all(
      isolates.map(({ service, run }) => run(async () => refreshAnswer(await refresh(service, refresh_token)))),
    )
    await expectOneSuccessor(judge, answers)
    // The tokens of those who lost the gate were theirs alone, and dropped: what is accepted was handed out.
    const signed = isolates.flatMap((isolate) => isolate.signed)
    expect((await accepted(judge, signed)).sort()).toEqual(handedOut(...answers).sort())

    // And it is a token like any other: the next refresh spends it.
    const next = await refreshAnswer(await refresh(judge, answers.map(successorIn)[0] ?? ''))
    await expectOneSuccessor(judge, [next])
  })
})

async function expectOneSuccessor(judge: TestService, answers: readonly Refreshed[]): Promise<void> {
  expect(answers.filter((answer) => answer === 'stopped' || answer.status !== 200)).toEqual([])
  const successors = [...new Set(answers.map(successorIn))]
  expect(successors).toHaveLength(1)
  expect(await livePointers(judge)).toEqual([keys.refreshToken(await sha256Hex(successors[0] ?? ''))])
  expect(await accepted(judge, handedOut(...answers))).toHaveLength(answers.length)
  expect(await sessionsOf(judge)).toHaveLength(1)
}

describe('a chain of refreshes', () => {
  it('whose every token is raced for keeps one successor at each step, in whatever order', async () => {
    for (let seed = 0; seed < 10; seed++) {
      const store = testStore('memory')
      const judge = await warmIsolate(store)
      let { refresh_token } = await signedIn(judge)
      for (let step = 0; step < 4; step++) {
        const isolates = racers('memory', store, 100 * seed + step, 3)
        const raced = refresh_token
        const answers = await Promise.all(isolates.map(({ service, run }) => run(async () => refreshAnswer(await refresh(service, raced)))))
        await expectOneSuccessor(judge, answers)
        refresh_token = successorIn(answers[0] ?? 'stopped')
      }
    }
  })

  it('whose links race each other never leaves two live tokens, and signs nobody out', async () => {
    for (let seed = 0; seed < 40; seed++) {
      const store = testStore('memory')
      const judge = await warmIsolate(store)
      const first = (await signedIn(judge)).refresh_token
      const second = successorIn(await refreshAnswer(await refresh(judge, first)))
      const isolates = racers('memory', store, seed, 4)
      const answers = await Promise.all(
        isolates.map(({ service, run }, n) => run(async () => refreshAnswer(await refresh(service, n % 2 === 0 ? first : second)))),
      )
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 200 })
        expect(await livePointers(judge)).toHaveLength(1)
        // Who replayed the first may have been given the second just before it was spent: they follow it as any client does.
        expect(await refreshAnswer(await refresh(judge, successorIn(answer)))).toMatchObject({ status: 200 })
      }
      expect(await sessionsOf(judge)).toHaveLength(1)
    }
  })
})
