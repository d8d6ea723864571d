import type { Client } from '../../../config/policy.ts'
import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Parameters } from '../../../http/parameters.ts'
import { isRegistered } from '../../redirect-uri.ts'

/** OpenID Connect Core section 3.1.2.1, RFC 6749 section 4.1.2.1: a redirect URI that is not registered is never redirected to. */
export function registeredRedirectUri(parameters: Parameters, client: Client): string {
  const uri = parameters.require('redirect_uri')
  if (!isRegistered(client, uri)) throw invalidRequest('redirect_uri is not one that this client registered')
  return uri
}
