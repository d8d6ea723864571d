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
  spentMarkLifetime,
} from '../../records/refresh-token.ts'
import { findSession, type Session } from '../../records/session.ts'
import { writeSpentMark } from '../../records/spent-mark.ts'
import { createToken } from '../../records/token.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { type Minted, mint } from './mint.ts'
import type { RefreshRequest } from './refresh-request.ts'
import type { Refreshable } from './refreshable.ts'
import { findStanding, keepSession } from './standing-session.ts'
import { type TokenResponse, tokenResponse } from './token-response.ts'

type Live = Extract<RefreshToken, { state: 'live' }>

interface Rotation {
  request: RefreshRequest
  live: Live
  found: Found<Session>
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
 * @returns null when another refresh of the same token passed the gate first
 */
export async function rotate(request: RefreshRequest, live: Live, issuer: Issuer): Promise<TokenResponse | null> {
  const { found, allowed } = await findStanding(request, live.ref, issuer, live.entry.next)

  const place = placeOf(allowed.person)
  const successor = await drawTokenNear(issuer.random, REFRESH_TOKEN, place)
  const minted = await mint({ ...allowed.grant, jti: drawIdNear(issuer.random, place) }, issuer)
  const rotation: Rotation = { request, live, found, allowed, successor, minted }
  if (!(await write(rotation, issuer))) return null
  return tokenResponse({ minted, scopes: allowed.scopes, refreshToken: successor.token }, issuer)
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
    ...keepSession(rotation, issuer),
  ])
  if (!(await passed(gate, rotation, issuer))) return false

  // A retry that came between has made the successor already: it is the same token of the same session.
  if (created.status === 'rejected' && !isPortError(created.reason, 'Exists')) throw created.reason
  if (recorded.status === 'rejected') throw recorded.reason
  for (const write of kept) if (write.status === 'rejected') await checkStillLive(write.reason, rotation, issuer)
  return true
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
  if (!isPortError(reason, 'Conflict', 'NotFound')) throw temporarilyUnavailable(1, { cause: reason })
  const { person, session } = rotation.allowed
  if ((await findSession(issuer.state, person, session.id, issuer.log)) !== null) return
  await drop(rotation, issuer)
  throw invalidGrant('the session has ended', { subject: person })
}
