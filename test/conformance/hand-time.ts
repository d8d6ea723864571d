import type { Clock } from '../../src/ports/platform.ts'

/** A clock and timers that stand until they are moved by hand. */
export function handTime(): HandTime {
  let now = 1_796_000_000_000
  let timers: { at: number; run: () => void }[] = []

  return {
    clock: { now: () => now },
    timer: {
      after(ms, run) {
        const timer = { at: now + Math.max(0, ms), run }
        timers.push(timer)
        return () => {
          timers = timers.filter((other) => other !== timer)
        }
      },
    },
    pending: () => timers.length,
    async advance(ms) {
      const until = now + ms
      await settle()
      for (;;) {
        const next = timers.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
        if (next === undefined) break
        now = next.at
        timers = timers.filter((other) => other !== next)
        next.run()
        await settle()
      }
      now = until
      await settle()
    },
  }
}

export interface HandTime {
  clock: Clock
  timer: { after(ms: number, run: () => void): () => void }
  /** How many timers wait. */
  pending(): number
  /** Runs what falls due on the way, in its order, and lets what waits for no timer finish. */
  advance(ms: number): Promise<void>
}

/** microtasks: many more than a few calls to a memory store pass */
async function settle(): Promise<void> {
  for (let tick = 0; tick < 200; tick++) await null
}
