import { externalAddressProblem } from '../../config/external-address.ts'
import { untilAborted } from '../../http/external-fetch.ts'
import type { Fetch } from '../../ports/platform.ts'
import { ownMessage } from '../../telemetry/describe-error.ts'

/** ms for a whole exchange, the answer's body too */
const TIMEOUT = 10_000
/** bytes: discovery documents and key sets of large providers are under 20 KiB; a token with many groups is under 64 */
const LONGEST_ANSWER = 262_144

export type Trouble = 'address refused' | 'redirected' | 'timed out' | 'unreachable' | 'failed' | 'too large'

export interface Outgoing {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: URLSearchParams | undefined
}

export type GuardedFetch = (address: string, request: Outgoing) => Promise<Response>

/** The provider could not be asked, or did not answer. */
export class UpstreamAway extends Error {
  override readonly name = 'UpstreamAway'
  readonly [ownMessage] = true

  constructor(trouble: Trouble, options?: ErrorOptions) {
    super(trouble, options)
  }
}

/**
 * A fetch for addresses that a provider's documents name: public https (loopback where the issuer is), redirects refused, bounded time and a
 * bounded answer, which is read whole before it is handed on.
 *
 * @param url the issuer's own
 * @throws UpstreamAway
 */
export function guardedFetch(fetch: Fetch, url: string): GuardedFetch {
  return async (address, { method, headers, body = null }) => {
    if (externalAddressProblem(address, url) !== null) throw new UpstreamAway('address refused')
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), TIMEOUT)
    try {
      // not redirect: 'error', which workerd throws at before anything is sent
      const answer = await untilAborted(fetch(address, { method, headers, body, redirect: 'manual', signal: limit.signal }), limit.signal)
      const trouble = troubleOf(answer.status)
      if (trouble !== null) {
        answer.body?.cancel().catch(() => undefined)
        throw new UpstreamAway(trouble)
      }
      return await readWhole(answer, limit.signal)
    } catch (cause) {
      if (cause instanceof UpstreamAway) throw cause
      throw new UpstreamAway(limit.signal.aborted ? 'timed out' : 'unreachable', { cause })
    } finally {
      clearTimeout(timer)
    }
  }
}

function troubleOf(status: number): Trouble | null {
  if (status >= 500) return 'failed'
  return status >= 300 && status < 400 ? 'redirected' : null
}

async function readWhole(answer: Response, signal: AbortSignal): Promise<Response> {
  const { status, headers } = answer
  const reader = answer.body?.getReader()
  if (reader === undefined) return new Response(null, { status, headers: headersOf(headers) })
  const pieces: Uint8Array<ArrayBuffer>[] = []
  try {
    for (let length = 0; ; ) {
      const { done, value } = await untilAborted<ReadableStreamReadResult<Uint8Array>>(reader.read(), signal)
      if (done) return new Response(new Blob(pieces), { status, headers: headersOf(headers) })
      length += value.byteLength
      if (length > LONGEST_ANSWER) throw new UpstreamAway('too large')
      pieces.push(new Uint8Array(value))
    }
  } catch (error) {
    reader.cancel().catch(() => undefined)
    throw error
  }
}

/** Those that say what the body is; its length and coding were the exchange's. */
function headersOf(headers: Headers): Headers {
  const kept = new Headers()
  for (const name of ['content-type', 'www-authenticate']) {
    const value = headers.get(name)
    if (value !== null) kept.set(name, value)
  }
  return kept
}
