import { describe, expect, it } from 'vitest'
import { PortError } from '../ports/error.ts'
import { jsonLog } from '../telemetry/log.ts'
import { answerError } from './answer-error.ts'
import { invalidClient, invalidGrant, invalidRequest, serverError } from './oauth-error.ts'
import { notFound } from './refusal.ts'

const SECRET = 'slr_4Tn2q-0dH3kfLZcX8mBv7sYwEjRaGpUiOoQeWtIyN1c'
const BROWSER = { accept: 'text/html,*/*;q=0.8' }

async function answered(thrown: unknown, headers: Record<string, string> = {}, path = '/authorize') {
  const lines: string[] = []
  const log = jsonLog((line) => lines.push(line), { now: () => 0 })
  const context = {
    site: { name: 'Acme', issuer: 'https://id.acme.example' },
    requestId: 'r-1',
    log,
    isProgram: (path: string) => path === '/token',
  }
  const response = await answerError(thrown, new Request(`https://id.acme.example${path}?code=${SECRET}`, { headers }), context)
  return { response, body: await response.text(), lines, line: JSON.parse(lines[0] ?? '{}') }
}

describe('answerError', () => {
  it('answers programs in JSON that nothing keeps', async () => {
    const { response, body } = await answered(invalidGrant('the refresh token is not live'))
    expect(response.status).toBe(400)
    expect(JSON.parse(body)).toEqual({ error: 'invalid_grant', error_description: 'the refresh token is not live' })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('answers people with a page that has code and request id, under a policy without scripts', async () => {
    const { response, body } = await answered(invalidRequest('redirect_uri is not registered'), BROWSER)
    expect(response.status).toBe(400)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).not.toContain('script-src')
    expect(body).toContain('redirect_uri is not registered')
    expect(body).toContain('invalid_request')
    expect(body).toContain('r-1')
  })

  it('answers JSON at an address only programs call, even to one that asks for text/html', async () => {
    const { response } = await answered(invalidGrant('x'), BROWSER, '/token')
    expect(response.headers.get('content-type')).toBe('application/json')
  })

  it('keeps the headers of the refusal, on JSON and on a page', async () => {
    const refusal = invalidClient('no', { basic: true })
    expect((await answered(refusal)).response.headers.get('www-authenticate')).toContain('Basic')
    expect((await answered(refusal, BROWSER)).response.headers.get('www-authenticate')).toContain('Basic')
  })

  it('escapes what it repeats', async () => {
    const { body } = await answered(invalidRequest('<script>x</script> is missing'), BROWSER)
    expect(body).toContain('&lt;script&gt;')
    expect(body).not.toContain('<script>')
  })

  it.each([{}, BROWSER])('says nothing of an unknown error but its request id (%j)', async (headers) => {
    const { response, body, line } = await answered(new TypeError(`boom ${SECRET}`), headers)
    expect(response.status).toBe(500)
    expect(body).toContain('server_error')
    expect(body).not.toMatch(/boom|slr_|TypeError|answer-error/)
    expect(line).toMatchObject({ level: 'error', event: 'request.refused', status: 500, error: { name: 'TypeError' } })
  })

  it('logs no secret, no message of a foreign error and no query', async () => {
    const foreign = new Error(`ada@acme.example ${SECRET}`, { cause: new Error(SECRET) })
    for (const thrown of [
      foreign,
      serverError('x', foreign),
      new PortError('Unavailable', `get rt.${SECRET} failed`, { cause: foreign }),
      SECRET,
    ]) {
      const { lines } = await answered(thrown)
      expect(lines).toHaveLength(1)
      expect(lines.join()).not.toMatch(/slr_|ada@/)
    }
  })

  it('answers a store that cannot be read with 503 and when to come back, never as a refusal', async () => {
    const { response, body, line } = await answered(new PortError('Unavailable', 'get failed'))
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(JSON.parse(body).error).toBe('temporarily_unavailable')
    expect(line.error).toMatchObject({ name: 'PortError', code: 'Unavailable' })
  })

  it.each(['Exists', 'Conflict', 'NotFound', 'NotOwner', 'TooLarge'] as const)(
    'answers a PortError %s nobody handled with 500',
    async (code) => {
      const { response, body } = await answered(new PortError(code, 'x'))
      expect(response.status).toBe(500)
      expect(JSON.parse(body).error).toBe('server_error')
    },
  )

  it('answers an unknown address in JSON or as a page', async () => {
    const { response, body } = await answered(notFound())
    expect(response.status).toBe(404)
    expect(JSON.parse(body).error).toBe('not_found')
    expect((await answered(notFound(), BROWSER)).body).toContain('Nothing here')
  })
})
