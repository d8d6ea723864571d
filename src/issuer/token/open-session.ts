import { isTold } from '../../logout/due.ts'
import { isPortError } from '../../ports/error.ts'
import { keys, personId } from '../../ports/keys.ts'
import type { Rev } from '../../ports/state.ts'
import type { DrawnToken } from '../../records/ids.ts'
import { createRefreshToken, refreshTokenLifetime } from '../../records/refresh-token.ts'
import { createSession, createSessionPointer, type Session, sessionLifetime, withdrawSession } from '../../records/session.ts'
import { findSignIn } from '../../records/sign-in.ts'
import { createToken, type Token } from '../../records/token.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { logoutRow } from './logout-row.ts'

/** What a session begins with. Nothing of it has been handed out. */
export interface Opening {
  session: Session
  token: Token
  refreshToken: DrawnToken | null
  /** The sign-in that must still stand once it is written. A device's session does not rest on it, but its approval did. */
  signIn: string | undefined
  /** unix seconds */
  absoluteEnd: number
}

/**
 * `ended`: it was ended before it was written, by a replay of its code. `sign-in ended`: what it rests on was. `failed`: the store did. Each
 * way nothing of it is left.
 */
export type Opened = { state: 'opened' | 'ended' | 'sign-in ended' } | { state: 'failed'; cause: unknown }

/**
 * Writes a session's records together, and only then reads the sign-in it rests on: a sign-out goes the other way, sign-in first and its
 * sessions after, so whichever comes second sees the first.
 *
 * @throws what the store threw when what was written could not be taken back either: the tombstone of its code must stay, by which a replay
 * ends what is left
 */
export async function openSession(opening: Opening, issuer: Issuer): Promise<Opened> {
  const written: { session: Rev | null } = { session: null }
  const opened = await attempt(opening, written, issuer)
  if (opened.state === 'ended')
    await withdrawBeside(opening, issuer).catch((error: unknown) => issuer.log.warn('session.left_beside', { error }))
  else if (opened.state !== 'opened') await withdraw(opening, written.session, issuer)
  return opened
}

async function attempt(opening: Opening, written: { session: Rev | null }, issuer: Issuer): Promise<Opened> {
  try {
    if (!(await writeAll(opening, written, issuer))) return { state: 'ended' }
    return { state: (await signInStands(opening.signIn, issuer)) ? 'opened' : 'sign-in ended' }
  } catch (cause) {
    return { state: 'failed', cause }
  }
}

/** False when something stands where the session should: the mark that it has ended. */
async function writeAll(
  { session, token, refreshToken, absoluteEnd }: Opening,
  written: { session: Rev | null },
  issuer: Issuer,
): Promise<boolean> {
  const { state, policy } = issuer
  const at = { now: nowSeconds(issuer), absoluteEnd }
  const ttl = sessionLifetime(at, policy.lifetimes.refresh)
  const [first, ...others] = await Promise.allSettled([
    createSession(state, session, ttl),
    createSessionPointer(state, session, ttl),
    createToken(state, token, token.expires - at.now),
    refreshToken === null
      ? null
      : createRefreshToken(
          state,
          refreshToken.hash,
          { person: personId(session.identity), sid: session.id },
          refreshTokenLifetime(at, policy.lifetimes.refresh),
        ),
    ...logoutRow(session, absoluteEnd, issuer),
  ])
  if (first.status === 'fulfilled') written.session = first.value
  else if (isPortError(first.reason, 'Exists')) return false
  const failed = [first, ...others].find((write) => write.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return true
}

async function signInStands(id: string | undefined, issuer: Issuer): Promise<boolean> {
  return id === undefined || (await findSignIn(issuer.state, id, issuer.log)) !== null
}

/** The session at the revision it was written with, so that an ended mark stays, and what was written beside it. */
async function withdraw(opening: Opening, rev: Rev | null, issuer: Issuer): Promise<void> {
  const { state, log } = issuer
  const { identity, id } = opening.session
  await Promise.all([withdrawSession(state, personId(identity), id, rev, log), withdrawBeside(opening, issuer)])
}

/** These have names that nobody else knows; beside an ended mark they stand for nothing. */
async function withdrawBeside({ session, token, refreshToken }: Opening, { state, policy }: Issuer): Promise<void> {
  const { id: sid, identity, client_id } = session
  const row = isTold(policy, client_id)
    ? [state.delete(keys.logout(personId(identity), sid, client_id)), state.delete(keys.logoutOf(sid))]
    : []
  await Promise.all([
    ...row,
    state.delete(keys.sessionPointer(session.id)),
    state.delete(keys.token(token.id)),
    refreshToken === null ? null : state.delete(keys.refreshToken(refreshToken.hash)),
  ])
}
