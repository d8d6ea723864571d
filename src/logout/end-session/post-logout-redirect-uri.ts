import { invalidRequest } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import type { AskingClient } from './asking-client.ts'

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 3: where the person is sent afterwards, with the client's `state`. It is one of the client's
 * `signed_out` byte for byte; unlike for redirect URIs, the specification makes no exception for the ports of native clients.
 *
 * @throws OAuthError invalid_request: it is not registered, or nothing says whose it would be
 */
export function postLogoutRedirectUri(parameters: Parameters, asking: AskingClient | null): string | undefined {
  const uri = parameters.get('post_logout_redirect_uri')
  if (uri === undefined) return undefined
  if (asking === null && parameters.get('client_id') === undefined && parameters.get('id_token_hint') === undefined) {
    throw invalidRequest('post_logout_redirect_uri needs an id_token_hint or a client_id beside it')
  }
  if (asking === null || !asking.client.signed_out.includes(uri)) {
    throw invalidRequest('post_logout_redirect_uri is not one that this client registered')
  }
  const state = parameters.get('state')
  return state === undefined ? uri : withState(uri, state)
}

/** The registered address is kept byte for byte. */
function withState(uri: string, state: string): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}${new URLSearchParams({ state })}`
}
