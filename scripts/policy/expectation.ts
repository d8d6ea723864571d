import * as z from 'zod'
import { email } from '../../src/config/values.ts'

const names = z.array(z.string()).min(1, 'names nothing').optional()

/** What a policy has to come to for somebody. */
const expectation = z.strictObject({
  person: z.union([email, z.enum(['recovery', 'conformance'])], {
    error: 'is neither an address like ada@acme.example nor recovery or conformance',
  }),
  /** Their directory groups; as the local directory has them when nothing is said. */
  groups: z.array(email).optional(),
  holds: names,
  not_holds: names,
  admitted: names,
  refused: names,
  /** All that a token for a client or a resource names, as it is written in there. */
  token_groups: z.record(z.string(), z.array(z.string())).optional(),
})

/** A file of them. */
export const expectationsSchema = z.array(expectation).min(1, 'expects nothing')

export type Expectation = z.output<typeof expectation>
