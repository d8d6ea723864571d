import { externalAddressProblem } from '../config/external-address.ts'
import type { Fetch } from '../ports/platform.ts'

export interface ExternalRequest {
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface ExternalFetchParts {
  fetch: Fetch
  /** Of the issuer: its origin. */
  url: string
  /** ms for the whole exchange, the answer's body too. */
  timeout: number
}

/** What came of it. The body of an answer is not kept: its status says all there is to hear. */
export type ExternalAnswer = { answered: true; status: number } | { answered: false; reason: ExternalFailure }

export type ExternalFailure = 'address refused' | 'redirected' | 'timed out' | 'unreachable'

/**
 * A request to an address that somebody else chose: a public https one (see externalAddressProblem), whose redirects are not followed, with
 * bounded time and a bounded answer. No cookies are kept or sent, and whatever the other side does is an outcome, never an exception.
 */
export async function externalFetch(address: string, request: ExternalRequest, parts: ExternalFetchParts): Promise<ExternalAnswer> {
  if (externalAddressProblem(address, parts.url) !== null) return { answered: false, reason: 'address refused' }
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), parts.timeout)
  try {
    return await exchange(address, request, parts.fetch, limit.signal)
  } catch {
    return { answered: false, reason: limit.signal.aborted ? 'timed out' : 'unreachable' }
  } finally {
    clearTimeout(timer)
  }
}

async function exchange(address: string, request: ExternalRequest, fetch: Fetch, signal: AbortSignal): Promise<ExternalAnswer> {
  // not redirect: 'error', which workerd throws at before anything is sent
  const answer = await untilAborted(fetch(address, { ...request, redirect: 'manual', signal }), signal)
  await readAway(answer, signal)
  const { status } = answer
  return status >= 300 && status < 400 ? { answered: false, reason: 'redirected' } : { answered: true, status }
}

/** bytes: who is told something has little to say, and an error page of a framework fits */
const LONGEST_ANSWER = 65_536

/**
 * Reads an answer and forgets it. Not cancelled at once: frameworks take a hang-up for a reason to stop what the request began. Past the size
 * or the time it is, for it holds one of the six connections an invocation has. How it ends changes nothing: the status was the answer.
 */
async function readAway(answer: Response, signal: AbortSignal): Promise<void> {
  const reader = answer.body?.getReader()
  if (reader === undefined) return
  try {
    for (let length = 0; length <= LONGEST_ANSWER; ) {
      const { done, value } = await untilAborted<ReadableStreamReadResult<Uint8Array>>(reader.read(), signal)
      if (done) return
      length += value.byteLength
    }
  } catch {
    // broken off, or too slow
  }
  reader.cancel().catch(() => undefined)
}

/** The promise, or a rejection when the signal comes first: also of something that does not heed it. */
export function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort))
}
