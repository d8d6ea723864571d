import { ownMessage } from '../../telemetry/describe-error.ts'

/**
 * Why Google did not answer what was asked.
 *
 * - `refused`: it does not take the key, the admin or the delegation. Asking again changes nothing
 * - `away`: it can't be reached, fails, or has no quota left for now
 * - `garbage`: what it answers is not what it documents
 * - `tenant`: the key opens another Workspace than the one it is for
 */
export type GoogleTrouble = 'refused' | 'away' | 'garbage' | 'tenant'

/** Google said no, or nothing of use. The message is ours and names no person, address or secret. */
export class GoogleError extends Error {
  override readonly name = 'GoogleError'
  readonly [ownMessage] = true
  readonly code: GoogleTrouble

  constructor(code: GoogleTrouble, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The invocation may make no more calls, or has no more time: what was read is kept, and the next slice goes on. */
export class OutOfCalls extends Error {
  override readonly name = 'OutOfCalls'
}
