import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { jsonLog } from '../telemetry/log.ts'
import { answerError } from './answer-error.ts'
import { cors } from './cors.ts'
import type { HttpEnv } from './env.ts'
import { securityHeaders } from './headers.ts'
import { issuerHost } from './host.ts'
import { allowedMethods } from './method.ts'
import { invalidToken } from './oauth-error.ts'
import { notFound } from './refusal.ts'
import { requestId } from './request-id.ts'
import { requestLog } from './request-log.ts'

const ISSUER = 'https://id.acme.example'

/** The middlewares in the order an app stacks them. */
function stacked() {
  const lines: string[] = []
  const site = { name: 'Acme', issuer: ISSUER }
  let ms = 0
  let drawn = 0
  const clock = { now: () => (ms += 5) }
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn) }
  const app = new Hono<HttpEnv>()
  app.use(requestId({ random, log: jsonLog((line) => lines.push(line), clock) }))
  app.use(requestLog({ clock }))
  app.use(securityHeaders(ISSUER))
  app.use(cors(['/token', '/userinfo']))
  app.use(issuerHost(ISSUER))
  app.use(allowedMethods({ '/token': ['POST'], '/userinfo': ['GET', 'POST'], '/login/:provider/start': ['GET'] }))
  app.post('/token', (c) => c.text('ok'))
  app.get('/userinfo', () => {
    throw invalidToken('expired')
  })
  app.get('/login/:provider/start', (c) => {
    c.header('set-cookie', 'a=1')
    return c.text('ok')
  })
  app.get('/healthz', (c) => c.text('ok'))
  app.get('/boom', () => {
    throw new Error('secret')
  })
  const context = (c: { get(key: 'requestId'): string; get(key: 'log'): HttpEnv['Variables']['log'] }) => ({
    site,
    requestId: c.get('requestId'),
    log: c.get('log'),
  })
  app.onError((error, c) => answerError(error, c.req.raw, context(c)))
  app.notFound((c) => answerError(notFound(), c.req.raw, context(c)))
  const ask = async (path: string, init?: RequestInit) => app.request(`${path.startsWith('http') ? '' : ISSUER}${path}`, init)
  const requestLines = () => lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'request')
  return { ask, lines, requestLines }
}

describe('requestId', () => {
  it('names every answer, refusals and defects too, with 16 random bytes', async () => {
    const { ask } = stacked()
    for (const path of ['/healthz', '/userinfo', '/boom', '/nowhere', 'https://other.example/token']) {
      expect((await ask(path)).headers.get('sluis-request-id')).toMatch(/^[A-Za-z0-9_-]{22}$/)
    }
  })

  it('never takes an incoming one', async () => {
    const { ask, lines } = stacked()
    const answer = await ask('/healthz', { headers: { 'sluis-request-id': 'mine', 'x-request-id': 'mine' } })
    expect(answer.headers.get('sluis-request-id')).not.toBe('mine')
    expect(lines.join()).not.toContain('mine')
  })
})

describe('requestLog', () => {
  it('writes one line a request, under the id the answer has', async () => {
    const { ask, requestLines } = stacked()
    const answer = await ask('/healthz')
    expect(requestLines()).toEqual([
      {
        time: expect.any(String),
        level: 'info',
        event: 'request',
        request_id: answer.headers.get('sluis-request-id'),
        method: 'GET',
        route: '/healthz',
        status: 200,
        ms: 5,
      },
    ])
  })

  it('names the route by its pattern and leaves out path and query', async () => {
    const { ask, lines, requestLines } = stacked()
    await ask('/login/ada-lovelace/start?auth=secret', { headers: { cookie: 'sluis_sso=secret', 'cf-connecting-ip': '192.0.2.1' } })
    await ask('/reset/ada-lovelace?secret', { method: 'PROPFIND' })
    expect(requestLines().map(({ route, method }) => ({ route, method }))).toEqual([
      { route: '/login/:provider/start', method: 'GET' },
      { route: 'unmatched', method: 'other' },
    ])
    expect(lines.join()).not.toMatch(/ada-lovelace|secret|192\.0\.2\.1/i)
  })

  it('has the status a refusal was answered with', async () => {
    const { ask, requestLines } = stacked()
    await ask('/userinfo')
    await ask('/boom')
    expect(requestLines().map(({ status }) => status)).toEqual([401, 500])
  })
})

describe('issuerHost', () => {
  it.each([
    'https://other.example/token',
    'https://id.acme.example:8443/token',
    'https://id.acme.example.evil.example/token',
    'https://192.0.2.1/token',
  ])('answers %s with 421', async (url) => {
    const answer = await stacked().ask(url, { method: 'POST' })
    expect(answer.status).toBe(421)
    expect(await answer.json()).toMatchObject({ error: 'misdirected_request' })
  })

  it('answers health by any name, and only that', async () => {
    const { ask } = stacked()
    expect((await ask('http://192.0.2.1/healthz')).status).toBe(200)
    expect((await ask('http://192.0.2.1/healthz/x')).status).toBe(421)
    expect((await ask('http://192.0.2.1/?/healthz')).status).toBe(421)
  })
})

describe('allowedMethods', () => {
  it('answers another method with 405 and the ones there are', async () => {
    const { ask } = stacked()
    const answer = await ask('/token')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST')
    expect((await ask('/userinfo', { method: 'DELETE' })).headers.get('allow')).toBe('GET, POST, HEAD')
  })

  it('knows paths by their pattern', async () => {
    const { ask } = stacked()
    expect((await ask('/login/google/start', { method: 'POST' })).status).toBe(405)
    expect((await ask('/login/google/start')).status).toBe(200)
    expect((await ask('/login/google/start', { method: 'HEAD' })).status).toBe(200)
    expect((await ask('/login//start', { method: 'POST' })).status).toBe(404)
  })

  it('leaves paths it does not list alone', async () => {
    expect((await stacked().ask('/nowhere', { method: 'POST' })).status).toBe(404)
  })
})

describe('cors', () => {
  it('lets any origin read the listed paths, refusals and their challenge too, without credentials', async () => {
    const answer = await stacked().ask('/userinfo', { headers: { origin: 'https://app.example' } })
    expect(answer.status).toBe(401)
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')).toContain('www-authenticate')
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  it('answers a preflight for ten minutes, whatever methods the path has', async () => {
    const answer = await stacked().ask('/token', {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(answer.status).toBe(204)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '600',
    })
  })

  it('opens no other path', async () => {
    const { ask } = stacked()
    for (const path of ['/login/google/start', '/healthz', '/nowhere', '/token/']) {
      expect((await ask(path, { headers: { origin: 'https://app.example' } })).headers.has('access-control-allow-origin')).toBe(false)
      expect((await ask(path, { method: 'OPTIONS' })).headers.has('access-control-allow-origin')).toBe(false)
    }
  })
})

describe('securityHeaders', () => {
  it('are on every answer, refusals and defects too, and cost no cookie', async () => {
    const { ask } = stacked()
    for (const path of ['/healthz', '/userinfo', '/boom', '/nowhere', 'https://other.example/token', '/login/google/start']) {
      expect((await ask(path)).headers.get('x-content-type-options')).toBe('nosniff')
    }
    expect((await ask('/login/google/start')).headers.getSetCookie()).toEqual(['a=1'])
  })

  it('leave a page its own policy', async () => {
    const answer = await stacked().ask('/boom', { headers: { accept: 'text/html' } })
    expect(answer.headers.get('content-security-policy')).toContain("style-src 'self'")
    expect(answer.headers.get('referrer-policy')).toBe('same-origin')
  })
})
