import { describe, expect, it } from 'vitest'
import { Refusal } from './refusal.ts'
import { isSameOrigin, requireSameOrigin } from './same-origin.ts'

const ISSUER = 'https://id.acme.example'

function posted(headers: Record<string, string>): Request {
  return new Request(`${ISSUER}/login/picker`, { method: 'POST', headers })
}

describe('isSameOrigin', () => {
  it.each([
    ['same-origin', undefined, true],
    ['same-origin', 'null', true], // browsers under no-referrer
    ['none', undefined, false], // an address bar does not POST
    ['none', ISSUER, false],
    ['same-site', ISSUER, false], // another port or subdomain
    ['cross-site', ISSUER, false],
    ['cross-site', 'https://evil.example', false],
    ['', ISSUER, false],
    ['Same-Origin', ISSUER, false],
    [undefined, ISSUER, true], // a browser too old for Sec-Fetch-Site
    [undefined, `${ISSUER}/`, false],
    [undefined, 'http://id.acme.example', false],
    [undefined, `${ISSUER}:8443`, false],
    [undefined, 'https://id.acme.example.evil.example', false],
    [undefined, 'null', false],
    [undefined, undefined, false],
  ])('Sec-Fetch-Site %j with Origin %j: %j', (site, origin, expected) => {
    const headers: Record<string, string> = {}
    if (site !== undefined) headers['sec-fetch-site'] = site
    if (origin !== undefined) headers.origin = origin
    expect(isSameOrigin(posted(headers), ISSUER)).toBe(expected)
  })

  it('takes a Referer for nothing', () => {
    expect(isSameOrigin(posted({ referer: `${ISSUER}/login` }), ISSUER)).toBe(false)
  })
})

describe('requireSameOrigin', () => {
  it('lets a form of ours pass', () => {
    expect(() => requireSameOrigin(posted({ 'sec-fetch-site': 'same-origin' }), ISSUER)).not.toThrow()
  })

  it('refuses with 403 and what to do', () => {
    try {
      requireSameOrigin(posted({ origin: 'https://evil.example' }), ISSUER)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(Refusal)
      expect(error).toMatchObject({ status: 403, code: 'cross_origin_request' })
    }
  })
})
