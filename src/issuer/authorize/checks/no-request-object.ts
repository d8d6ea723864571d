import { OAuthError } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

const unsupported = [
  ['request', 'request_not_supported'],
  ['request_uri', 'request_uri_not_supported'],
  ['registration', 'registration_not_supported'],
] as const

/** OpenID Connect Core sections 6.1, 6.2 and 7.2.1: what is not supported is refused, not ignored. */
export const noRequestObject: Check = ({ parameters }) => {
  for (const [name, code] of unsupported) {
    if (parameters.get(name) !== undefined) throw new OAuthError(code, `${name} is not supported`)
  }
  return {}
}
