import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

/** OpenID Connect Core section 3.1.2.1: seconds since the person was last proved. */
export const maxAge: Check = ({ parameters }) => {
  const asked = parameters.get('max_age')
  if (asked === undefined) return {}
  if (!/^[0-9]{1,10}$/.test(asked)) throw invalidRequest('max_age must be a whole number of seconds')
  return { max_age: Number(asked) }
}
