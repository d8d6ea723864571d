import { askedResource } from '../../resource.ts'
import type { Check } from '../check.ts'

/** RFC 8707 section 2. */
export const resource: Check = ({ parameters }, issuer) => {
  const asked = askedResource(parameters, issuer.policy)
  return asked === undefined ? {} : { resource: asked }
}
