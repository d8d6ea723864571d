import type * as z from 'zod'
import { PortError } from '../../ports/error.ts'

/**
 * An answer of SSM as its API reference has it.
 *
 * @throws PortError Unavailable: it is of another shape. No cause: what a parser says may quote a value
 */
export function parseAnswer<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.output<Schema> {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  throw new PortError('Unavailable', 'SSM gave an answer of another shape than its API reference has')
}
