import { describe, expect, it } from 'vitest'
import { pageCsp } from './csp.ts'

const PLAIN = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

function formAction(redirectUri: string): string {
  const csp = pageCsp({ formActionTo: redirectUri })
  const [before = '', after = ''] = csp.split('form-action ')
  expect(before).toBe(PLAIN.split('form-action ')[0])
  return after
}

describe('pageCsp', () => {
  it('allows a page its style and icon, and nothing more', () => {
    expect(pageCsp()).toBe(PLAIN)
  })

  it('takes style and icon from the issuer where the page stands elsewhere', () => {
    const csp = pageCsp({ assets: 'https://id.acme.example' })
    expect(csp).toBe(PLAIN.replaceAll(/(style|img)-src 'self'/g, '$1-src https://id.acme.example'))
  })

  it('allows scripts and calls only where the page has them', () => {
    expect(pageCsp({ script: true })).toContain("; script-src 'self'; base-uri")
    expect(pageCsp({ script: true })).not.toContain('connect-src')
    expect(pageCsp({ script: true, connect: true })).toContain("; script-src 'self'; connect-src 'self'; base-uri")
  })

  it('allows frames of exactly the origins the page has, each once', () => {
    const frames = ['https://a.example/out?iss=x', 'https://b.example:8443/', 'https://a.example/other', 'http://localhost:3000/out']
    const csp = pageCsp({ frames })
    expect(csp).toBe(PLAIN.replace('base-uri', 'frame-src https://a.example https://b.example:8443 http://localhost:3000; base-uri'))
    expect(pageCsp({ frames: [] })).toBe(PLAIN)
  })

  it.each(['https://a;script-src *.example/', 'https://*.example/', 'http://[::1]:3000/', 'javascript:alert(1)', 'com.acme.app:/out', 'x'])(
    'gives the frame %j no way into the header',
    (frame) => {
      expect(pageCsp({ frames: [frame] })).toBe(PLAIN)
    },
  )

  it.each([
    ['https://app.example/callback?x=1#y', "'self' https://app.example"],
    ['https://app.example:8443/cb', "'self' https://app.example:8443"],
    ['https://APP.example:443/cb', "'self' https://app.example"],
    ['https://user:secret@app.example/cb', "'self' https://app.example"],
    ['http://localhost:3000/callback', "'self' http://localhost:3000"],
    ['http://127.0.0.1:49152/cb', "'self' http://127.0.0.1:49152"],
    ['https://my_app.example/cb', "'self' https://my_app.example"],
    ['com.acme.demo:/callback', "'self' com.acme.demo:"],
    ['com.acme.demo:/x;script-src *', "'self' com.acme.demo:"],
    // an IPv6 address is no source expression: browsers pass over one that names it
    ['http://[::1]:8000/cb', "'self' http:"],
  ])('lets a form end at %s', (redirectUri, expected) => {
    expect(formAction(redirectUri)).toBe(expected)
  })

  it.each([
    'https://a;script-src *.example/cb',
    'https://a;script-src/cb',
    "https://a'unsafe-inline'/cb",
    'https://a,b/cb',
    'https://*/cb',
    'https://*.example/cb',
    'https://a.example\r\nx: y/cb?',
    'javascript:alert(1)',
    'data:text/html,x',
    'blob:https://id.acme.example/x',
    'file:///etc/passwd',
    'not a uri',
    '',
    '/relative',
  ])('gives the redirect URI %j no way into the header', (redirectUri) => {
    const action = formAction(redirectUri)
    expect(action).not.toMatch(/[;,*\r\n]|unsafe|script-src/)
    expect(action.split(' ').length).toBeLessThanOrEqual(2)
  })

  it.each(['https://a;b.example/', "https://a'b.example/", 'javascript:x', 'data:x', 'https://*/'])('leaves %s out', (redirectUri) => {
    expect(formAction(redirectUri)).toBe("'self'")
  })
})
