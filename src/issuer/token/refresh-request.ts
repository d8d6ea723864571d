import { invalidGrant, type OAuthError } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'

/** What a client asks of a refresh. */
export interface RefreshRequest {
  clientId: string
  /** The refresh token as it was presented. */
  presented: string
  parameters: Parameters
}

/** One answer for unknown, expired, revoked and reused: which of them, only the person's own pages say. */
export function notLive(): OAuthError {
  return invalidGrant('the refresh token is not live')
}
