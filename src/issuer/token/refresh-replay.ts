import { sha256Hex } from '../../crypto/digest.ts'
import { endSession } from '../../logout/endings.ts'
import { isPortError } from '../../ports/error.ts'
import { personId } from '../../ports/keys.ts'
import { drawIdNear, placeOf } from '../../records/ids.ts'
import { createRefreshToken, findRefreshToken, refreshTokenLifetime } from '../../records/refresh-token.ts'
import { findSessionPerson } from '../../records/session.ts'
import { findSessionById } from '../../records/sessions.ts'
import type { SpentMark } from '../../records/spent-mark.ts'
import { createToken } from '../../records/token.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { mint } from './mint.ts'
import { notLive, type RefreshRequest } from './refresh-request.ts'
import { findStanding, keepSession, type Standing } from './standing-session.ts'
import { type TokenResponse, tokenResponse } from './token-response.ts'

const GRACE = 30_000 // ms: two replicas of one proxy race the same token, and answers get lost
const TOLERANCE = 2_000 // ms: between clocks, so that nobody is signed out for a second that two of them disagree on
const DEPTH = 3 // refreshes in a row within the grace whose answers were all lost

/**
 * A spent refresh token. Within the grace it is answered with its successor, which is the winner's; in the tolerance after it is refused and
 * nothing ends; later it is reuse, and by the right client ends the session it belonged to, and no other (RFC 9700 section 4.14.2: which
 * presenter is the thief can't be told).
 */
export async function answerReplay(request: RefreshRequest, mark: SpentMark, issuer: Issuer): Promise<TokenResponse> {
  const age = issuer.clock.now() - mark.at
  if (age >= GRACE) {
    if (age > GRACE + TOLERANCE) await endReused(request, mark, issuer)
    throw notLive()
  }
  if (age < -TOLERANCE) issuer.log.warn('refresh_token.mark_ahead', { seconds: Math.round(-age / 1000) })
  return answerSuccessor(request, mark.successor, issuer, mark.sid)
}

/**
 * Answers with a successor, or with what it was itself refreshed to since.
 *
 * @param sid the session the mark named; a successor that never came to be is made again for it
 */
export async function answerSuccessor(request: RefreshRequest, successor: string, issuer: Issuer, sid?: string): Promise<TokenResponse> {
  let token = successor
  for (let depth = 0; depth < DEPTH; depth++) {
    const found = await findRefreshToken(issuer.state, token, issuer.log)
    if (found.state === 'unknown') return remake(request, token, sid, issuer)
    if (found.state === 'live') {
      // A mark and its successor are of one session; anything else was forged by who can write the store.
      if (sid !== undefined && found.ref.sid !== sid) throw notLive()
      return answerWith(token, await findStanding(request, found.ref, issuer, found.entry.next), issuer)
    }
    if (issuer.clock.now() - found.mark.at >= GRACE) throw notLive()
    token = found.mark.successor
  }
  throw notLive()
}

/** A crash between the mark and its successor: the session lives, so its token does, and the retry makes it. */
async function remake(request: RefreshRequest, token: string, sid: string | undefined, issuer: Issuer): Promise<TokenResponse> {
  const person = sid === undefined ? null : await findSessionPerson(issuer.state, sid)
  if (sid === undefined || person === null) throw notLive()
  const standing = await findStanding(request, { person, sid }, issuer)
  const ttl = refreshTokenLifetime({ now: nowSeconds(issuer), absoluteEnd: standing.allowed.absoluteEnd }, issuer.policy.lifetimes.refresh)
  try {
    await createRefreshToken(issuer.state, await sha256Hex(token), { person, sid }, ttl)
  } catch (error) {
    if (!isPortError(error, 'Exists')) throw error
  }
  return answerWith(token, standing, issuer)
}

/** The refresh that is answered again may have stopped before it kept the session: this one does. */
async function answerWith(refreshToken: string, standing: Standing, issuer: Issuer): Promise<TokenResponse> {
  const { grant, person, scopes } = standing.allowed
  const minted = await mint({ ...grant, jti: drawIdNear(issuer.random, placeOf(person)) }, issuer)
  await Promise.all([
    createToken(issuer.state, minted.token, minted.token.expires - nowSeconds(issuer)),
    ...keepSession(standing, issuer).map(orMoved),
  ])
  return tokenResponse({ minted, scopes, refreshToken }, issuer)
}

/** A session that moved was kept by another refresh, or has ended and takes what was just made with it. */
async function orMoved(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (error) {
    if (!isPortError(error, 'Conflict', 'NotFound')) throw error
  }
}

async function endReused({ clientId }: RefreshRequest, { sid }: SpentMark, issuer: Issuer): Promise<void> {
  const session = await findSessionById(issuer.state, sid, issuer.log)
  if (session?.client_id !== clientId) return
  issuer.log.warn('refresh_token.reused', { client: clientId })
  await endSession({ person: personId(session.identity), sid, cause: 'reuse', by: 'system' }, issuer)
}
