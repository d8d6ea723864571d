import { type Client, declared, type Policy } from '../../config/policy.ts'
import { invalidRequest } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import type { Hint } from './id-token-hint.ts'

/** The client a sign-out is asked for by. */
export interface AskingClient {
  client: Client
  /** What people call it. */
  name: string
}

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 2: `client_id`, else the client the hint was issued to; both must be the same. Null when
 * nobody is named, or the hint's client has been taken out of the policy since: its person may still sign out.
 *
 * @throws OAuthError invalid_request
 */
export function askingClient(parameters: Parameters, hint: Hint | undefined, policy: Policy): AskingClient | null {
  const named = parameters.get('client_id')
  if (named !== undefined && hint !== undefined && named !== hint.clientId) {
    throw invalidRequest('client_id is not the client that id_token_hint was issued to')
  }
  const clientId = named ?? hint?.clientId
  const client = clientId === undefined ? undefined : declared(policy.clients, clientId)
  if (named !== undefined && client === undefined) throw invalidRequest('client_id names no client of this issuer')
  return clientId === undefined || client === undefined ? null : { client, name: client.display_name ?? clientId }
}
