import { describe, expect, it, vi } from 'vitest'
import type { Fetch } from '../ports/platform.ts'
import { type ExternalAnswer, externalFetch } from './external-fetch.ts'

const ADDRESS = 'https://app.acme.example/logout'
const POST = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' } as const

function send(fetch: Fetch, { address = ADDRESS, url = 'https://id.acme.example', timeout = 1_000 } = {}): Promise<ExternalAnswer> {
  return externalFetch(address, POST, { fetch, url, timeout })
}

/** A body of so many kilobytes, or one that never ends; counts what was taken of it, and knows whether it was cancelled. */
function body({ kilobytes = Number.POSITIVE_INFINITY, silentAfter = Number.POSITIVE_INFINITY } = {}) {
  const seen = { taken: 0, cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (seen.taken >= silentAfter) return new Promise<void>(() => undefined)
        if (seen.taken >= kilobytes) return controller.close()
        seen.taken++
        controller.enqueue(new Uint8Array(1_024))
      },
      cancel() {
        seen.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, seen }
}

describe('an external request', () => {
  it('goes out as it was given, follows no redirect and carries no cookie', async () => {
    const fetch = vi.fn<Fetch>(async () => new Response('thanks'))
    expect(await send(fetch)).toEqual({ answered: true, status: 200 })
    const [address, init] = fetch.mock.calls[0] ?? []
    expect(address).toBe(ADDRESS)
    expect(init).toEqual({ ...POST, redirect: 'manual', signal: expect.any(AbortSignal) })
  })

  it.each([
    'http://app.acme.example/',
    'https://10.0.0.1/',
    'https://[::ffff:7f00:1]/',
    'https://ada:secret@app.acme.example/',
    'https://localhost/',
    'nowhere',
  ])('is not sent to %s', async (address) => {
    const fetch = vi.fn<Fetch>()
    expect(await send(fetch, { address })).toEqual({ answered: false, reason: 'address refused' })
    expect(fetch).not.toHaveBeenCalled()
  })

  it('goes by http to loopback from an issuer on loopback', async () => {
    const address = 'http://127.0.0.1:3000/logout'
    expect(await send(async () => new Response(), { address, url: 'http://localhost:8787' })).toEqual({ answered: true, status: 200 })
  })

  it.each([200, 204, 299, 400, 404, 500, 503])('answered with %i is answered', async (status) => {
    expect(await send(async () => new Response(null, { status }))).toEqual({ answered: true, status })
  })

  it.each([300, 301, 302, 303, 307, 308])('answered with %i was redirected, and goes nowhere else', async (status) => {
    const fetch = vi.fn<Fetch>(async () => new Response(null, { status, headers: { location: 'https://other.acme.example/' } }))
    expect(await send(fetch)).toEqual({ answered: false, reason: 'redirected' })
    expect(fetch).toHaveBeenCalledTimes(1)
  })

  it('reads an answer to its end', async () => {
    const { stream, seen } = body({ kilobytes: 64 })
    expect(await send(async () => new Response(stream))).toEqual({ answered: true, status: 200 })
    expect(seen).toEqual({ taken: 64, cancelled: false })
  })

  it('reads no more than 64 KiB of an enormous answer, and lets go of it', async () => {
    const { stream, seen } = body()
    expect(await send(async () => new Response(stream, { status: 500 }))).toEqual({ answered: true, status: 500 })
    expect(seen).toEqual({ taken: 65, cancelled: true })
  })

  it('waits no longer than its timeout for an answer, of a fetch that does not heed its signal either', async () => {
    const heeding: Fetch = (_, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(new Error('aborted'))))
    const heedless: Fetch = () => new Promise(() => undefined)
    for (const fetch of [heeding, heedless]) expect(await send(fetch, { timeout: 20 })).toEqual({ answered: false, reason: 'timed out' })
  })

  it('takes the status of an answer whose body does not end', async () => {
    const { stream, seen } = body({ silentAfter: 2 })
    expect(await send(async () => new Response(stream), { timeout: 20 })).toEqual({ answered: true, status: 200 })
    expect(seen).toEqual({ taken: 2, cancelled: true })
  })

  it('takes the status of an answer that breaks off', async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('reset')) })
    expect(await send(async () => new Response(broken))).toEqual({ answered: true, status: 200 })
  })

  it('that fails, at once or later, is unreachable', async () => {
    const later: Fetch = async () => Promise.reject(new TypeError('no such host'))
    const atOnce: Fetch = () => {
      throw new TypeError('not that')
    }
    for (const fetch of [later, atOnce]) expect(await send(fetch)).toEqual({ answered: false, reason: 'unreachable' })
  })
})
