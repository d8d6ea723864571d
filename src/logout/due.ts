import { declared, type Policy } from '../config/policy.ts'
import { keys, type PersonId } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import type { Ending } from '../records/ending.ts'
import { canBeTold, findRow } from '../records/logout-row.ts'
import type { Log } from '../telemetry/log.ts'
import { logoutStore } from './store.ts'

export interface DueParts {
  state: State
  clock: Clock
  random: Random
  log: Log
}

/** Whether a client has an address to be told at; of no client in particular, whether any has. */
export function isTold({ clients }: Policy, client?: string): boolean {
  if (client === undefined) return Object.values(clients).some(canBeTold)
  const named = declared(clients, client)
  return named !== undefined && canBeTold(named)
}

/** Makes the row of a session due. False when it has none: its client was not to be told when it was opened. */
export async function makeRowDue(
  { person, sid, client }: { person: PersonId; sid: string; client: string },
  ending: Pick<Ending, 'id' | 'cause'>,
  parts: DueParts,
): Promise<boolean> {
  const now = Math.floor(parts.clock.now() / 1000)
  const row = await findRow(parts.state, keys.logout(person, sid, client), now, parts.log)
  if (row === null) return false
  await logoutStore(parts).markDue([row], ending, now)
  return true
}
