import { fromUtf8 } from '../../crypto/bytes.ts'
import { untilAborted } from '../../http/external-fetch.ts'
import type { Bytes, Clock, Fetch, Random } from '../../ports/platform.ts'
import { GoogleError } from './google-error.ts'

/** How one asks, and for how long. */
export interface Asking {
  fetch: Fetch
  clock: Clock
  random: Random
  /** Called before every request, repeated ones too. Throws OutOfCalls where there may be no more. */
  spend(): void
  patience: Patience
  /** ms */
  wait?: (ms: number) => Promise<void>
  /** Whoever asks has given up. */
  signal?: AbortSignal
}

export interface Patience {
  /** Times one thing is asked at most. */
  attempts: number
  /** ms for one exchange, the answer's body too */
  timeout: number
  /** ms: of a longer Retry-After nothing is waited, and the answer is `away` */
  longestWait: number
}

/** Of a tick: nobody waits for it. */
export const PATIENT: Patience = { attempts: 6, timeout: 20_000, longestWait: 60_000 }
/** Of a request: somebody does. */
export const BRISK: Patience = { attempts: 2, timeout: 5_000, longestWait: 1_000 }

/** What was answered, once it is worth reading: anything but a redirect, a failure and "wait". */
export interface Answer {
  status: number
  /** undefined: it is no JSON. */
  body: unknown
}

/** bytes: 500 accounts of all their fields are under 2 MiB, and of the fields we ask for under 200 KiB */
const LONGEST_ANSWER = 4_194_304
const BACKOFF = 500 // ms: doubled each time, with jitter

/**
 * Asks, and asks again for as long as it makes sense: after 429, 5xx, a 403 that means "wait", and what broke on the way.
 *
 * @throws GoogleError away, garbage. OutOfCalls
 */
export async function exchange(address: string, request: RequestInit, asking: Asking): Promise<Answer> {
  const { patience, wait = pause } = asking
  for (let attempt = 1; ; attempt++) {
    const outcome = await once(address, request, asking)
    if ('answer' in outcome) return outcome.answer
    const { again, retryAfter } = outcome
    const delay = retryAfter ?? backoff(attempt, asking.random)
    if (attempt >= patience.attempts || delay > patience.longestWait) throw new GoogleError('away', `Google: ${again}, ${attempt} times`)
    await untilGivenUp(wait(delay), asking.signal)
  }
}

type Outcome = { answer: Answer } | { again: string; retryAfter: number | null }

async function once(address: string, request: RequestInit, { fetch, clock, spend, patience, signal }: Asking): Promise<Outcome> {
  signal?.throwIfAborted()
  spend()
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), patience.timeout)
  const ended = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal])
  try {
    // not redirect: 'error', which workerd throws at before anything is sent
    const response = await untilAborted(fetch(address, { ...request, redirect: 'manual', signal: ended }), ended)
    const bytes = await readWhole(response, ended)
    return judge(response, bytes, clock)
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof GoogleError) throw error
    return { again: limit.signal.aborted ? 'timed out' : 'could not be reached', retryAfter: null }
  } finally {
    clearTimeout(timer)
  }
}

function judge({ status, headers }: Response, bytes: Bytes, clock: Clock): Outcome {
  if (status >= 300 && status < 400) throw new GoogleError('garbage', 'Google: a redirect, where none is documented')
  const body = parseJson(bytes)
  if (status === 429 || status >= 500 || (status === 403 && saysWait(body)))
    return { again: status >= 500 ? `failed with ${status}` : `quota exceeded (${status})`, retryAfter: retryAfterOf(headers, clock) }
  return { answer: { status, body } }
}

const WAIT = ['quotaExceeded', 'rateLimitExceeded', 'userRateLimitExceeded']

/** A 403 of these reasons means "later", and not "no". */
function saysWait(body: unknown): boolean {
  return reasonsOf(body).some((reason) => WAIT.includes(reason))
}

/** The reasons of an error of Google's APIs, and its status, as words. */
export function reasonsOf(body: unknown): string[] {
  const error = member(body, 'error')
  const errors = member(error, 'errors')
  const reasons = Array.isArray(errors) ? errors.map((one) => member(one, 'reason')) : []
  return reasons.filter((reason) => typeof reason === 'string')
}

/** ms; null when the answer does not say (RFC 9110 section 10.2.3) */
function retryAfterOf(headers: Headers, clock: Clock): number | null {
  const text = headers.get('retry-after')
  if (text === null) return null
  if (/^[0-9]{1,9}$/.test(text)) return Number(text) * 1_000
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - clock.now())
}

function backoff(attempt: number, random: Random): number {
  const full = BACKOFF * 2 ** (attempt - 1)
  const [byte = 0] = random.bytes(1)
  return Math.ceil(full / 2 + (full / 2) * (byte / 255))
}

async function readWhole(response: Response, signal: AbortSignal): Promise<Bytes> {
  const reader = response.body?.getReader()
  if (reader === undefined) return new Uint8Array(0)
  const pieces: Uint8Array[] = []
  let length = 0
  try {
    for (;;) {
      const { done, value } = await untilAborted<ReadableStreamReadResult<Uint8Array>>(reader.read(), signal)
      if (done) break
      length += value.byteLength
      if (length > LONGEST_ANSWER) throw new GoogleError('garbage', 'Google: an answer of over 4 MiB')
      pieces.push(value)
    }
  } catch (error) {
    reader.cancel().catch(() => undefined)
    throw error
  }
  const whole = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.byteLength
  }
  return whole
}

function untilGivenUp(waited: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  return signal === undefined ? waited : untilAborted(waited, signal)
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function parseJson(bytes: Bytes): unknown {
  try {
    return JSON.parse(fromUtf8(bytes) ?? '')
  } catch {
    return undefined
  }
}

/** A member of what may be an object. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}
