import { invalidGrant, temporarilyUnavailable } from '../../http/oauth-error.ts'
import { isPortError } from '../../ports/error.ts'
import { keys } from '../../ports/keys.ts'
import { type DrawnToken, drawIdNear, drawTokenNear, placeOf, REFRESH_TOKEN } from '../../records/ids.ts'
import type { Found } from '../../records/record.ts'
import {
  createRefreshToken,
  findRefreshToken,
  type RefreshToken,
  refreshTokenLifetime,
  type SessionRef,
  spentMarkLifetime,
} from '../../records/refresh-token.ts'
import {
  createSession,
  createSessionPointer,
  findLegacySession,
  findSession,
  type Session,
  sessionLifetime,
  updateSession,
} from '../../records/session.ts'
import { writeSpentMark } from '../../records/spent-mark.ts'
import { createToken } from '../../records/token.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { type Minted, mint } from './mint.ts'
import { notLive, type RefreshRequest } from './refresh-request.ts'
import { type Refreshable, refreshable } from './refreshable.ts'
import { type TokenResponse, tokenResponse } from './token-response.ts'

type Live = Extract<RefreshToken, { state: 'live' }>

/** The session a live token stands for; `found` is null for one the Go service wrote, which this rotation writes in our form. */
interface Standing {
  session: Session
  found: Found<Session> | null
}

interface Rotation {
  request: RefreshRequest
  live: Live
  standing: Standing
  allowed: Refreshable
  successor: DrawnToken
  minted: Minted
}

/**
 * Spends a live refresh token. Together: the token's own record becomes the spent mark, over the revision read, which is the gate; its
 * successor and the access token's record are created; and the session is written again when it would lapse before the successor.
 *
 * The mark goes first: a crash right after it leaves a successor that the retry makes good, where the other order would leave one that
 * nobody holds.
 *
 * @returns null when another refresh, or a revocation, passed the gate first
 */
export async function rotate(request: RefreshRequest, live: Live, issuer: Issuer): Promise<TokenResponse | null> {
  const standing = await findStanding(live.ref, issuer)
  if (standing === null) throw notLive()
  const allowed = await refreshable(request, standing.session, issuer)

  const place = placeOf(allowed.person)
  const successor = await drawTokenNear(issuer.random, REFRESH_TOKEN, place)
  const minted = await mint({ ...allowed.grant, jti: drawIdNear(issuer.random, place) }, issuer)
  const rotation: Rotation = { request, live, standing, allowed, successor, minted }
  if (!(await write(rotation, issuer))) return null
  return tokenResponse({ minted, scopes: allowed.scopes, refreshToken: successor.token }, issuer)
}

async function findStanding(ref: SessionRef, issuer: Issuer): Promise<Standing | null> {
  if (ref.person === null) {
    const session = await findLegacySession(issuer.state, ref.sid, issuer.log)
    return session === null ? null : { session, found: null }
  }
  const found = await findSession(issuer.state, ref.person, ref.sid, issuer.log)
  return found === null ? null : { session: found.value, found }
}

/** False when the gate was lost. */
async function write(rotation: Rotation, issuer: Issuer): Promise<boolean> {
  const { live, allowed, successor, minted, request } = rotation
  const { state, policy, random, clock } = issuer
  const at = { now: nowSeconds(issuer), absoluteEnd: allowed.absoluteEnd }
  const sid = allowed.session.id
  const mark = await writeSpentMark(request.presented, { at: clock.now(), successor: successor.token, sid }, random)
  const [gate, created, recorded, ...kept] = await Promise.allSettled([
    state.update(live.entry.key, mark, spentMarkLifetime(at), live.entry.rev),
    createRefreshToken(state, successor.hash, { person: allowed.person, sid }, refreshTokenLifetime(at, policy.lifetimes.refresh)),
    createToken(state, minted.token, minted.token.expires - at.now),
    ...keepSession(rotation, at, issuer),
  ])
  if (!(await passed(gate, rotation, issuer))) return false

  // A retry that came between has made the successor already: it is the same token of the same session.
  if (created.status === 'rejected' && !isPortError(created.reason, 'Exists')) throw created.reason
  if (recorded.status === 'rejected') throw recorded.reason
  for (const write of kept) if (write.status === 'rejected') await checkStillLive(write.reason, rotation, issuer)
  return true
}

/** The session's own record, when it would lapse before the successor; for one of the Go service, the record and pointer of our form. */
function keepSession(
  { standing: { session, found }, allowed }: Rotation,
  at: { now: number; absoluteEnd: number },
  issuer: Issuer,
): Promise<unknown>[] {
  const { state, policy } = issuer
  const { refresh } = policy.lifetimes
  const ttl = sessionLifetime(at, refresh)
  const value = { ...session, last_refreshed: at.now, expires_at: at.now + ttl }
  if (found === null) return [createSession(state, value, ttl), createSessionPointer(state, value, ttl)]
  const lapses = found.value.expires_at < at.now + refreshTokenLifetime({ ...at, absoluteEnd: allowed.absoluteEnd }, refresh)
  return lapses ? [updateSession(state, found, value, ttl)] : []
}

async function passed(gate: PromiseSettledResult<unknown>, rotation: Rotation, issuer: Issuer): Promise<boolean> {
  if (gate.status === 'fulfilled') return true
  const { request, successor } = rotation
  if (isPortError(gate.reason, 'Conflict', 'NotFound')) {
    await drop(rotation, issuer)
    return false
  }
  // Whether the mark was written is not known: what stands there now says.
  const now = await findRefreshToken(issuer.state, request.presented, issuer.log)
  if (now.state === 'spent' && now.mark.successor === successor.token) return true
  await drop(rotation, issuer)
  throw gate.reason
}

/** What nobody was handed. Should the mark turn up after all, the retry it answers makes its successor again. */
async function drop({ successor, minted }: Rotation, { state }: Issuer): Promise<void> {
  await Promise.all([state.delete(keys.refreshToken(successor.hash)), state.delete(keys.token(minted.token.id))])
}

/** A session that moved was kept by another refresh, or has ended: then what was just made is nobody's. */
async function checkStillLive(reason: unknown, rotation: Rotation, issuer: Issuer): Promise<void> {
  if (!isPortError(reason, 'Conflict', 'NotFound', 'Exists')) throw temporarilyUnavailable(1, reason)
  const { person, session } = rotation.allowed
  if ((await findSession(issuer.state, person, session.id, issuer.log)) !== null) return
  await drop(rotation, issuer)
  throw invalidGrant('the session has ended')
}
