import type { Check } from '../check.ts'

/** RFC 6749 section 3.1: every parameter once, and each one whole. `resource` may repeat by its own specification, and is judged there. */
export const wellFormed: Check = ({ parameters }) => {
  const [fault] = parameters.faults()
  if (fault !== undefined) throw fault
  return {}
}
