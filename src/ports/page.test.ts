import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodePage, encodePage } from './page.ts'

describe('a page token', () => {
  it.each([
    ['tok.p.', 'tok.p.009', 'dG9rLnAuAHRvay5wLjAwOQ'],
    ['', 'rt.z', 'AHJ0Lno'],
    ['ses.ada.', 'ses.ada.s2', 'c2VzLmFkYS4Ac2VzLmFkYS5zMg'],
  ])('of "%s" after %s is %s', (prefix, lastKey, token) => {
    expect(encodePage(prefix, lastKey)).toBe(token)
    expect(decodePage(token, prefix)).toBe(lastKey)
  })

  it('gives back the last key, whatever the prefix', () => {
    const text = fc.string({ unit: 'binary' })
    fc.assert(
      fc.property(text, text, (prefix, lastKey) => {
        expect(decodePage(encodePage(prefix, lastKey), prefix)).toBe(lastKey)
      }),
    )
  })

  it.each([undefined, ''])('that is %j starts at the beginning', (token) => {
    expect(decodePage(token, 'tok.')).toBeNull()
  })

  it.each([
    ['of another prefix', encodePage('f.a.', 'f.a.1')],
    ['of a prefix that only begins alike', encodePage('tok.p.x', 'tok.p.x1')],
    ['without a NUL', 'dG9rLnAu'],
    ['with padding', 'dG9rLnAuAHRvay5wLjAwOQ=='],
    ['with letters of standard base64', 'dG9rLnAuAH+/'],
    ['with stray bits', 'dG9rLnAuAHRvay5wLjAwOR'],
    ['with a space', ' dG9rLnAuAHRvay5wLjAwOQ'],
    ['that is no UTF-8', 'dG9rLnAuAP8'],
    ['that is no base64url at all', 'not a token!'],
  ])('%s is refused', (_, token) => {
    expect(() => decodePage(token, 'tok.p.')).toThrow(expect.objectContaining({ code: 'BadPage' }))
  })
})
