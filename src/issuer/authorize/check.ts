import type { Client } from '../../config/policy.ts'
import type { Parameters } from '../../http/parameters.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import type { Issuer } from '../issuer.ts'

/** A request whose client and redirect URI are known: whatever else is wrong with it goes back to the client. */
export interface Asked {
  parameters: Parameters
  clientId: string
  client: Client
  redirectUri: string
}

/** What the checks make of it: the fields of the record that waits for a person. */
export type Checked = Partial<AuthorizationRequest['request']> & Pick<AuthorizationRequest, 'resource' | 'hint_subject'>

/** Refuses (OAuthError) or returns the fields it vouches for. */
export type Check = (asked: Asked, issuer: Issuer) => Checked | Promise<Checked>
