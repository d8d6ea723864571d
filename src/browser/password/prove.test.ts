import { describe, expect, it } from 'vitest'
import { PasswordError, prove } from './prove.ts'

// Workers refuse as many iterations as a password takes: the whole exchange is scripts/verifier.test.ts's, in Node.

const attempt = { auth: 'r1', account: 'recovery', password: 'correct horse' }
const start = { handle: 'h', salt: 'BwcHBwcHBwcHBwcHBwcHBw', iterations: 600_000, B: 'AAAA' }

function answering(answer: () => Response | Promise<Response>) {
  const sent: [string, RequestInit][] = []
  return {
    sent,
    fetch: async (path: string, init: RequestInit) => {
      sent.push([path, init])
      return answer()
    },
  }
}

async function problem(answer: () => Response | Promise<Response>): Promise<string> {
  const error: unknown = await prove(attempt, answering(answer).fetch).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(PasswordError)
  return error instanceof Error ? error.message : ''
}

describe('a password', () => {
  it('is not in what is sent first, which is the request, the account and A', async () => {
    const { fetch, sent } = answering(() => new Response(null, { status: 403 }))
    await prove(attempt, fetch).catch(() => null)
    const [[path, init] = ['', {}]] = sent
    const fields = Object.fromEntries(new URLSearchParams(String(init.body)))
    expect(path).toBe('/login/recovery/start')
    expect(fields).toEqual({ auth: 'r1', account: 'recovery', A: expect.stringMatching(/^[\w-]{342}$/) })
    expect(sent).toHaveLength(1)
  })

  it('is told to be wrong, too late, tried too often or not right now, each in words', async () => {
    const status = (code: number, headers = {}) => problem(() => new Response('{}', { status: code, headers }))
    expect(await status(403)).toContain('was not accepted')
    expect(await status(400)).toContain('not valid any more')
    expect(await status(404)).toContain('not valid any more')
    expect(await status(429, { 'retry-after': '60' })).toContain('Wait 60 seconds')
    expect(await status(503, { 'retry-after': '<b>' })).toContain('Wait a little')
    expect(await status(500)).toContain('can’t answer')
    expect(await problem(() => Promise.reject(new TypeError('offline')))).toContain('could not be reached')
  })

  it.each<[string, unknown]>([
    ['no object', null],
    ['without a handle', { ...start, handle: undefined }],
    ['with another salt', { ...start, salt: 'BwcH' }],
    ['with fewer iterations', { ...start, iterations: 1_000 }],
    ['with a B that is 0', { ...start, B: 'A'.repeat(342) }],
    ['with a B of another length', start],
    ['with a B in standard base64', { ...start, B: '+/+/' }],
    ['with members of its prototype alone', { __proto__: start }],
  ])('is proved to nobody who answers %s', async (_what, answer) => {
    expect(await problem(() => Response.json(answer))).toContain('makes no sense')
  })

  it('is proved to nobody who answers no JSON', async () => {
    expect(await problem(() => new Response('<html>'))).toContain('makes no sense')
  })
})
