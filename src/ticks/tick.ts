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

/** Ticks of one kind whose targets are records, so that which there are is read. */
export interface TickFamily {
  kind: string
  /** minutes */
  every: number
  /** Where hints of its work are looked for. */
  state: State
  /** Of one target, whether there is such a record or not: it is skipped when there is none. */
  of(target: string): Tick
  /** Of each. @throws PortError Unavailable */
  all(): Promise<readonly Tick[]>
}

/** Everything that comes up again and again in an installation. */
export interface Ticks {
  fixed: readonly Tick[]
  families: readonly TickFamily[]
}

export function findTick({ fixed, families }: Ticks, { kind, target }: Pick<Tick, 'kind' | 'target'>): Tick | undefined {
  return fixed.find((one) => one.kind === kind && one.target === target) ?? families.find((family) => family.kind === kind)?.of(target)
}

/** The ticks a hint is for: it says `<kind>:<target>`, or the target alone where that is the same for all of its records' life. */
export function ticksFor(ticks: Ticks, hint: string): Tick[] {
  const fixed = ticks.fixed.filter(({ kind, target }) => hint === target || hint === `${kind}:${target}`)
  const ofFamilies = ticks.families
    .filter(({ kind }) => hint.startsWith(`${kind}:`))
    .map((family) => family.of(hint.slice(family.kind.length + 1)))
  return [...fixed, ...ofFamilies]
}
