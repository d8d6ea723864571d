import { OAuthError } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

/** RFC 9700 section 2.1.2: the code flow only. */
export const responseTypes = ['code'] as const

export const responseType: Check = ({ parameters }) => {
  const asked = parameters.require('response_type')
  if (asked !== 'code') throw new OAuthError('unsupported_response_type', 'response_type must be code')
  return {}
}
