import { readForm } from '../http/body.ts'
import { invalidClient } from '../http/oauth-error.ts'
import { json } from '../http/respond.ts'
import { findRefreshToken } from '../records/refresh-token.ts'
import { findSessionOf } from '../records/sessions.ts'
import { findAccessToken } from './access-token.ts'
import type { Issuer } from './issuer.ts'
import { type AuthenticatedClient, authenticateClient } from './token/client-authentication.ts'

/** RFC 7662 section 2.2: all that is said of a token that is not live, is not ours, or is not the asker's to see. */
const inactive = { active: false } as const

/**
 * Introspection endpoint (RFC 7662), for clients that authenticate with a secret. A token is visible to the client it was issued to and, an
 * access token, to one whose id or resource is in its audience.
 *
 * @throws OAuthError invalid_request, invalid_client. PortError Unavailable when the store can't be read: never `inactive` for it
 */
export async function introspect(request: Request, issuer: Issuer): Promise<Response> {
  const parameters = await readForm(request)
  const token = parameters.require('token')
  const asker = await authenticateClient(request, parameters, issuer)
  if (asker.client.kind === 'public') throw invalidClient('introspection is for clients that authenticate')
  return json((await accessToken(token, asker, issuer)) ?? (await refreshToken(token, asker, issuer)) ?? inactive)
}

async function accessToken(presented: string, asker: AuthenticatedClient, issuer: Issuer): Promise<object | null> {
  const live = await findAccessToken(presented, issuer)
  if (live === null) return null
  const { token, payload } = live
  if (!isVisible(token.clientID, token.audience, asker)) return notToSee(token.subject, asker, issuer)
  const { iss, sub, aud, exp, iat, jti, sid, auth_time, acr, amr, groups } = payload
  return {
    active: true,
    scope: token.scopes.join(' '),
    client_id: token.clientID,
    username: token.subject,
    token_type: 'Bearer',
    ...{ iss, sub, aud, exp, iat, jti, sid, auth_time, acr, amr, groups },
  }
}

async function refreshToken(presented: string, asker: AuthenticatedClient, issuer: Issuer): Promise<object | null> {
  const found = await findRefreshToken(issuer.state, presented, issuer.log)
  if (found.state !== 'live') return null
  const session = await findSessionOf(issuer.state, found.ref, issuer.log)
  if (session === null) return inactive
  if (session.client_id !== asker.clientId) return notToSee(session.identity, asker, issuer)
  const { client_id, identity: sub, scopes, auth_time, id: sid } = session
  return { active: true, scope: scopes.join(' '), client_id, username: sub, sub, iss: issuer.url, auth_time, sid }
}

function notToSee(subject: string, { clientId: client }: AuthenticatedClient, issuer: Issuer): object {
  issuer.audit.record({ event: 'introspection.refused', subject, client, reason: 'the token is not for this client to see' })
  return inactive
}

function isVisible(clientId: string, audience: readonly string[], asker: AuthenticatedClient): boolean {
  if (clientId === asker.clientId) return true
  return audience.some((name) => name === asker.clientId || name === asker.client.resource)
}
