import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Client } from '../config/policy.ts'
import { isRegistered } from './redirect-uri.ts'

function client(kind: Client['kind'], ...redirects: string[]): Client {
  return { kind, redirects, requires: ['emp:all'], signed_out: [], device: false }
}

describe('RFC 9700 4.1.3: a redirect URI is compared byte for byte', () => {
  const registered = client('confidential', 'https://app.example/cb', 'http://localhost:3000/cb', 'https://app.example/a?b=c')

  it.each(['https://app.example/cb', 'http://localhost:3000/cb', 'https://app.example/a?b=c'])('%s is registered', (uri) => {
    expect(isRegistered(registered, uri)).toBe(true)
  })

  it.each([
    'https://app.example/cb/',
    'https://app.example/CB',
    'https://APP.example/cb',
    'https://app.example:443/cb',
    'https://app.example/cb?',
    'https://app.example/cb#',
    'https://app.example/a?b=c&d=e',
    'https://app.example/x/../cb',
    'http://localhost:3001/cb',
    'http://localhost/cb',
    '',
  ])('%s is not', (uri) => {
    expect(isRegistered(registered, uri)).toBe(false)
  })
})

describe('RFC 8252 7.3: a loopback redirect of a native client', () => {
  const hosts = ['localhost', '127.0.0.1', '[::1]']

  it('matches with any port there is, and in nothing else', () => {
    const ports = fc.option(fc.integer({ min: 0, max: 65_535 }), { nil: null })
    fc.assert(
      fc.property(fc.constantFrom(...hosts), ports, ports, fc.constantFrom('', '/', '/cb', '/cb?a=1', '?a=1'), (host, at, asked, rest) => {
        const uri = (port: number | null) => `http://${host}${port === null ? '' : `:${port}`}${rest}`
        expect(isRegistered(client('public', uri(at)), uri(asked))).toBe(true)
        expect(isRegistered(client('public', uri(at)), `${uri(asked)}x`)).toBe(false)
        expect(isRegistered(client('confidential', `${uri(at)}x`), uri(asked))).toBe(false)
      }),
    )
  })

  it('never matches one of another loopback host', () => {
    for (const host of hosts) {
      for (const other of hosts.filter((name) => name !== host)) {
        expect(isRegistered(client('public', `http://${host}/cb`), `http://${other}:1/cb`)).toBe(false)
      }
    }
  })

  it.each([
    'http://localhost:65536/cb',
    'http://localhost:/cb',
    'http://localhost:00/cb',
    'http://localhost:+1/cb',
    'http://localhost:1e3/cb',
    'http://localhost: 1/cb',
    'http://a@localhost:1/cb',
    'http://:@localhost:1/cb',
    'http://localhost:1@evil.example/cb',
    'http://localhost:1/cb#',
    'http://localhost:1/cb\n',
    'http://localhost:1\t/cb',
    'http://[::1:1/cb',
    'https://localhost:1/cb',
    'http:localhost:1/cb',
    'HTTP://localhost:1/cb',
    'http://LOCALHOST:1/cb',
    'http://localhost.:1/cb',
    'http://app.localhost:1/cb',
    'http://127.0.0.2:1/cb',
    'http://127.1:1/cb',
    'http://[0:0:0:0:0:0:0:1]:1/cb',
    'http://0.0.0.0:1/cb',
  ])('does not match %j', (uri) => {
    expect(isRegistered(client('public', 'http://localhost/cb', 'http://127.0.0.1/cb', 'http://[::1]/cb'), uri)).toBe(false)
  })

  it('has a port of its own only on loopback', () => {
    expect(isRegistered(client('public', 'http://app.example/cb'), 'http://app.example:1/cb')).toBe(false)
    expect(isRegistered(client('public', 'https://app.example/cb'), 'https://app.example:1/cb')).toBe(false)
    expect(isRegistered(client('public', 'com.acme.demo:/cb'), 'com.acme.demo:/cb')).toBe(true)
    expect(isRegistered(client('public', 'com.acme.demo:/cb'), 'com.acme.demo:1/cb')).toBe(false)
  })
})
