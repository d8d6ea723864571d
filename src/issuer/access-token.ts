import type { JWTPayload } from 'jose'
import { personId } from '../ports/keys.ts'
import { findSession, type Session } from '../records/session.ts'
import { findSessionIn } from '../records/sessions.ts'
import { findToken, type Token } from '../records/token.ts'
import { type Issuer, nowSeconds } from './issuer.ts'

/** An access token that is accepted now. */
export interface LiveAccessToken {
  token: Token
  /** The session behind it; null where none stands. */
  session: Session | null
  payload: JWTPayload
}

/**
 * The access token presented, when it is one of ours (RFC 9068 section 4), has not expired, and both its record and the session behind it
 * are live: a token that verifies but was revoked, or whose session ended, is not. Two reads, in one round.
 *
 * @throws PortError Unavailable when the store can't be read: that is no verdict on the token
 */
export async function findAccessToken(presented: string, issuer: Issuer): Promise<LiveAccessToken | null> {
  const verified = await issuer.keyring.verify(presented, { typ: ['at+jwt', LEGACY_TYP] })
  if (verified === null) return null
  const { payload, header } = verified
  const { iss, exp, jti, sub, sid } = payload
  if (iss !== issuer.url || typeof exp !== 'number' || exp <= nowSeconds(issuer)) return null
  if (typeof jti !== 'string' || typeof sub !== 'string') return null
  if (header.typ === LEGACY_TYP) return LEGACY_JTI.test(jti) ? findLegacyToken({ jti, sub }, payload, issuer) : null

  const [token, found] = await Promise.all([
    findToken(issuer.state, jti, issuer.log),
    typeof sid === 'string' ? findSession(issuer.state, personId(sub), sid, issuer.log) : null,
  ])
  if (token === null || token.session !== sid) return null
  if (token.session !== undefined && found === null) return null
  return { token, session: found?.value ?? null, payload }
}

/** What the Go service's access tokens say they are, as ID tokens do: its own and ours have no jti that a token's record stands for. */
const LEGACY_TYP = 'JWT'
/** That service's jti is a uuid, and no id of ours is one: nothing we sign passes for a token of its. */
const LEGACY_JTI = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** An access token of the Go service: its record, not the token, names the session. */
async function findLegacyToken(
  { jti, sub }: { jti: string; sub: string },
  payload: JWTPayload,
  issuer: Issuer,
): Promise<LiveAccessToken | null> {
  const token = await findToken(issuer.state, jti, issuer.log)
  if (token?.subject !== sub) return null
  if (token.session === undefined) return { token, session: null, payload }
  const session = await findSessionIn(issuer.state, personId(sub), token.session, issuer.log)
  return session === null ? null : { token, session, payload }
}
