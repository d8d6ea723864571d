import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapePathSegment, escapeSegment, unescapePathSegment, unescapeSegment } from './escapes.ts'

const name = fc.string({ unit: 'binary' })

describe('a name in a key', () => {
  it.each([
    ['ada@acme.example', 'ada~40acme~2Eexample'],
    ['my.app', 'my~2Eapp'],
    ['a/b', 'a~2Fb'],
    ['~', '~7E'],
    ['é', '~C3~A9'],
    [' ', '~20'],
    ['a-b_C9', 'a-b_C9'],
    ['', ''],
  ])('"%s" is spelt "%s"', (plain, segment) => {
    expect(escapeSegment(plain)).toBe(segment)
    expect(unescapeSegment(segment)).toBe(plain)
  })

  it('comes back from its spelling, which never ends its segment', () => {
    fc.assert(
      fc.property(name, (plain) => {
        expect(escapeSegment(plain)).toMatch(/^[A-Za-z0-9_~-]*$/)
        expect(unescapeSegment(escapeSegment(plain))).toBe(plain)
      }),
    )
  })

  it.each(['a.b', '~2e', '~41', '~', '~4', 'é', '~C3', '~FF'])('has no other spelling, such as "%s"', (segment) => {
    expect(unescapeSegment(segment)).toBeNull()
  })
})

describe("a name in a secret's address", () => {
  it.each([
    ['rp', 'rp'],
    ['my.app', 'my.app'],
    ['u-x', 'u-752d78'],
    ['', 'u-'],
    ['.', 'u-2e'],
    ['..', 'u-2e2e'],
    ['a b', 'u-612062'],
    ['é', 'u-c3a9'],
    ['ada@acme.example', 'u-6164614061636d652e6578616d706c65'],
    ['x~7Ey', 'u-787e374579'],
    ['u-1', 'u-752d31'],
    ['https://rp.example/cb', 'u-68747470733a2f2f72702e6578616d706c652f6362'],
  ])('"%s" is spelt "%s"', (plain, segment) => {
    expect(escapePathSegment(plain)).toBe(segment)
    expect(unescapePathSegment(segment)).toBe(plain)
  })

  it('comes back from its spelling, which is a segment of a path', () => {
    fc.assert(
      fc.property(name, (plain) => {
        expect(escapePathSegment(plain)).toMatch(/^(?!\.\.?$)[A-Za-z0-9._-]+$/)
        expect(unescapePathSegment(escapePathSegment(plain))).toBe(plain)
      }),
    )
  })

  it.each(['u-zz', 'u-6', 'u-ff'])('"%s" is no hex of a text and stands for itself', (segment) => {
    expect(unescapePathSegment(segment)).toBe(segment)
  })
})
