import { readForm } from '../http/body.ts'
import { unauthorizedClient } from '../http/oauth-error.ts'
import { endSession } from '../logout/endings.ts'
import { keys, personId } from '../ports/keys.ts'
import { findRefreshToken } from '../records/refresh-token.ts'
import type { Session } from '../records/session.ts'
import { findSessionById, findSessionOf } from '../records/sessions.ts'
import { findAccessToken } from './access-token.ts'
import type { Issuer } from './issuer.ts'
import { authenticateClient } from './token/client-authentication.ts'

/**
 * Revocation endpoint (RFC 7009). A refresh token, live or spent, ends its session; an access token ends alone. A token that is not live is
 * a success: what was asked for is so. One of another client's is refused, and nothing ends (section 2.1).
 *
 * @throws OAuthError invalid_request, invalid_client, unauthorized_client. PortError Unavailable: ask again
 */
export async function revoke(request: Request, issuer: Issuer): Promise<Response> {
  const parameters = await readForm(request)
  const token = parameters.require('token')
  const { clientId } = await authenticateClient(request, parameters, issuer)
  if (!(await revokeRefreshToken(token, clientId, issuer))) await revokeAccessToken(token, clientId, issuer)
  return new Response(null, { status: 200, headers: { 'cache-control': 'no-store' } })
}

/** False when it is no refresh token of ours. */
async function revokeRefreshToken(token: string, clientId: string, issuer: Issuer): Promise<boolean> {
  const session = await sessionOf(token, issuer)
  if (session === undefined) return false
  if (session === null) return true
  if (session.client_id !== clientId) throw anothers(session.identity, clientId, issuer)
  await endSession({ person: personId(session.identity), sid: session.id, cause: 'revoked', by: clientId }, issuer)
  return true
}

/** null: its session has ended. undefined: it is no refresh token of ours. */
async function sessionOf(token: string, issuer: Issuer): Promise<Session | null | undefined> {
  const { state, log } = issuer
  const found = await findRefreshToken(state, token, log)
  if (found.state === 'unknown') return undefined
  return found.state === 'live' ? findSessionOf(state, found.ref, log) : findSessionById(state, found.mark.sid, log)
}

async function revokeAccessToken(token: string, clientId: string, issuer: Issuer): Promise<void> {
  const live = await findAccessToken(token, issuer)
  if (live === null) return
  if (live.token.clientID !== clientId) throw anothers(live.token.subject, clientId, issuer)
  await issuer.state.delete(keys.token(live.token.id))
  issuer.audit.record({ event: 'token.revoked', subject: live.token.subject, client: clientId, session: live.token.session })
}

function anothers(subject: string, client: string, issuer: Issuer) {
  const reason = 'the token was issued to another client'
  issuer.audit.record({ event: 'revocation.refused', subject, client, reason })
  return unauthorizedClient(reason)
}
