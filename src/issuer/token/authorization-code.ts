import { sha256Hex } from '../../crypto/digest.ts'
import { about, invalidGrant, invalidTarget, OAuthError, temporarilyUnavailable } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import { type AuthorizationCode, findCode } from '../../records/authorization-code.ts'
import type { Issuer } from '../issuer.ts'
import { askedResource } from '../resource.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { revokeReplayed } from './code-replay.ts'
import { type Prepared, prepare } from './prepare.ts'
import { checkPresentation, type Presentation } from './presentation.ts'
import { spend } from './spend.ts'
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
  const prepared = await prepareFor(parameters, code, issuer)
  // A second presentation revokes also when it asks for something else.
  if (prepared instanceof OAuthError) return revokeReplayed(presentation, prepared, issuer)

  const { opening, minted } = prepared
  const opened = await spend(presentation.hash, code, opening, issuer)
  if (opened === null) return revokeReplayed(presentation, temporarilyUnavailable(1), issuer)
  if (opened === 'ended') throw invalidGrant('the code was presented twice; what it opened has ended', { subject: code.identity })
  if (opened === 'sign-in ended') throw invalidGrant('the sign-in this code was issued under has ended', { subject: code.identity })

  const { identity: subject, resource, sso: sign_in } = code
  issuer.audit.record({ event: 'session.opened', subject, client: clientId, resource, session: opening.session.id, sign_in })
  return tokenResponse({ minted, scopes: code.scopes, refreshToken: opening.refreshToken?.token }, issuer)
}

/** What the exchange would hand out, or why it may not. Nothing is written. */
async function prepareFor(parameters: Parameters, code: AuthorizationCode, issuer: Issuer): Promise<Prepared | OAuthError> {
  try {
    checkResource(parameters, code, issuer)
    return await prepare({ ...code, sign_in: code.sso }, 'code', issuer)
  } catch (error) {
    if (error instanceof OAuthError) return about(code.identity, error)
    throw error
  }
}

/** RFC 8707 section 2.2: the token endpoint can't be asked for more than the authorization was for. */
function checkResource(parameters: Parameters, code: AuthorizationCode, issuer: Issuer): void {
  const asked = askedResource(parameters, issuer.policy)
  if (asked !== undefined && asked !== code.resource) throw invalidTarget('resource is not the one the code was issued for')
}
