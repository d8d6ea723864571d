import { isPortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Entry, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { type Tick, ticksFor } from './tick.ts'

/** Asks a target's runner to run it: for a due time (unix ms), or for a hint. Asking again is harmless. @throws PortError Unavailable */
export type Poke = (tick: Pick<Tick, 'kind' | 'target'>, due: number | null) => Promise<void>

export interface ScheduleOptions {
  ticks: readonly Tick[]
  poke: Poke
  log: Log
}

const MINUTE = 60_000 // ms

/**
 * Every minute: pokes the runner of each target that is due or has a hint, and takes the hints. Never throws: what could not be poked is
 * logged, and is poked when it is due next.
 *
 * @param scheduled unix ms: the time the cron expression fired for
 */
export async function pokeDue(scheduled: number, options: ScheduleOptions): Promise<void> {
  const { ticks } = options
  const due = ticks.filter((tick) => isDue(tick, scheduled))
  const minute = Math.floor(scheduled / MINUTE) * MINUTE
  await Promise.all([
    ...due.map((tick) => pokeOne(tick, minute, options)),
    ...[...new Set(ticks.map(({ state }) => state))].map((state) => takeHints(state, options)),
  ])
}

/** The minutes of unix time that its period divides: the same for every isolate, whenever it began. */
export function isDue({ every }: Pick<Tick, 'every'>, scheduled: number): boolean {
  return Math.floor(scheduled / MINUTE) % every === 0
}

/** False when it failed. */
async function pokeOne(tick: Tick, due: number | null, { poke, log }: ScheduleOptions): Promise<boolean> {
  const { kind, target } = tick
  try {
    await poke({ kind, target }, due)
    return true
  } catch (error) {
    log.error('tick.not_poked', { kind, target, error })
    return false
  }
}

async function takeHints(state: State, options: ScheduleOptions): Promise<void> {
  try {
    const { entries } = await state.list(keys.notifications)
    await Promise.all(entries.map((hint) => takeHint(hint, state, options)))
  } catch (error) {
    options.log.warn('tick.hints_unread', { error })
  }
}

/** One that names no target of ours is left to lapse, within a minute. */
async function takeHint({ key, rev }: Entry, state: State, options: ScheduleOptions): Promise<void> {
  const meant = ticksFor(options.ticks, key.slice(keys.notifications.length)).filter((tick) => tick.state === state)
  if (meant.length === 0) return
  const poked = await Promise.all(meant.map((tick) => pokeOne(tick, null, options)))
  if (!poked.every(Boolean)) return
  try {
    await state.deleteIfRevision(key, rev)
  } catch (error) {
    // Conflict: hinted again meanwhile, which the next minute takes.
    if (!isPortError(error, 'Conflict', 'NotFound')) throw error
  }
}
