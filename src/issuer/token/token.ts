import { readForm } from '../../http/body.ts'
import { OAuthError, unsupportedGrantType } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { tokenJson } from '../../http/respond.ts'
import { isPortError } from '../../ports/error.ts'
import type { Issuer } from '../issuer.ts'
import { authenticateClient, presentedClientId } from './client-authentication.ts'
import { DEVICE_CODE_GRANT } from './device-code.ts'
import { grants } from './grants.ts'
import type { TokenResponse } from './token-response.ts'

/** What a device is told while it waits: nothing was refused. */
const WAITING: ReadonlySet<string> = new Set(['authorization_pending', 'slow_down'])

/**
 * Token endpoint (RFC 6749 section 3.2). A device that polls has a limiter of its own, whose answer it understands.
 *
 * @throws OAuthError invalid_request, invalid_client, unsupported_grant_type, and what the grant refuses. Refusal 429. PortError Unavailable
 */
export async function token(request: Request, issuer: Issuer): Promise<Response> {
  const parameters = await readForm(request)
  const grantType = parameters.require('grant_type')
  const clientId = presentedClientId(request, parameters)
  if (grantType !== DEVICE_CODE_GRANT) await brake(issuer.limits.token, `${clientId} ${clientAddress(request)}`)
  const counted = (outcome: string) => issuer.metrics.count('grants', { grant: nameOf(grantType), outcome })
  try {
    const answer = tokenJson(await granted(grantType, request, parameters, issuer))
    counted('granted')
    return answer
  } catch (error) {
    counted(outcomeOf(error))
    if (error instanceof OAuthError && !WAITING.has(error.code)) {
      issuer.audit.record({
        event: 'token.refused',
        subject: error.subject,
        client: clientId,
        reason: `${error.code}: ${error.description}`,
        how: grantType,
      })
    }
    throw error
  }
}

async function granted(grantType: string, request: Request, parameters: Parameters, issuer: Issuer): Promise<TokenResponse> {
  const grant = grants.get(grantType)
  if (grant === undefined) throw unsupportedGrantType(`grant_type must be one of ${[...grants.keys()].join(', ')}`)
  return grant(parameters, await authenticateClient(request, parameters, issuer), issuer)
}

/** As it is counted: one of a registry's long names by its last word. */
function nameOf(grantType: string): string {
  return grantType === DEVICE_CODE_GRANT ? 'device_code' : grantType
}

function outcomeOf(error: unknown): string {
  if (error instanceof OAuthError) return WAITING.has(error.code) ? 'pending' : error.code
  return isPortError(error, 'Unavailable') ? 'temporarily_unavailable' : 'server_error'
}
