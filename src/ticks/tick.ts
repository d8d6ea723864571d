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
  /** Of the module whose work it is: where its lease stands, and where hints of work are looked for. */
  state: State
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
  /** unix ms: nothing more should be begun after it */
  deadline: number
}

/** `contended`: another did it, which is no failure. `skipped`: it was not to be done. */
export type Outcome = 'ran' | 'more' | 'contended' | 'failed' | 'skipped'

/** The ticks a hint is for: it says the target, or `<kind>:<target>` where several kinds have one of that name. */
export function ticksFor(ticks: readonly Tick[], hint: string): Tick[] {
  return ticks.filter(({ kind, target }) => hint === target || hint === `${kind}:${target}`)
}
