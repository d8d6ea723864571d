import { declaredResource } from '../../resource.ts'
import type { Check } from '../check.ts'

/** RFC 8707 section 2. */
export const resource: Check = ({ parameters }, issuer) => ({ resource: declaredResource(parameters, issuer) })
