import { type Bytes, concat, utf8 } from '../../crypto/bytes.ts'
import type { Clock, Fetch, Random } from '../../ports/platform.ts'
import type { ClientOptions } from './signed-fetch.ts'

/** How a scripted service takes one request. `lost`: the connection breaks. `silent`: nothing comes until the caller gives up. */
export type Take = Scripted | 'lost' | 'silent'

export interface Scripted {
  status: number
  headers?: Record<string, string>
  /** Null: none at all, as to HEAD. */
  body?: string | Bytes | null
  /** The body breaks after what there is of it. */
  broken?: boolean
  /** The body never ends, and nothing comes after what there is of it. */
  hangs?: boolean
}

export interface Sent {
  method: string
  url: string
  headers: Headers
  body: string
  redirect: RequestInit['redirect']
  /** Bodies of earlier answers that nobody had read to their end or cancelled when this request was sent. */
  unread: number
}

export interface ScriptedService {
  sent: Sent[]
  /** The pauses taken, in ms. They pass on the clock and in no time. */
  pauses: number[]
  clock: Clock & { at: number }
  /** For either client, with a bucket or service beside it. */
  options: ClientOptions
  /** Bodies that are still neither read to their end nor cancelled. */
  unread(): number
}

/** 2026-01-02T03:04:05Z */
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)

/** For tests of what calls AWS: a `fetch` that answers request after request as told, the last way for ever. */
export function scriptedService(script: readonly [Take, ...Take[]], drawn = 0xffff_ffff): ScriptedService {
  const clock = { at: NOW, now: () => clock.at }
  const sent: Sent[] = []
  const pauses: number[] = []
  let opened = 0
  let ended = 0

  const fetch: Fetch = async (input, init = {}) => {
    const take = script[Math.min(sent.length, script.length - 1)] ?? script[0]
    const body = init.body instanceof Uint8Array ? new TextDecoder().decode(init.body) : ''
    const { method = 'GET', redirect } = init
    sent.push({ method, url: String(input), headers: new Headers(init.headers), body, redirect, unread: opened - ended })
    if (take === 'lost') throw new TypeError('the connection broke')
    if (take === 'silent') return untilAborted(init.signal)
    return answer(take)
  }

  function answer({ status, headers = {}, body = '', broken = false, hangs = false }: Scripted): Response {
    if (body === null) return new Response(null, { status, headers })
    opened++
    const parts = [typeof body === 'string' ? utf8(body) : concat(body)]
    const stream = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const part = parts.shift()
          if (part !== undefined && part.length > 0) return controller.enqueue(part)
          if (hangs) return new Promise<void>(() => {})
          ended++
          return broken ? controller.error(new TypeError('the body broke')) : controller.close()
        },
        cancel() {
          ended++
        },
      },
      { highWaterMark: 0 }, // or it would be pulled before anyone reads
    )
    return new Response(stream, { status, headers })
  }

  const random: Random = { bytes: (length) => concat(new Uint8Array(length)).map((_, at) => (drawn >>> (8 * (3 - at))) & 0xff) }
  const pause = async (ms: number) => {
    pauses.push(ms)
    clock.at += ms
  }
  const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI' }
  return { sent, pauses, clock, options: { region: 'eu-west-1', credentials, fetch, clock, random, pause }, unread: () => opened - ended }
}

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
}
