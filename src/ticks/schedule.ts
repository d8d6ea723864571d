import { isPortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Entry, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { type Tick, type TickFamily, type Ticks, ticksFor } from './tick.ts'

/** Asks a target's runner to run it: for a due time (unix ms), or for a hint. Asking again is harmless. @throws PortError Unavailable */
export type Poke = (tick: Pick<Tick, 'kind' | 'target'>, due: number | null) => Promise<void>

export interface ScheduleOptions {
  ticks: Ticks
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
  const { fixed, families } = options.ticks
  const minute = Math.floor(scheduled / MINUTE) * MINUTE
  const poke = (tick: Tick) => pokeOne(tick, minute, options)
  await Promise.all([
    ...fixed.filter((tick) => isDue(tick, scheduled)).map(poke),
    ...families
      .filter((family) => isDue(family, scheduled))
      .map(async (family) => Promise.all((await membersOf(family, options)).map(poke))),
    ...[...new Set([...fixed, ...families].map(({ state }) => state))].map((state) => takeHints(state, options)),
  ])
}

/** The minutes of unix time that its period divides: the same for every isolate, whenever it began. */
export function isDue({ every }: Pick<Tick, 'every'>, scheduled: number): boolean {
  return Math.floor(scheduled / MINUTE) % every === 0
}

/** None when that can't be read: they are poked when they are due next. */
async function membersOf(family: TickFamily, { log }: ScheduleOptions): Promise<readonly Tick[]> {
  try {
    return await family.all()
  } catch (error) {
    log.error('tick.targets_unread', { kind: family.kind, error })
    return []
  }
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
