import { describe, expect, it } from 'vitest'
import { secretAddress, secretListing, secretToWrite } from './secret-path.ts'
import { SECRET_VALUE_LIMIT } from './secrets.ts'

describe('a secret path', () => {
  it('is one or more segments of letters, digits, dot, underscore and dash', () => {
    for (const path of ['a', 'internal/oidc/state-secret', 'external/oidc/my.app', 'a_b/C-1/...', 'u-c3a9', '.a/b.']) {
      expect(secretAddress(path)).toBe(path)
    }
  })

  it('has no empty segment, no . or .., and nothing outside its letters', () => {
    for (const path of [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      'a/../b',
      'a/./b',
      'a b',
      'a?b',
      'a*',
      'a~b',
      'é',
      'a\n',
      'a\\b',
      'a\u0000',
    ]) {
      expect(() => secretAddress(path), JSON.stringify(path)).toThrow(expect.objectContaining({ code: 'Unsupported' }))
    }
  })

  it("stands for a client's document when it is the client's credential, and for itself when it only looks like one", () => {
    expect(secretAddress('credentials/oidc-client/rp/secret')).toBe('external/oidc/rp')
    for (const path of ['credentials/oidc-client/rp', 'credentials/oidc-client/rp/secret/r1', 'credentials/oidc-client/rp/other']) {
      expect(secretAddress(path)).toBe(path)
    }
  })
})

describe('a listing', () => {
  it('is of whole segments, with or without the slash at its end, and of everything when empty', () => {
    expect(secretListing('')).toBe('')
    expect(secretListing('a')).toBe('a/')
    expect(secretListing('a/')).toBe('a/')
    expect(secretListing('internal/oidc')).toBe('internal/oidc/')
  })

  it('is of a path otherwise', () => {
    for (const prefix of ['/', '//', '/a', 'a//', 'a/../', '..']) {
      expect(() => secretListing(prefix), prefix).toThrow(expect.objectContaining({ code: 'Unsupported' }))
    }
  })
})

describe('a secret to write', () => {
  it('is refused for its size before its path', () => {
    const over = new Uint8Array(SECRET_VALUE_LIMIT + 1)
    expect(() => secretToWrite('a b', over)).toThrow(expect.objectContaining({ code: 'TooLarge' }))
    expect(() => secretToWrite('a b', over.subarray(1))).toThrow(expect.objectContaining({ code: 'Unsupported' }))
    expect(secretToWrite('credentials/oidc-client/rp/secret', over.subarray(1))).toBe('external/oidc/rp')
  })
})
