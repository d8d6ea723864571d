import { sha256Hex } from '../../crypto/digest.ts'
import { invalidGrant, invalidTarget, temporarilyUnavailable } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import { admits, audienceOf } from '../../policy/admission.ts'
import { absoluteEnd } from '../../policy/lifetimes.ts'
import { isPortError } from '../../ports/error.ts'
import { personId } from '../../ports/keys.ts'
import type { Rev } from '../../ports/state.ts'
import {
  type AuthorizationCode,
  createSpentCode,
  findCode,
  type SpentCode,
  spentCodeLifetime,
  withdrawSpentCode,
} from '../../records/authorization-code.ts'
import { drawIdNear, drawTokenNear, placeOf, REFRESH_TOKEN } from '../../records/ids.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { askedResource } from '../resource.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { revokeReplayed } from './code-replay.ts'
import { type Minted, mint } from './mint.ts'
import { type Opening, openSession } from './open-session.ts'
import { checkPresentation, type Presentation } from './presentation.ts'
import { type TokenResponse, tokenResponse } from './token-response.ts'

/**
 * Authorization code grant (RFC 6749 section 4.1.3, RFC 7636 section 4.5). Order of writes: docs/design.md, "Code exchange". Of N parallel
 * presentations at most one is answered with tokens, and once a second one with the right verifier has been answered, none of them is accepted.
 *
 * @throws OAuthError invalid_grant, invalid_target; temporarily_unavailable when nothing was handed out and the code is good again
 */
export async function authorizationCodeGrant(
  parameters: Parameters,
  { clientId }: AuthenticatedClient,
  issuer: Issuer,
): Promise<TokenResponse> {
  const presentation: Presentation = {
    hash: await sha256Hex(parameters.require('code')),
    clientId,
    redirectUri: parameters.require('redirect_uri'),
    verifier: parameters.get('code_verifier'),
  }
  const code = await findCode(issuer.state, presentation.hash, issuer.log)
  if (code === null) return revokeReplayed(presentation, invalidGrant('the code is not live'), issuer)
  await checkPresentation(presentation, code)
  checkResource(parameters, code, issuer)

  const { opening, minted } = await prepare(code, issuer)
  const spent = await spend(presentation, code, opening, issuer)
  if (spent === null) return revokeReplayed(presentation, temporarilyUnavailable(1), issuer)

  const opened = await open(opening, presentation, spent, issuer)
  if (opened === 'ended') throw invalidGrant('the code was presented twice; what it opened has ended')
  if (opened === 'sign-in ended') throw invalidGrant('the sign-in this code was issued under has ended')
  issuer.audit.record({
    event: 'session.opened',
    subject: code.identity,
    client: clientId,
    resource: code.resource,
    session: opening.session.id,
    sign_in: code.sso,
  })
  return tokenResponse({ minted, scopes: code.scopes, refreshToken: opening.refreshToken?.token }, issuer)
}

/** RFC 8707 section 2.2: the token endpoint can't be asked for more than the authorization was for. */
function checkResource(parameters: Parameters, code: AuthorizationCode, issuer: Issuer): void {
  const asked = askedResource(parameters, issuer.policy)
  if (asked !== undefined && asked !== code.resource) throw invalidTarget('resource is not the one the code was issued for')
}

/** Everything the exchange hands out and writes, before anything is written. */
async function prepare(code: AuthorizationCode, issuer: Issuer): Promise<{ opening: Opening; minted: Minted }> {
  const audience = audienceOf(issuer.policy, code.client_id, code.resource)
  if (audience === null || !admits(audience, code.groups)) throw invalidGrant('the policy no longer admits this person to this client')
  const now = nowSeconds(issuer)
  const end = absoluteEnd(issuer.policy, audience, code.auth_time)
  if (end <= now) throw invalidGrant('the sign-in has reached its absolute limit')

  const place = placeOf(personId(code.identity))
  const sid = drawIdNear(issuer.random, place)
  const jti = drawIdNear(issuer.random, place)
  const refreshToken = code.scopes.includes('offline_access') ? await drawTokenNear(issuer.random, REFRESH_TOKEN, place) : null
  const minted = await mint({ ...code, audience, authTime: code.auth_time, sid, jti }, issuer)
  const session = {
    id: sid,
    identity: code.identity,
    client_id: code.client_id,
    how: 'code' as const,
    method: code.method,
    acr: code.acr,
    amr: code.amr,
    given_name: code.given_name,
    family_name: code.family_name,
    scopes: code.scopes,
    claims: code.claims,
    resource: code.resource,
    sso: code.sso,
    auth_time: code.auth_time,
    issued_at: now,
    expires_at: Math.min(now + issuer.policy.lifetimes.refresh, end),
  }
  return { opening: { session, token: minted.token, refreshToken, absoluteEnd: end }, minted }
}

/** The gate: the tombstone's revision, or null when another presentation passed it. */
async function spend(
  presentation: Presentation,
  code: AuthorizationCode,
  { token, session }: Opening,
  issuer: Issuer,
): Promise<Rev | null> {
  const spent: SpentCode = {
    client_id: code.client_id,
    redirect_uri: code.redirect_uri,
    code_challenge: code.code_challenge,
    identity: code.identity,
    jti: token.id,
    session: session.id,
    token_expires: token.expires,
  }
  try {
    return await createSpentCode(issuer.state, presentation.hash, spent, spentCodeLifetime(spent, nowSeconds(issuer)))
  } catch (error) {
    if (isPortError(error, 'Exists')) return null
    // It may stand all the same; then nothing else does.
    await withdrawSpentCode(issuer.state, presentation.hash, { jti: token.id, rev: null }, issuer.log)
    throw error
  }
}

/** Opens the session or, when that can't be completed, makes the code good again: unless it was presented a second time meanwhile. */
async function open(opening: Opening, { hash }: Presentation, rev: Rev, issuer: Issuer) {
  try {
    return await openSession(opening, issuer)
  } catch (error) {
    if (!(await withdrawSpentCode(issuer.state, hash, { jti: opening.token.id, rev }, issuer.log))) return 'ended'
    throw error
  }
}
