import { describe, expect, it } from 'vitest'
import { checkOwner, checkWrite } from './checks.ts'
import { locate, locateSet } from './layout5.ts'
import { STATE_VALUE_LIMIT } from './state.ts'

const small = new Uint8Array(1)
const full = new Uint8Array(STATE_VALUE_LIMIT)
const over = new Uint8Array(STATE_VALUE_LIMIT + 1)

describe('a write', () => {
  it('is located when nothing is wrong with it', () => {
    expect(checkWrite('tok.j1', full, 60)).toEqual(locate('tok.j1'))
  })

  it('is refused for its size first, then its lifetime, then its key', () => {
    expect(() => checkWrite('', over, 0)).toThrow(code('TooLarge'))
    expect(() => checkWrite('', small, 0)).toThrow(code('NoLifetime'))
    expect(() => checkWrite('', small, 60)).toThrow(code('Unsupported'))
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('has no lifetime of %d seconds', (ttl) => {
    expect(() => checkWrite('gh.org.acme', small, ttl)).toThrow(code('NoLifetime'))
  })

  it.each(['ws.slack.T01', 'gh.org.acme', 'gh.link.1', 'app.gh.link', 'rec.recovery.off'])('of %s may be permanent', (key) => {
    expect(checkWrite(key, small, 'permanent')).toEqual(locate(key))
    expect(checkWrite(key, small, 60)).toEqual(locate(key))
  })

  it.each(['tok.j1', 'gh.x', 'keyring.ES256:k', 'issuer:held:a', 'lease.a:b', 'gate.a.b', 'share.a.b'])('of %s may not', (key) => {
    expect(() => checkWrite(key, small, 'permanent')).toThrow(code('NoLifetime'))
  })
})

describe('a module', () => {
  it.each(['ses.ada.s1', 'lease.keyring:all', 'gate.any.thing', 'cache.d.n', 'dedupe.a', 'notify.acme', 'any'])('oidc writes %s', (key) => {
    expect(() => checkOwner(locate(key), 'oidc')).not.toThrow()
  })

  it.each(['gh.org.acme', 'lease.github-tick:acme', 'lease.export:slack-app.a', 'lease.refresh:C01', 'ws.dir.google.C01'])(
    'oidc does not write %s',
    (key) => {
      expect(() => checkOwner(locate(key), 'oidc')).toThrow(code('NotOwner'))
    },
  )

  it('adds to no set of another module', () => {
    expect(() => checkOwner(locateSet('issuer:sso-of:ada', 's1'), 'github')).toThrow(code('NotOwner'))
    expect(() => checkOwner(locateSet('any', 'm'), 'github')).not.toThrow()
  })

  it('only reads the maintenance flag, which the restore role writes', () => {
    expect(() => checkOwner(locate('rec.maintenance'), 'oidc')).toThrow(code('NotOwner'))
    expect(() => checkOwner(locate('rec.maintenance'), 'oidc', { restore: true })).not.toThrow()
    expect(() => checkOwner(locate('gh.org.acme'), 'oidc', { restore: true })).toThrow(code('NotOwner'))
  })
})

function code(expected: string) {
  return expect.objectContaining({ code: expected })
}
