import type { Parameters } from '../../http/parameters.ts'
import type { Issuer } from '../issuer.ts'
import { authorizationCodeGrant } from './authorization-code.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { DEVICE_CODE_GRANT, deviceCodeGrant } from './device-code.ts'
import { refreshTokenGrant } from './refresh-token.ts'
import type { TokenResponse } from './token-response.ts'

export type Grant = (parameters: Parameters, client: AuthenticatedClient, issuer: Issuer) => Promise<TokenResponse>

/** The grants there are, by `grant_type`. The endpoint looks them up here, and discovery lists them. */
export const grants: ReadonlyMap<string, Grant> = new Map<string, Grant>([
  ['authorization_code', authorizationCodeGrant],
  ['refresh_token', refreshTokenGrant],
  [DEVICE_CODE_GRANT, deviceCodeGrant],
])
