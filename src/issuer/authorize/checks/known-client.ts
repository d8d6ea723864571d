import type { Client } from '../../../config/policy.ts'
import { declared } from '../../../config/policy.ts'
import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Parameters } from '../../../http/parameters.ts'
import type { Issuer } from '../../issuer.ts'

/** RFC 6749 section 4.1.2.1: an unknown client is told to the person, never by a redirect. */
export function knownClient(parameters: Parameters, issuer: Issuer): { clientId: string; client: Client } {
  const clientId = parameters.require('client_id')
  const client = declared(issuer.policy.clients, clientId)
  if (client === undefined) throw invalidRequest('client_id names no client of this issuer')
  return { clientId, client }
}
