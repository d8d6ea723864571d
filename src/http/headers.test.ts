import { describe, expect, it } from 'vitest'
import { withSecurityHeaders } from './headers.ts'

describe('withSecurityHeaders', () => {
  it('puts every header on an answer that has none', async () => {
    const answer = withSecurityHeaders(new Response('x', { status: 201 }), { https: true })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'cache-control': 'no-store',
      'strict-transport-security': 'max-age=31536000',
    })
    expect(answer.status).toBe(201)
    expect(await answer.text()).toBe('x')
  })

  it('says nothing of TLS where there is none', () => {
    expect(withSecurityHeaders(new Response(null), { https: false }).headers.has('strict-transport-security')).toBe(false)
  })

  it('leaves what an answer says itself', () => {
    const own = {
      'cache-control': 'public, max-age=300',
      'content-security-policy': "default-src 'self'",
      'referrer-policy': 'same-origin',
    }
    expect(Object.fromEntries(withSecurityHeaders(new Response(null, { headers: own }), { https: true }).headers)).toMatchObject(own)
  })

  it('keeps every cookie', () => {
    const headers = new Headers()
    headers.append('set-cookie', 'a=1')
    headers.append('set-cookie', 'b=2')
    expect(withSecurityHeaders(new Response(null, { headers }), { https: true }).headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })
})
