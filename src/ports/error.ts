/** Why a port refused. The code is the contract; the message is for people. */
export type PortErrorCode =
  | 'Exists' // create over a live record
  | 'Conflict' // a conditional write whose revision or version moved
  | 'NotFound' // absent or expired
  | 'BadPage' // a page token of another prefix, or none at all
  | 'TooLarge' // over the limit of the port
  | 'NoLifetime' // no lifetime on a key that is not permanent, or one that is no whole number of seconds
  | 'Unsupported' // a key, path or operation the adapter cannot honour exactly
  | 'NotOwner' // a write of a key another module owns; nothing was sent
  | 'Unavailable' // everything else; wraps its cause. Callers fail closed on it

export class PortError extends Error {
  override readonly name = 'PortError'
  readonly code: PortErrorCode
  /** Whole seconds after which asking again makes sense, where that is known. */
  readonly retryAfter: number | undefined

  constructor(code: PortErrorCode, message: string, options: { cause?: unknown; retryAfter?: number } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    this.retryAfter = options.retryAfter
  }
}

/** True when `error` is a PortError of one of `codes`. */
export function isPortError(error: unknown, ...codes: PortErrorCode[]): error is PortError {
  return error instanceof PortError && (codes.length === 0 || codes.includes(error.code))
}

/** What an engine threw, as the port says it: a PortError passes, anything else is Unavailable with its cause. */
export function toPortError(error: unknown, doing: string): PortError {
  if (error instanceof PortError) return error
  return new PortError('Unavailable', `${doing} failed`, { cause: error })
}
