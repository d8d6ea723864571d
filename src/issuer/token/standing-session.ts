import { isPortError } from '../../ports/error.ts'
import type { Found } from '../../records/record.ts'
import type { SessionRef } from '../../records/refresh-token.ts'
import {
  createSession,
  createSessionPointer,
  findLegacySession,
  findSession,
  type Session,
  sessionLifetime,
} from '../../records/session.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { notLive, type RefreshRequest } from './refresh-request.ts'
import { type Refreshable, refreshable } from './refreshable.ts'

/** The session a live refresh token stands for, as it was read, and what a refresh of it may be given. */
export interface Standing {
  found: Found<Session>
  allowed: Refreshable
}

/**
 * Finds and judges the session of a live refresh token. One that the Go service wrote is written in our form here, before anything names
 * it there: a crash after that leaves a session that the retry finds.
 *
 * @throws OAuthError as `refreshable`, and when there is no such session or it has ended
 */
export async function findStanding(request: RefreshRequest, ref: SessionRef, issuer: Issuer): Promise<Standing> {
  const { state, log } = issuer
  if (ref.person !== null) {
    const found = await findSession(state, ref.person, ref.sid, log)
    if (found === null) throw notLive()
    return { found, allowed: await refreshable(request, found.value, issuer) }
  }
  const legacy = await findLegacySession(state, ref.sid, log)
  if (legacy === null) throw notLive()
  const allowed = await refreshable(request, legacy, issuer)
  const found = await adopt(allowed, issuer)
  if (found === null) throw notLive()
  return { found, allowed }
}

/** Writes a session of the Go service in our form, unless it stands in it already; null when it has ended. */
async function adopt({ session, person, absoluteEnd }: Refreshable, issuer: Issuer): Promise<Found<Session> | null> {
  const { state, log, policy } = issuer
  const now = nowSeconds(issuer)
  const ttl = sessionLifetime({ now, absoluteEnd }, policy.lifetimes.refresh)
  const value = { ...session, last_refreshed: now, expires_at: now + ttl }
  for (const write of await Promise.allSettled([createSession(state, value, ttl), createSessionPointer(state, value, ttl)])) {
    if (write.status === 'rejected' && !isPortError(write.reason, 'Exists')) throw write.reason
  }
  return findSession(state, person, session.id, log)
}
