import type { Client } from '../../config/policy.ts'
import { declared } from '../../config/policy.ts'
import { decodeBase64 } from '../../crypto/base64url.ts'
import { fromUtf8 } from '../../crypto/bytes.ts'
import { invalidClient, invalidRequest } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import type { Issuer } from '../issuer.ts'
import { isSecretOf } from './secret-of-client.ts'

/** How a client may prove itself at the token endpoint (RFC 6749 section 2.3.1, OpenID Connect Core section 9). */
export const clientAuthenticationMethods = ['none', 'client_secret_basic', 'client_secret_post'] as const

export interface AuthenticatedClient {
  clientId: string
  client: Client
}

/**
 * Who is asking. A public client names itself and presents no secret; a confidential one proves itself with its current or previous secret.
 *
 * @throws OAuthError invalid_client; invalid_request when two ways are mixed. PortError Unavailable when the secret can't be read
 */
export async function authenticateClient(request: Request, parameters: Parameters, issuer: Issuer): Promise<AuthenticatedClient> {
  const { clientId, secret, basic } = credentials(request, parameters)
  const client = declared(issuer.policy.clients, clientId)
  const refused = (why: string) => invalidClient(why, { basic })

  if (client === undefined) throw refused('no such client, or its authentication failed')
  if (client.kind === 'public') {
    if (secret !== undefined) throw refused('a public client presents no secret')
    return { clientId, client }
  }
  if (secret === undefined) throw refused('this client must authenticate with its secret')
  if (!(await isSecretOf(clientId, client, secret, issuer))) {
    // Only what failed counts: a resource server introspects as often as it is called.
    await brake(issuer.limits.token, `${clientId} ${clientAddress(request)}`)
    throw refused('no such client, or its authentication failed')
  }
  return { clientId, client }
}

/** Who the request says it is, proved or not: what a limiter counts by. */
export function presentedClientId(request: Request, parameters: Parameters): string {
  return credentials(request, parameters).clientId
}

interface Credentials {
  clientId: string
  secret: string | undefined
  basic: boolean
}

function credentials(request: Request, parameters: Parameters): Credentials {
  const header = request.headers.get('authorization')
  if (parameters.get('client_assertion') !== undefined) throw invalidClient('client_assertion is not a way to authenticate here')
  if (header === null) return { clientId: parameters.require('client_id'), secret: parameters.get('client_secret'), basic: false }

  const { clientId, secret } = basicCredentials(header)
  if (parameters.get('client_secret') !== undefined)
    throw invalidRequest('the client authenticates in two ways: use the header or client_secret')
  const named = parameters.get('client_id')
  if (named !== undefined && named !== clientId) throw invalidRequest('client_id is not the client of the Authorization header')
  return { clientId, secret, basic: true }
}

/** RFC 6749 section 2.3.1: id and secret are each form-encoded before they are joined. */
function basicCredentials(header: string): { clientId: string; secret: string } {
  const malformed = invalidClient('the Authorization header is not Basic with a form-encoded id and secret', { basic: true })
  const [, encoded] = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header) ?? []
  const bytes = encoded === undefined ? null : decodeBase64(encoded)
  const text = bytes === null ? null : fromUtf8(bytes)
  const colon = text?.indexOf(':') ?? -1
  if (text === null || colon < 1) throw malformed
  try {
    return { clientId: formDecode(text.slice(0, colon)), secret: formDecode(text.slice(colon + 1)) }
  } catch {
    throw malformed
  }
}

function formDecode(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}
