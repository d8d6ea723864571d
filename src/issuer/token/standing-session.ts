import { isPortError } from '../../ports/error.ts'
import type { Entry } from '../../ports/state.ts'
import { findLegacySession } from '../../records/legacy-session.ts'
import type { Found } from '../../records/record.ts'
import { refreshTokenLifetime, type SessionRef } from '../../records/refresh-token.ts'
import {
  createSession,
  createSessionPointer,
  findSession,
  liveSession,
  renewSessionPointer,
  type Session,
  sessionLifetime,
  updateSession,
} from '../../records/session.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { logoutRow } from './logout-row.ts'
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
 * @param entry what stands where the session would, when it was read along with the token
 * @throws OAuthError as `refreshable`, and when there is no such session or it has ended
 */
export async function findStanding(request: RefreshRequest, ref: SessionRef, issuer: Issuer, entry?: Entry | null): Promise<Standing> {
  const { state, log } = issuer
  if (ref.person !== null) {
    const found = entry === undefined ? await findSession(state, ref.person, ref.sid, log) : liveSession(entry, log)
    if (found === null) throw notLive()
    return { found, allowed: await refreshable(request, found.value, issuer) }
  }
  const legacy = await findLegacySession(state, ref.sid, log)
  if (legacy === null) throw notLive()
  const allowed = await refreshable(request, legacy.value, issuer)
  const found = await adopt(allowed, issuer)
  if (found === null) throw notLive()
  return { found, allowed }
}

/**
 * Writes a session and its pointer again when they would lapse before a refresh token that is good from now; nothing to do for most refreshes.
 * What is answered are the writes, begun: they travel with those of the caller.
 */
export function keepSession({ found, allowed }: Standing, issuer: Issuer): Promise<unknown>[] {
  const { state, policy } = issuer
  const { refresh } = policy.lifetimes
  const at = { now: nowSeconds(issuer), absoluteEnd: allowed.absoluteEnd }
  if (found.value.expires_at >= at.now + refreshTokenLifetime(at, refresh)) return []
  const ttl = sessionLifetime(at, refresh)
  const kept = { ...found.value, last_refreshed: at.now, expires_at: at.now + ttl }
  return [updateSession(state, found, kept, ttl), renewSessionPointer(state, kept, ttl)]
}

/** Writes a session of the Go service in our form, unless it stands in it already; null when it has ended. */
async function adopt({ session, person, absoluteEnd }: Refreshable, issuer: Issuer): Promise<Found<Session> | null> {
  const { state, log, policy } = issuer
  const now = nowSeconds(issuer)
  const ttl = sessionLifetime({ now, absoluteEnd }, policy.lifetimes.refresh)
  const value = { ...session, last_refreshed: now, expires_at: now + ttl }
  const writes = [createSession(state, value, ttl), createSessionPointer(state, value, ttl), ...logoutRow(value, absoluteEnd, issuer)]
  for (const write of await Promise.allSettled<unknown>(writes)) {
    if (write.status === 'rejected' && !isPortError(write.reason, 'Exists')) throw write.reason
  }
  return findSession(state, person, session.id, log)
}
