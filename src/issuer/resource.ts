import { declared, type Policy } from '../config/policy.ts'
import { invalidTarget } from '../http/oauth-error.ts'
import type { Parameters } from '../http/parameters.ts'

/**
 * The resource a request names, as the policy spells it; undefined when it names none (RFC 8707 section 2): one, absolute, without
 * fragment, and one that the policy declares.
 *
 * @throws OAuthError invalid_target
 */
export function askedResource(parameters: Parameters, policy: Policy): string | undefined {
  const [asked, ...more] = parameters.all('resource')
  if (asked === undefined) return undefined
  if (more.length > 0) throw invalidTarget('resource may be given once')
  if (!URL.canParse(asked) || asked.includes('#')) throw invalidTarget('resource must be an absolute URI without a fragment')
  const known = [asked, canonical(asked)].find((uri) => declared(policy.resources, uri) !== undefined)
  if (known === undefined) throw invalidTarget('resource is not one that this issuer knows')
  return known
}

/** Scheme and host in lower case; the path, its trailing slash included, as it was written (RFC 3986 section 6.2.2.1). */
function canonical(uri: string): string {
  return uri.replace(/^[^:]+:(?:\/\/[^/?]*)?/, (origin) => origin.toLowerCase())
}
