import { isPortError } from '../ports/error.ts'
import type { PersonId } from '../ports/keys.ts'
import type { Clock } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import { deleteHeld, findHeld, type Held, writeHeld } from '../records/held.ts'
import type { Found } from '../records/record.ts'
import type { Log } from '../telemetry/log.ts'
import type { Directory, Resolution } from './directory.ts'

export interface HeldParts {
  /** Of module oidc. */
  state: State
  clock: Clock
  /** s: `lifetimes.hold` */
  window: number
  log: Log
}

/**
 * A directory whose last word on somebody stands in for it while it can't be asked: their groups as it said them, for as long as the window.
 * An outage ends nobody's session, and nobody who was refused is let in by it: a refusal that the directory is sure of forgets them.
 *
 * The record is written anew when the groups differ from it, or when it is an eighth of the window old, so that a hold may end that much
 * earlier and never later. One read a person, made along with the directory's own.
 */
export function heldDirectory(directory: Directory, { state, clock, window, log }: HeldParts): Directory {
  const now = () => Math.floor(clock.now() / 1_000)

  async function remember(person: PersonId, groups: readonly string[], found: Found<Held> | null): Promise<void> {
    const at = now()
    if (found !== null && sameGroups(found.value.groups, groups) && Math.abs(at - found.value.at) < window / 8) return
    try {
      await writeHeld(state, person, found, { groups: [...groups], at }, window)
    } catch (error) {
      // Another was first, and knows as much; or it is not remembered, and an outage would be one for them.
      if (!isPortError(error, 'Exists', 'Conflict', 'NotFound')) log.warn('directory.not_held', { error })
    }
  }

  async function forget(person: PersonId): Promise<void> {
    try {
      await deleteHeld(state, person)
    } catch (error) {
      log.error('directory.not_forgotten', { error })
    }
  }

  function standIn(found: Found<Held> | null, why: unknown): Resolution | null {
    if (found === null) return null
    const { groups, at } = found.value
    const age = now() - at
    if (age > window || age < -CLOCKS) return null
    log.warn('directory.held', { seconds: age, error: why })
    return { state: 'live', groups: [...groups], held: at }
  }

  return {
    async resolve(person) {
      const [said, read] = await Promise.allSettled([directory.resolve(person), findHeld(state, person, log)])
      const found = read.status === 'fulfilled' ? read.value : null
      if (said.status === 'rejected') {
        const held = isPortError(said.reason, 'Unavailable') ? standIn(found, said.reason) : null
        if (held === null) throw said.reason
        return held
      }
      const resolution = said.value
      if (resolution.state === 'refused') {
        // A domain that no directory answers for any more: a Workspace that was disconnected is no verdict on its people.
        if (resolution.reason === 'unserved') return standIn(found, undefined) ?? resolution
        if (found !== null || read.status === 'rejected') await forget(person)
        return resolution
      }
      if (read.status === 'fulfilled') await remember(person, resolution.groups, found)
      return resolution
    },
  }
}

const CLOCKS = 60 // s: how far the clocks of two isolates may be apart

function sameGroups(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && new Set(some).size === new Set([...some, ...others]).size
}
