import { isForm, readForm } from '../http/body.ts'
import { bearerRequired, insufficientScope, invalidRequest, invalidToken } from '../http/oauth-error.ts'
import { json } from '../http/respond.ts'
import type { Token } from '../records/token.ts'
import { findAccessToken } from './access-token.ts'
import { assertedClaims } from './claims.ts'
import type { Issuer } from './issuer.ts'

/**
 * UserInfo endpoint (OpenID Connect Core section 5.3), by GET and POST. Answered from the token's record and its live session: a token
 * that verifies but was revoked, or whose session ended, is refused.
 *
 * @throws OAuthError invalid_token, insufficient_scope, invalid_request. PortError Unavailable when the store can't be read
 */
export async function userinfo(request: Request, issuer: Issuer): Promise<Response> {
  const live = await findAccessToken(await bearerToken(request), issuer)
  if (live === null) throw invalidToken('the access token is not live')
  const { token } = live
  if (!token.scopes.includes('openid')) {
    const reason = 'the access token was not issued with scope openid'
    issuer.audit.record({ event: 'userinfo.refused', subject: token.subject, client: token.clientID, session: token.session, reason })
    throw insufficientScope(reason, 'openid')
  }
  return json({ sub: token.subject, ...claimsOf(token) })
}

/** RFC 6750 sections 2.1 and 2.2: in the header, or in the form of a POST; one of them. In a query it would end up in logs (section 5.3). */
async function bearerToken(request: Request): Promise<string> {
  const [, inHeader] = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const inForm = request.method === 'POST' && isForm(request) ? (await readForm(request)).get('access_token') : undefined
  if (inHeader !== undefined && inForm !== undefined) throw invalidRequest('the access token is given in two ways')
  const token = inHeader ?? inForm
  if (token === undefined) throw bearerRequired()
  return token
}

function claimsOf(token: Token): Record<string, unknown> {
  const subject = { identity: token.subject, given_name: token.givenName, family_name: token.familyName, groups: [] }
  return { ...assertedClaims(subject, token.scopes, token.asked), ...token.claims }
}
