import { invalidGrant } from '../../http/oauth-error.ts'
import { admits, audienceOf } from '../../policy/admission.ts'
import { absoluteEnd } from '../../policy/lifetimes.ts'
import { personId } from '../../ports/keys.ts'
import type { AskedClaims } from '../../records/claims.ts'
import { drawIdNear, drawTokenNear, placeOf, REFRESH_TOKEN } from '../../records/ids.ts'
import { type Session, sessionLifetime } from '../../records/session.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { type Minted, mint } from './mint.ts'
import type { Opening } from './open-session.ts'

/** What a code, or a device that was allowed, says a session begins with. */
export interface Basis {
  client_id: string
  identity: string
  given_name?: string | undefined
  family_name?: string | undefined
  /** The groups of the policy held when the person was proved. */
  groups: string[]
  scopes: string[]
  nonce?: string | undefined
  claims?: AskedClaims | undefined
  resource?: string | undefined
  /** The sign-in it was asked for, or allowed, under. */
  sign_in: string | undefined
  method: string
  acr: string
  amr?: string[] | undefined
  /** unix seconds */
  auth_time: number
}

/** A session ready to be opened, with the tokens it hands out. */
export interface Prepared {
  opening: Opening
  minted: Minted
}

/**
 * Draws and signs all that an exchange hands out, before anything is written: a key that can't sign leaves the code as good as it was.
 *
 * @throws OAuthError invalid_grant: the policy no longer admits the person, or the sign-in has reached its absolute limit
 */
export async function prepare(basis: Basis, how: Session['how'], issuer: Issuer): Promise<Prepared> {
  const audience = audienceOf(issuer.policy, basis.client_id, basis.resource)
  if (audience === null || !admits(audience, basis.groups))
    throw invalidGrant('the policy no longer admits this person to this client', { subject: basis.identity })
  const now = nowSeconds(issuer)
  const end = absoluteEnd(issuer.policy, audience, basis.auth_time)
  if (end <= now) throw invalidGrant('the sign-in has reached its absolute limit', { subject: basis.identity })

  const place = placeOf(personId(basis.identity))
  const sid = drawIdNear(issuer.random, place)
  const jti = drawIdNear(issuer.random, place)
  const refreshToken = basis.scopes.includes('offline_access') ? await drawTokenNear(issuer.random, REFRESH_TOKEN, place) : null
  const minted = await mint({ ...basis, audience, authTime: basis.auth_time, sid, jti }, issuer)
  const { client_id, identity, given_name, family_name, scopes, claims, resource, sign_in, method, acr, amr, auth_time } = basis
  // Signing a browser out leaves the devices it allowed.
  const sso = how === 'device' ? undefined : sign_in
  const session: Session = {
    ...{ id: sid, identity, client_id, how, method, acr, amr, given_name, family_name, scopes, claims, resource, sso, auth_time },
    issued_at: now,
    expires_at: now + sessionLifetime({ now, absoluteEnd: end }, issuer.policy.lifetimes.refresh),
  }
  return { opening: { session, token: minted.token, refreshToken, signIn: sign_in, absoluteEnd: end }, minted }
}
