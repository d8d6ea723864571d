import { describe, expect, test } from 'vitest'
import { logoutProblems } from './logout-problems.ts'
import { formatProblem } from './problems.ts'

const demo = { kind: 'confidential', redirects: ['https://app.acme.example/callback', 'http://localhost:3000/callback'] }

function said(fields: object, issuer: string | undefined = 'https://id.acme.example'): string[] {
  return logoutProblems({ ...demo, ...fields }, [], issuer).map(formatProblem)
}

test('a client need not be told', () => {
  expect(said({})).toEqual([])
})

describe('a back-channel address', () => {
  const back = (uri: unknown, issuer?: string) => said({ backchannel_logout_uri: uri }, issuer)

  test('is https and public, on whatever host', () => {
    for (const uri of ['https://app.acme.example/out', 'https://hooks.other.example:8443/out?a=b']) expect(back(uri)).toEqual([])
  })

  test('may be http on loopback where the issuer is on loopback, and only there', () => {
    for (const uri of ['http://localhost:3000/out', 'http://127.0.0.1:3000/out']) {
      expect(back(uri, 'http://localhost:8787')).toEqual([])
      expect(back(uri)).toEqual(['backchannel_logout_uri: is not https (http is for loopback, where the issuer is on loopback too)'])
    }
  })

  test('of an issuer that can not be told is judged by the rest', () => {
    expect(logoutProblems({ ...demo, backchannel_logout_uri: 'http://localhost/out' }, [], undefined)).toEqual([])
    expect(logoutProblems({ ...demo, backchannel_logout_uri: 'https://10.0.0.1/out' }, [], undefined)).toHaveLength(1)
  })

  test.each([
    ['http://app.acme.example/out', 'is http: that is for localhost, 127.0.0.1 and [::1] only'],
    ['https://10.0.0.1/out', 'is an address that is not on the public internet'],
    ['https://a.localhost/out', 'is on this computer'],
    ['https://app.acme.example/out#x', 'has a fragment (RFC 6749 section 3.1.2)'],
    ['https://ada@app.acme.example/out', 'holds a user name or password'],
    ['https://APP.acme.example/out', 'is not written as browsers write it: https://app.acme.example/out'],
    ['/out', 'is not an absolute URI'],
    ['com.acme.app:/out', 'has the scheme com.acme.app: and is not https'],
  ])('is not %s', (uri, message) => {
    expect(back(uri)).toEqual([`backchannel_logout_uri: ${message}`])
  })
})

describe('a front-channel address', () => {
  const front = (uri: unknown, fields: object = {}) => said({ frontchannel_logout_uri: uri, ...fields })

  test('has scheme, host and port of a redirect URI', () => {
    for (const uri of ['https://app.acme.example/out?a=b', 'http://localhost:3000/out']) expect(front(uri)).toEqual([])
    for (const uri of [
      'https://other.acme.example/out',
      'https://app.acme.example:8443/out',
      'http://localhost:3001/out',
      'https://localhost:3000/out',
    ]) {
      expect(front(uri)).toEqual(['frontchannel_logout_uri: has not the scheme, host and port of one of redirects'])
    }
  })

  test('of a public client on loopback may have any port, as its redirect URI may', () => {
    const open = { kind: 'public', redirects: ['http://localhost/callback', 'https://app.acme.example/callback'] }
    expect(front('http://localhost:3001/out', open)).toEqual([])
    for (const uri of ['http://127.0.0.1:3001/out', 'https://app.acme.example:8443/out']) expect(front(uri, open)).toHaveLength(1)
  })

  test('is of no origin when the client has no redirect URI', () => {
    expect(front('https://app.acme.example/out', { redirects: [] })).toHaveLength(1)
    expect(front('https://app.acme.example/out', { kind: 'public', redirects: ['com.acme.app:/callback'] })).toHaveLength(1)
  })

  test('leaves iss and sid to the issuer', () => {
    expect(front('https://app.acme.example/out?sid=1')).toEqual(['frontchannel_logout_uri: holds sid, which the issuer adds'])
    expect(front('https://app.acme.example/out?i%73s=1')).toEqual(['frontchannel_logout_uri: holds iss, which the issuer adds'])
  })

  test.each(['http://[::1]:3000/out', "https://a'b.example/out", 'https://a;b.example/out'])(
    'has a host that a CSP can name: %s',
    (uri) => {
      expect(front(uri, { redirects: [uri.replace('/out', '/callback')] })).toEqual([
        'frontchannel_logout_uri: has a host that no Content-Security-Policy can name (CSP Level 3 section 2.3.1)',
      ])
    },
  )

  test.each(['https://app.acme.example/out#', 'javascript:alert(1)', 'com.acme.app:/out', 'out', 'http://app.acme.example/out'])(
    'is not %s',
    (uri) => {
      expect(front(uri, { kind: 'public', redirects: [uri] })).toHaveLength(1)
    },
  )
})

test('a session is required of an address', () => {
  const flags = { backchannel_logout_session_required: true, frontchannel_logout_session_required: true }
  expect(said(flags)).toEqual([
    'backchannel_logout_session_required: is for a client with a backchannel_logout_uri',
    'frontchannel_logout_session_required: is for a client with a frontchannel_logout_uri',
  ])
  const uris = { backchannel_logout_uri: 'https://app.acme.example/out', frontchannel_logout_uri: 'https://app.acme.example/out' }
  expect(said({ ...flags, ...uris })).toEqual([])
  expect(said({ backchannel_logout_session_required: false })).toEqual([])
})
