import type { Adapters } from '../../src/compose.ts'
import { interceptCalls } from './port-calls.ts'

/** Racers over one store, of which one moves at a time: from one port call of its own to the next. */
export interface Interleaving {
  racer(): Racer
}

export interface Racer {
  wrap(adapters: Adapters): Adapters
  /** Once every racer runs something the race begins. Before and after `work` the racer's calls take effect where they are made. */
  run<T>(work: () => Promise<T>): Promise<T>
}

/** Which of `of` (at least 1) goes on: 0 to `of` - 1. */
export type Choice = (of: number) => number

/** microtasks in which a flow makes the calls of one turn: all of them wait before one is chosen. */
const TURN = 8

/**
 * An interleaving that `choose` alone decides. A call takes effect when it is chosen, and nothing is chosen while a racer is between two
 * calls, so the same choices give the same order whatever the flows do in between. The scheduler of the `memory` adapter chooses among
 * those that wait after so many microtasks: enough for a port's own suite, not for a flow that draws and signs tokens between two calls.
 */
export function interleaving(choose: Choice): Interleaving {
  const racers: { waiting: (() => void)[]; phase: 'before' | 'running' | 'done' }[] = []
  let inEffect = false
  let choosing = false

  const atRest = () => !inEffect && racers.every(({ waiting, phase }) => phase === 'done' || waiting.length > 0)

  async function chooseNext(): Promise<void> {
    if (choosing || !atRest()) return
    choosing = true
    for (let tick = 0; tick < TURN; tick++) await null
    choosing = false
    // In the order of racers and of their calls, not of arrival. A racer that was answered may have calls under way still.
    const calls = racers.flatMap(({ waiting }) => waiting.map((_, at) => ({ waiting, at })))
    if (calls.length === 0) return
    const chosen = calls[choose(calls.length)]
    if (chosen === undefined) throw new RangeError('the choice is none of those that wait')
    inEffect = true
    for (const go of chosen.waiting.splice(chosen.at, 1)) go()
  }

  return {
    racer() {
      const self: (typeof racers)[number] = { waiting: [], phase: 'before' }
      racers.push(self)
      return {
        wrap: (adapters) =>
          interceptCalls(adapters, async (_call, apply) => {
            if (self.phase !== 'running') return apply()
            await new Promise<void>((go) => {
              self.waiting.push(go)
              void chooseNext()
            })
            try {
              return await apply()
            } finally {
              inEffect = false
              void chooseNext()
            }
          }),
        async run(work) {
          self.phase = 'running'
          try {
            return await work()
          } finally {
            self.phase = 'done'
            void chooseNext()
          }
        },
      }
    },
  }
}

/** Choices that a seed decides: a linear congruential generator modulo 2^32, of which the high bits are used. */
export function seeded(seed: number): Choice {
  let state = Math.imul(seed, 0x9e3779b1) >>> 0 // neighbouring seeds far apart
  return (of) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * of)
  }
}
