import { OAuthError } from '../../../http/oauth-error.ts'
import { grantedScopes, scopes } from '../../scopes.ts'
import type { Check } from '../check.ts'

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/ // RFC 6749 section 3.3

/** RFC 6749 section 3.3: unknown scopes are left out, and the answer says what was granted; a request that leaves none is refused. */
export const scope: Check = ({ parameters }) => {
  const asked = parameters.get('scope')
  if (asked !== undefined && !SCOPE.test(asked)) throw new OAuthError('invalid_scope', 'scope must be words separated by single spaces')
  const granted = grantedScopes(asked)
  if (granted.length === 0) throw new OAuthError('invalid_scope', `scope names none of ${scopes.join(', ')}`)
  return { scopes: granted }
}
