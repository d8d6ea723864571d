import { isPortError, PortError } from '../ports/error.ts'
import { keys, personId } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import {
  canBeTold,
  createRow,
  findLogoutPerson,
  type LogoutEntry,
  type LogoutRow,
  logoutRow,
  newLogoutRow,
  putLogoutOf,
  updateRow,
} from '../records/logout-row.ts'
import { readRecord } from '../records/record.ts'
import type { Log } from '../telemetry/log.ts'

/** tries over a row that comes, moves and goes: each failure is another's write that landed */
const TRIES = 5

/**
 * Keeps that a client holds a session: the pointer first, so that no row is out of its session's reach; then the row, created or renewed.
 * A client without an address has no row, nor has a session that is over at `now` (unix seconds).
 *
 * @throws RangeError the session is another person's
 * @throws PortError Conflict: the row moved as often as it was tried; Unavailable
 */
export async function recordRow(entry: LogoutEntry, now: number, { state, log }: { state: State; log: Log }): Promise<void> {
  if (!canBeTold(entry) || entry.expires_at <= now) return
  const fresh = newLogoutRow(entry)
  const holder = await findLogoutPerson(state, fresh.sid)
  if (holder !== null && holder !== fresh.subject) throw new RangeError('a session is of one person')
  await putLogoutOf(state, fresh, now)

  for (let tried = 0; tried < TRIES; tried++) if (await attempt(fresh, now, { state, log })) return
  throw new PortError('Conflict', `a logout row moved ${TRIES} times`)
}

/** False when another came between. */
async function attempt(fresh: LogoutRow, now: number, { state, log }: { state: State; log: Log }): Promise<boolean> {
  const standing = await state.get(keys.logout(personId(fresh.subject), fresh.sid, fresh.client_id))
  try {
    if (standing === null) await createRow(state, fresh, now)
    else await updateRow(state, { entry: standing }, renewed(readRecord(logoutRow, standing, log), fresh, now), now)
    return true
  } catch (error) {
    if (isPortError(error, 'Exists', 'Conflict', 'NotFound')) return false
    throw error
  }
}

/** What is known of the telling stays; so does the day for which a due row is tried. One that was unreadable, or over, begins anew. */
function renewed(standing: LogoutRow | null, fresh: LogoutRow, now: number): LogoutRow {
  if (standing === null || standing.expires_at <= now) return fresh
  const { attempts, expires_at } = standing
  return { ...standing, ...fresh, attempts, expires_at: standing.due === undefined ? fresh.expires_at : expires_at }
}
