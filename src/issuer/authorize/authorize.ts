import { readForm } from '../../http/body.ts'
import { invalidRequest, OAuthError } from '../../http/oauth-error.ts'
import { type Parameters, queryParameters } from '../../http/parameters.ts'
import { isSameOrigin } from '../../http/same-origin.ts'
import { isPortError } from '../../ports/error.ts'
import type { Issuer } from '../issuer.ts'
import { answerClient, type Return } from './answer-client.ts'
import { authorizationUrl, LONGEST_LOCATION } from './authorization-url.ts'
import type { Asked } from './check.ts'
import { knownClient } from './checks/known-client.ts'
import { registeredRedirectUri } from './checks/registered-redirect-uri.ts'
import { answerMode, readable } from './checks/response-mode.ts'
import { runChecks } from './checks.ts'
import { sendToSignIn } from './send-to-sign-in.ts'
import { completeSilently } from './silent.ts'

/**
 * Authorization endpoint (RFC 6749 section 3.1, OpenID Connect Core section 3.1.2). An unknown client or redirect URI is a page; everything
 * else that is wrong goes back to the client. A request that passes waits in a record, bound to this browser, for a person to sign in.
 *
 * @throws OAuthError invalid_request: nothing is known to be the client's
 */
export async function authorize(request: Request, issuer: Issuer): Promise<Response> {
  const parameters =
    request.method === 'POST' ? await readForm(request, { faulty: 'report' }) : queryParameters(request, { faulty: 'report' })
  const asked = identify(parameters, issuer)
  // Lax cookies don't come with a cross-site POST: by GET they do, and until then nothing is written.
  const isCrossSite = request.method === 'POST' && !isSameOrigin(request, issuer.url)
  const again = isCrossSite && parameters.faults().length === 0 ? byGet(parameters, issuer) : null
  if (again !== null && again.length <= LONGEST_LOCATION) return new Response(null, { status: 303, headers: { location: again } })

  try {
    if (again !== null) throw invalidRequest('the request is too long to be sent here from another site by POST')
    const checked = await runChecks(asked, issuer)
    const silently = await completeSilently(request, asked, checked, returnTo(asked), issuer)
    if (silently !== null) return silently
    if (checked.prompt?.includes('none'))
      throw new OAuthError('login_required', 'no sign-in of this browser can complete the request without a page')
    const { resource, hint_subject, response_mode = 'query', scopes = [], ...others } = checked
    const fields = { client_id: asked.clientId, redirect_uri: asked.redirectUri, response_mode, scopes, ...others }
    return await sendToSignIn(request, { request: fields, resource, hint_subject }, issuer)
  } catch (error) {
    return answerClient(returnTo(asked), refusal(error, issuer), issuer)
  }
}

function identify(parameters: Parameters, issuer: Issuer): Asked {
  const { clientId, client } = knownClient(parameters, issuer)
  return { parameters, clientId, client, redirectUri: registeredRedirectUri(parameters, client) }
}

function byGet(parameters: Parameters, issuer: Issuer): string {
  return authorizationUrl(
    parameters.names().flatMap((name) => parameters.all(name).map((value): [string, string] => [name, value])),
    issuer,
  )
}

function returnTo({ parameters, client, clientId, redirectUri }: Asked): Return {
  const state = readable(parameters, 'state')
  return { client: client.display_name ?? clientId, redirectUri, mode: answerMode(parameters), state }
}

/** RFC 6749 section 4.1.2.1: a 503 can't reach the client through a redirect, so there is a code for it. */
function refusal(error: unknown, issuer: Issuer): Record<string, string> {
  if (error instanceof OAuthError) return { error: error.code, error_description: error.description }
  if (!isPortError(error, 'Unavailable')) throw error
  issuer.log.error('authorize.unavailable', { error })
  return { error: 'temporarily_unavailable', error_description: 'this cannot be answered right now; try again shortly' }
}
