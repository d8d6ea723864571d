import { describe, expect, test } from 'vitest'
import { redirectUriProblem } from './redirect-uri.ts'

function refused(uri: string, kind: 'public' | 'confidential' = 'public'): string | null {
  return redirectUriProblem(uri, kind)
}

test('an https address is taken as it is written', () => {
  for (const uri of [
    'https://app.acme.example/callback',
    'https://app.acme.example',
    'https://app.acme.example:8443/a?b=c',
    'https://app.acme.example?b=c',
  ]) {
    expect(refused(uri)).toBeNull()
    expect(refused(uri, 'confidential')).toBeNull()
  }
})

test('http is for localhost, 127.0.0.1 and [::1] only', () => {
  for (const uri of ['http://localhost/cb', 'http://127.0.0.1:3000/cb', 'http://[::1]/cb']) expect(refused(uri)).toBeNull()
  for (const uri of ['http://app.acme.example/cb', 'http://127.0.0.2/cb', 'http://localhost.acme.example/cb', 'http://a.localhost/cb']) {
    expect(refused(uri)).toBe('is http: that is for localhost, 127.0.0.1 and [::1] only')
  }
})

test('a relative address is refused', () => {
  for (const uri of ['/callback', 'callback', '//app.acme.example/cb', 'app.acme.example'])
    expect(refused(uri)).toBe('is not an absolute URI')
})

test('a fragment is refused, an empty one too', () => {
  for (const uri of ['https://a.example/cb#x', 'https://a.example/cb#'])
    expect(refused(uri)).toBe('has a fragment (RFC 6749 section 3.1.2)')
})

test('a user name or password is refused', () => {
  for (const uri of ['https://ada@a.example/cb', 'https://ada:x@a.example/cb']) expect(refused(uri)).toBe('holds a user name or password')
})

test('a wildcard is refused', () => {
  for (const uri of ['https://*.a.example/cb', 'https://a.example/*'])
    expect(refused(uri)).toBe('holds a wildcard: every address is registered in full')
})

test('a character no URI has is refused', () => {
  for (const uri of [
    '',
    'https://a.example/a b',
    'https://a.example/\n',
    'https://ä.example/',
    'https:\\\\a.example/',
    'https://a.example/<x>',
  ]) {
    expect(refused(uri)).toBe('holds a character no URI has (RFC 3986): encode it as %XX')
  }
})

test('an address a browser would write otherwise is refused, with how', () => {
  const written = {
    'https://A.example/cb': 'https://a.example/cb',
    'HTTPS://a.example/cb': 'https://a.example/cb',
    'https://a.example:443/cb': 'https://a.example/cb',
    'https://a.example/x/../cb': 'https://a.example/cb',
    'http://127.1/cb': 'http://127.0.0.1/cb',
    'https:a.example/cb': 'https://a.example/cb',
  }
  for (const [uri, href] of Object.entries(written)) expect(refused(uri)).toBe(`is not written as browsers write it: ${href}`)
})

test('an address of endless length is refused', () => {
  expect(refused(`https://a.example/${'a'.repeat(2_000)}`)).toBe('is longer than 2000 characters')
})

describe('a private-use scheme', () => {
  test('is a domain of the app, for public clients', () => {
    for (const uri of ['com.acme.app:/callback', 'com.acme.app://callback', 'org.x-y.app2:/a?b=c']) expect(refused(uri)).toBeNull()
    expect(refused('com.acme.app:/callback', 'confidential')).toBe(
      'has a private-use scheme, which only a public client can have (RFC 8252 section 8.4)',
    )
  })

  test('is refused without a dot, and where it runs or reads something', () => {
    for (const uri of [
      'myapp:/cb',
      'javascript:/alert(1)',
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/x',
      'urn:ietf:wg:oauth:2.0:oob',
      'com.acme.app:cb',
    ]) {
      expect(refused(uri)).toMatch(/^has the scheme [a-z.]+: and is neither https nor a private-use scheme/)
    }
  })
})
