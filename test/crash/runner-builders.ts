import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import type { State } from '../../src/ports/state.ts'
import { type Log, noLog } from '../../src/telemetry/log.ts'
import { createRunner, type Runner, type RunnerMemory, type RunnerOptions } from '../../src/ticks/runner.ts'
import type { Tick } from '../../src/ticks/tick.ts'
import { random } from '../conformance/arrange.ts'
import { type HandTime, handTime } from '../conformance/hand-time.ts'

export const MINUTE = 60_000 // ms

/** What a Durable Object gives a runner, without one: what it keeps, and an alarm that goes off when `fire` looks. */
export interface FakeObject {
  memory: RunnerMemory
  alarm(): number | null
  /** Runs what the alarm is due for, slice after slice, and again when it comes up meanwhile. Answers how many runs it was. */
  fire(runner: Runner): Promise<number>
}

export function fakeObject({ clock }: HandTime): FakeObject {
  let kept: unknown = null
  let alarm: number | null = null
  return {
    alarm: () => alarm,
    memory: {
      read: async () => structuredClone(kept),
      async update(change) {
        const changed = change(structuredClone(kept))
        if (changed === null) return
        kept = structuredClone(changed.kept)
        if (changed.alarm !== undefined) alarm = Math.min(alarm ?? changed.alarm, changed.alarm)
      },
    },
    async fire(runner) {
      let runs = 0
      while (alarm !== null && alarm <= clock.now()) {
        alarm = null
        await runner.run()
        runs++
      }
      return runs
    },
  }
}

/** A table, hand-moved time, and runners over both. */
export function arrangeRunners() {
  const time = handTime()
  const store = createMemoryStore()
  const open = () => memoryState({ store, clock: time.clock, module: 'oidc' })
  const runner = (memory: RunnerMemory, ticks: Tick[], more: Partial<RunnerOptions> = {}): Runner =>
    createRunner({
      memory,
      ticks: () => ({ fixed: ticks, families: [] }),
      subrequests: () => 800,
      clock: time.clock,
      random,
      log: noLog,
      timer: time.timer,
      ...more,
    })
  return { time, store, state: open(), open, runner }
}

/** A tick of kind `logout`, target `all`, that is due every minute. */
export function tickOf(state: State, run: Tick['run'], more: Partial<Tick> = {}): Tick {
  return { kind: 'logout', target: 'all', every: 1, module: 'oidc', state, run, ...more }
}

export const LEASE = 'lease.logout:all'

/** A log that keeps its events. */
export function notingLog(events: string[]): Log {
  const note = (event: string) => void events.push(event)
  const log: Log = { info: note, warn: note, error: note, with: () => log }
  return log
}
