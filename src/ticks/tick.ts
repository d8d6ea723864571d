import type { Module } from '../ports/layout5.ts'
import type { State } from '../ports/state.ts'
import type { Budget } from './budget.ts'

/** Work that comes up again and again on one target. Doing it twice must be the same as doing it once. */
export interface Tick {
  /** `keyring`, `logout`, ... No colon. */
  kind: string
  /** As a lease takes it: no `/`. */
  target: string
  /** minutes from one due time to the next */
  every: number
  /** Whose work it is. */
  module: Module
  /** Of the module whose work it is: where its lease stands, and where hints of work are looked for. */
  state: State
  /** One read that tells that there is nothing to do, so that nothing is written either: no lease, no report. */
  idle?: () => Promise<boolean>
  /** Whether the module may not write now: the tick is skipped before it takes its lease. */
  paused?: () => Promise<boolean>
  /** `more`: the slice ended before the work did, and another is to go on. What it throws fails the run until the next due time. */
  run(slice: Slice): Promise<'ran' | 'more' | 'skipped'>
}

/** What one invocation may do of a tick. Work that has not ended when the budget or the time has answers `more`. */
export interface Slice {
  /** Aborted when `check` would throw. */
  signal: AbortSignal
  /** To be called before each write to anything outside. @throws PortError Unavailable: the lease is lost, or the slice is long over */
  check(): void
  /** The calls the platform allows: the lease's are in it, the tick's are for the tick to spend. */
  budget: Budget
  /** Says for the report what the work came to, in numbers and words without a person or a secret; the last to say so counts. */
  report(details: Readonly<Record<string, unknown>>): void
  /** unix ms: nothing more should be begun after it */
  deadline: number
}

/** `contended`: another did it, which is no failure. `skipped`: it was not to be done. */
export type Outcome = 'ran' | 'more' | 'contended' | 'failed' | 'skipped'

/** The ticks a hint is for: it says the target, or `<kind>:<target>` where several kinds have one of that name. */
export function ticksFor(ticks: readonly Tick[], hint: string): Tick[] {
  return ticks.filter(({ kind, target }) => hint === target || hint === `${kind}:${target}`)
}
