import type { Random } from '../../ports/platform.ts'
import type { Refusal } from './refusal.ts'

/** Why an attempt may be made again. */
export interface Trouble {
  /** After the name of the call: `was throttled`. */
  says: string
  /** The service may have carried the call out all the same. */
  ambiguous: boolean
  throttled?: boolean
}

export const MAX_ATTEMPTS = 3

/** ms: what the first pause is drawn below; each later one below twice that. The AWS SDKs' own numbers. */
const PAUSE = 100
/** ms: a partition that is too hot, or an account over its rate, needs longer than a broken connection */
const PAUSE_THROTTLED = 500

/**
 * Answers that say: not now. Most are HTTP 400. DynamoDB: the first three, of a table, a partition and an account. KMS and SSM: the first.
 * SSM: TooManyUpdates, two writers of one parameter. S3: SlowDown, a 503. The rest are the names other services and gateways use.
 */
const THROTTLES: ReadonlySet<string> = new Set([
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'TooManyUpdates',
  'SlowDown',
  'Throttling',
  'ThrottledException',
  'TooManyRequestsException',
  'RequestThrottled',
  'RequestThrottledException',
])

/** S3 gave up waiting for the request's body: HTTP 400, and worth another attempt. */
const TIMEOUTS: ReadonlySet<string> = new Set(['RequestTimeout', 'RequestTimeoutException'])

/** Null for a refusal that will be the same the next time. */
export function troubleOf({ type, status }: Refusal): Trouble | null {
  if (THROTTLES.has(type) || status === 429) return { says: 'was throttled', ambiguous: false, throttled: true }
  if (status >= 500 || status === 408 || TIMEOUTS.has(type)) return { says: `was answered with HTTP ${status}`, ambiguous: true }
  return null
}

/** ms, full jitter: anywhere from none to the whole, so that those who were refused together don't come back together. */
export function backoff(trouble: Trouble, tried: number, random: Random): number {
  const bytes = random.bytes(4)
  const drawn = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) / 2 ** 32
  return Math.floor(drawn * (trouble.throttled ? PAUSE_THROTTLED : PAUSE) * 2 ** (tried - 1))
}

/** ms: the services take a signature that is 5 minutes off, S3 one that is 15 */
const TOLERANCE = 5 * 60_000

/**
 * Whether a refusal is about the time we signed with. S3 has types for it, the JSON protocol says it in words, and a HEAD says nothing: there
 * a 403 counts when the service's clock is further from ours than a signature may be.
 *
 * @param ours what we took for the service's clock, unix milliseconds
 */
export function saysClockIsOff({ type, words, status, date }: Refusal, ours: number): boolean {
  if (['RequestTimeTooSkewed', 'RequestExpired', 'RequestInTheFuture'].includes(type)) return true
  if (/^(?:InvalidSignatureException|SignatureDoesNotMatch)$/.test(type) && /^Signature (?:expired|not yet current)/.test(words))
    return true
  return words === '' && status === 403 && date !== null && Math.abs(date - ours) > TOLERANCE
}
