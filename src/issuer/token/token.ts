import { readForm } from '../../http/body.ts'
import { unsupportedGrantType } from '../../http/oauth-error.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { tokenJson } from '../../http/respond.ts'
import type { Issuer } from '../issuer.ts'
import { authenticateClient, presentedClientId } from './client-authentication.ts'
import { grants } from './grants.ts'

/**
 * Token endpoint (RFC 6749 section 3.2).
 *
 * @throws OAuthError invalid_request, invalid_client, unsupported_grant_type, and what the grant refuses. PortError Unavailable
 */
export async function token(request: Request, issuer: Issuer): Promise<Response> {
  const parameters = await readForm(request)
  const grant = grants.get(parameters.require('grant_type'))
  if (grant === undefined) throw unsupportedGrantType(`grant_type must be one of ${[...grants.keys()].join(', ')}`)
  await brake(issuer.limits.token, `${presentedClientId(request, parameters)} ${clientAddress(request)}`)
  const client = await authenticateClient(request, parameters, issuer)
  return tokenJson(await grant(parameters, client, issuer))
}
