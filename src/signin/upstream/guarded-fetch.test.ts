import { afterEach, expect, it, vi } from 'vitest'
import type { Fetch } from '../../ports/platform.ts'
import { guardedFetch } from './guarded-fetch.ts'

const HTTPS = 'https://id.acme.example'
const ask = { method: 'GET', headers: {} }

afterEach(() => {
  vi.useRealTimers()
})

it('a provider has ten seconds, whether it heeds being told to stop or not', async () => {
  vi.useFakeTimers()
  const slow: [string, Fetch][] = [
    ['that never answers', () => new Promise(() => {})],
    ['that answers, and never ends', async () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }))],
  ]
  for (const [what, fetch] of slow) {
    const asked = guardedFetch(fetch, HTTPS)('https://login.acme.example/token', ask)
    const outcome = asked.then(
      () => 'answered',
      (error: Error) => error.message,
    )
    await vi.advanceTimersByTimeAsync(9_999)
    expect(await Promise.race([outcome, 'waits']), what).toBe('waits')
    await vi.advanceTimersByTimeAsync(1)
    expect(await outcome, what).toBe('timed out')
  }
})

it('nothing is sent to an address that is not public https, and to loopback only from there', async () => {
  const sent: string[] = []
  const fetch: Fetch = async (input) => {
    sent.push(String(input))
    return new Response('{}')
  }
  for (const address of ['http://login.acme.example/', 'https://10.0.0.1/', 'http://localhost:9000/', 'https://a:b@login.acme.example/']) {
    await expect(guardedFetch(fetch, HTTPS)(address, ask)).rejects.toThrow('address refused')
  }
  expect(sent).toEqual([])
  await guardedFetch(fetch, 'http://localhost:8787')('http://localhost:9000/', ask)
  expect(sent).toEqual(['http://localhost:9000/'])
})

it('an answer is handed on whole, with its status and what says how to read it, and no more', async () => {
  const headers = { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="x"', 'set-cookie': 'a=b', 'content-length': '4' }
  const fetch: Fetch = async (_input, init) => {
    expect(init).toMatchObject({ method: 'POST', redirect: 'manual' })
    return new Response('{"a"', { status: 401, headers })
  }
  const answer = await guardedFetch(fetch, HTTPS)('https://login.acme.example/', {
    ...ask,
    method: 'POST',
    body: new URLSearchParams('a=b'),
  })
  expect([answer.status, await answer.text()]).toEqual([401, '{"a"'])
  expect([...answer.headers.keys()].sort()).toEqual(['content-type', 'www-authenticate'])
})
