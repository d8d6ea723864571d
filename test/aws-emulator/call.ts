import type { Authorize } from './iam.ts'

export const services = ['dynamodb', 'ssm', 'kms', 's3'] as const
export type Service = (typeof services)[number]

/** The account that owns everything here. */
export const ACCOUNT = '000000000000'

/** An HTTP request as it came, its body read. */
export interface Received {
  method: string
  /** As sent: percent-encoded, without the query. */
  path: string
  /** Decoded, in the order sent. */
  query: readonly (readonly [name: string, value: string])[]
  /** Lower-case names; values as sent. */
  headers: Readonly<Record<string, string | undefined>>
  body: Buffer
}

/** A call that is signed well, and whom it comes from. */
export interface Call {
  operation: string
  request: Received
  /** Refuses what the caller's policy does not allow. */
  authorize: Authorize
  /** Of the emulator's clock, in unix milliseconds. */
  now: number
}

export interface Answer {
  status: number
  headers: Record<string, string>
  body: string | Buffer
}

/** A service's no. `type` as the wire spells it: `__type` of JSON, `Code` of S3. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly type: string
  readonly status: number
  /** What the answer says beside type and message. */
  readonly fields: Readonly<Record<string, unknown>>

  constructor(type: string, message: string, status = 400, fields: Record<string, unknown> = {}) {
    super(message)
    this.type = type
    this.status = status
    this.fields = fields
  }
}

/** The type without the namespace that DynamoDB puts in front of it. */
export function shortType(type: string): string {
  return type.slice(type.indexOf('#') + 1)
}
