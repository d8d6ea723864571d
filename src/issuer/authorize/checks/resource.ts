import { declared } from '../../../config/policy.ts'
import { OAuthError } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

/** RFC 8707 section 2: one resource, absolute, without fragment, and one that the policy declares. */
export const resource: Check = ({ parameters }, issuer) => {
  const [asked, ...more] = parameters.all('resource')
  if (asked === undefined) return {}
  if (more.length > 0) throw invalidTarget('resource may be given once')
  if (!URL.canParse(asked) || asked.includes('#')) throw invalidTarget('resource must be an absolute URI without a fragment')
  const known = [asked, canonical(asked)].find((uri) => declared(issuer.policy.resources, uri) !== undefined)
  if (known === undefined) throw invalidTarget('resource is not one that this issuer knows')
  return { resource: known }
}

/** Scheme and host in lower case; the path, its trailing slash included, as it was written (RFC 3986 section 6.2.2.1). */
function canonical(uri: string): string {
  return uri.replace(/^[^:]+:\/\/[^/?]*/, (origin) => origin.toLowerCase())
}

function invalidTarget(description: string): OAuthError {
  return new OAuthError('invalid_target', description)
}
