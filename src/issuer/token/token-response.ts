import { type Issuer, nowSeconds } from '../issuer.ts'
import type { Minted } from './mint.ts'

/** RFC 6749 section 5.1, OpenID Connect Core section 3.1.3.3. */
export interface TokenResponse {
  access_token: string
  token_type: 'Bearer'
  /** seconds */
  expires_in: number
  scope: string
  refresh_token?: string
  id_token?: string
}

export function tokenResponse(
  granted: { minted: Minted; scopes: readonly string[]; refreshToken: string | undefined },
  issuer: Issuer,
): TokenResponse {
  const { minted, scopes, refreshToken } = granted
  return {
    access_token: minted.accessToken,
    token_type: 'Bearer',
    expires_in: minted.token.expires - nowSeconds(issuer),
    scope: scopes.join(' '),
    ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
    ...(minted.idToken === undefined ? {} : { id_token: minted.idToken }),
  }
}
