import { declared } from '../config/policy.ts'
import { invalidTarget } from '../http/oauth-error.ts'
import type { Parameters } from '../http/parameters.ts'
import type { Issuer } from './issuer.ts'

/**
 * The resource asked for (RFC 8707 section 2), as the policy spells it; undefined when none was.
 *
 * @throws OAuthError invalid_target: more than one, no absolute URI, one with a fragment, or one the policy does not declare
 */
export function declaredResource(parameters: Parameters, issuer: Issuer): string | undefined {
  const [asked, ...more] = parameters.all('resource')
  if (asked === undefined) return undefined
  if (more.length > 0) throw invalidTarget('resource may be given once')
  if (!URL.canParse(asked) || asked.includes('#')) throw invalidTarget('resource must be an absolute URI without a fragment')
  const known = [asked, canonical(asked)].find((uri) => declared(issuer.policy.resources, uri) !== undefined)
  if (known === undefined) throw invalidTarget('resource is not one that this issuer knows')
  return known
}

/** Scheme and host in lower case; the path, its trailing slash included, as it was written (RFC 3986 section 6.2.2.1). */
function canonical(uri: string): string {
  return uri.replace(/^[^:]+:\/\/[^/?]*/, (origin) => origin.toLowerCase())
}
