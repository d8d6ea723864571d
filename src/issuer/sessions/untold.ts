import { isTold } from '../../logout/due.ts'
import { logoutStore } from '../../logout/store.ts'
import type { PersonId } from '../../ports/keys.ts'
import type { Issuer } from '../issuer.ts'

/** A client that is still to be told that a session has ended. Times in unix seconds. */
export interface Untold {
  sid: string
  client_id: string
  /** How often it was tried in vain. */
  attempts: number
  ended_at: number
  /** When it is tried again; absent: at once. */
  not_before?: number | undefined
  /** When it is given up. */
  until: number
}

/** The clients that are still to be told of a person's ended sessions. @throws PortError Unavailable */
export async function listUntold(person: PersonId, issuer: Issuer): Promise<Untold[]> {
  if (!isTold(issuer.policy)) return []
  const rows = await logoutStore(issuer).rows({ subject: person })
  return rows.flatMap(({ value: { sid, client_id, attempts, due, not_before, expires_at } }) =>
    due === undefined ? [] : { sid, client_id, attempts, ended_at: due.at, not_before, until: expires_at },
  )
}
