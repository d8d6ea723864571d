import { invalidRequest } from '../../../http/oauth-error.ts'
import type { Check } from '../check.ts'

/** RFC 6749 section 3.1: no parameter twice. `resource` may repeat by its own specification, and is judged there. */
export const nothingTwice: Check = ({ parameters }) => {
  const [name] = parameters.repeated()
  if (name !== undefined) throw invalidRequest(`${name} was sent more than once`)
  return {}
}
