import type { Adapters } from '../../src/compose.ts'
import { interceptCalls, type PortCall } from './port-calls.ts'

/** What flows asked of their store since the last `reset`. */
export interface CallCounter {
  /** Adapters that count. Those of several isolates share the clock, and so move in lock-step. */
  wrap(adapters: Adapters): Adapters
  calls: PortCall[]
  count(): Count
  reset(): void
}

export interface Count {
  writes: number
  reads: number
  /** Ticks of a virtual clock on which every port call takes one: calls made together share a round. */
  rounds: number
}

/** Counts port calls, and the rounds they take. */
export function countCalls(): CallCounter {
  const clock = virtualClock()
  const calls: PortCall[] = []
  let before = 0
  return {
    calls,
    wrap: (adapters) =>
      interceptCalls(adapters, (call, apply) => {
        calls.push(call)
        return clock.oneTick(apply)
      }),
    count: () => ({
      writes: calls.filter(({ kind }) => kind === 'write').length,
      reads: calls.filter(({ kind }) => kind === 'read').length,
      rounds: clock.ticks() - before,
    }),
    reset() {
      calls.length = 0
      before = clock.ticks()
    },
  }
}

interface VirtualClock {
  /** Takes effect at the next tick and is answered at the end of it, together with all else that waits for it. */
  oneTick<T>(apply: () => Promise<T>): Promise<T>
  ticks(): number
}

function virtualClock(): VirtualClock {
  let waiting: (() => Promise<() => void>)[] = []
  let running = false
  let ticks = 0

  async function run(): Promise<void> {
    running = true
    await nothingElseRuns()
    while (waiting.length > 0) {
      const due = waiting
      waiting = []
      ticks++
      // Nobody is answered before everybody can be: an engine's own delays are no part of this clock.
      const answers = await Promise.all(due.map((start) => start()))
      for (const answer of answers) answer()
      await nothingElseRuns()
    }
    running = false
  }

  return {
    ticks: () => ticks,
    oneTick: (apply) =>
      new Promise((resolve, reject) => {
        waiting.push(() =>
          apply().then(
            (done) => () => resolve(done),
            (error: unknown) => () => reject(error),
          ),
        )
        if (!running) void run()
      }),
  }
}

/** A flow between two port calls only waits for promises that are ready (WebCrypto of workerd is), so all of it has run by the next task. */
function nothingElseRuns(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}
