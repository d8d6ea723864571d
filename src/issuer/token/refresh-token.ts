import type { Parameters } from '../../http/parameters.ts'
import { findLegacySuccessor, findRefreshToken, type RefreshToken } from '../../records/refresh-token.ts'
import type { Issuer } from '../issuer.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { answerReplay, answerSuccessor } from './refresh-replay.ts'
import { notLive, type RefreshRequest } from './refresh-request.ts'
import { rotate } from './rotate.ts'
import type { TokenResponse } from './token-response.ts'

/**
 * Refresh token grant (RFC 6749 section 6, RFC 9700 section 4.14): every refresh spends the token presented. Order of writes:
 * docs/design.md, "Refresh".
 *
 * @throws OAuthError invalid_grant: unknown, expired, reused, past the absolute limit, or no longer admitted; invalid_scope, invalid_target
 */
export async function refreshTokenGrant(parameters: Parameters, { clientId }: AuthenticatedClient, issuer: Issuer): Promise<TokenResponse> {
  const presented = parameters.require('refresh_token')
  return answer({ clientId, presented, parameters }, await findRefreshToken(issuer.state, presented, issuer.log), issuer)
}

async function answer(request: RefreshRequest, found: RefreshToken, issuer: Issuer): Promise<TokenResponse> {
  switch (found.state) {
    case 'live': {
      const rotated = await rotate(request, found, issuer)
      // Another refresh of the same token was first: its successor is everybody's.
      return rotated ?? answerMoved(request, issuer)
    }
    case 'spent':
      return answerReplay(request, found.mark, issuer)
    case 'unknown': {
      const successor = await findLegacySuccessor(issuer.state, request.presented)
      if (successor === null) throw notLive()
      return answerSuccessor(request, successor, issuer)
    }
  }
}

async function answerMoved(request: RefreshRequest, issuer: Issuer): Promise<TokenResponse> {
  const found = await findRefreshToken(issuer.state, request.presented, issuer.log)
  if (found.state !== 'spent') throw notLive()
  return answerReplay(request, found.mark, issuer)
}
