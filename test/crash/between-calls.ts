import type { Adapters } from '../../src/compose.ts'
import { interceptCalls, type PortCall } from './port-calls.ts'

/** A flow whose port calls take effect one after the other, with room for others in between. */
export interface Gaps {
  wrap(adapters: Adapters): Adapters
  /** From here on calls are counted: after the nth has taken effect and before the next, `act` is done whole. 0: before the first. */
  after(nth: number, act: () => Promise<void> | void): void
  /** The calls since the first `after`. */
  calls: PortCall[]
}

/** Calls of one turn take effect in the order they were made, so that something can come between those too. */
export function gaps(): Gaps {
  const calls: PortCall[] = []
  const acts: { nth: number; act: () => Promise<void> | void }[] = []
  let turn: Promise<unknown> = Promise.resolve()

  async function actAfter(nth: number): Promise<void> {
    for (const { act } of acts.filter((one) => one.nth === nth)) await act()
  }

  return {
    calls,
    wrap: (adapters) =>
      interceptCalls(adapters, (call, apply) => {
        if (acts.length === 0) return apply()
        const nth = calls.push(call)
        const answer = turn.then(async () => {
          if (nth === 1) await actAfter(0)
          try {
            return await apply()
          } finally {
            await actAfter(nth)
          }
        })
        turn = answer.catch(() => undefined)
        return answer
      }),
    after(nth, act) {
      acts.push({ nth, act })
    },
  }
}
