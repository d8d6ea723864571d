import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareUtf8, concat, fromUtf8, hex, utf8 } from './bytes.ts'

describe('utf8', () => {
  it('is the bytes of the text, and reads back', () => {
    expect(utf8('é€🙂')).toEqual(new Uint8Array([0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x99, 0x82]))
    expect(fromUtf8(utf8('é€🙂'))).toBe('é€🙂')
  })

  it('reads bytes that are no UTF-8 as null, never as replacement characters', () => {
    for (const bytes of [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0x61, 0xe2, 0x82]]) {
      expect(fromUtf8(new Uint8Array(bytes)), String(bytes)).toBeNull()
    }
  })

  it('keeps a byte order mark, so that bytes and text stay one to one', () => {
    expect(fromUtf8(new Uint8Array([0xef, 0xbb, 0xbf, 0x61]))).toBe('\ufeffa')
  })
})

describe('concat', () => {
  it('strings parts together in order, into bytes of its own', () => {
    const first = new Uint8Array([1, 2])
    const whole = concat(first, new Uint8Array(0), new Uint8Array([3]))
    expect(whole).toEqual(new Uint8Array([1, 2, 3]))
    first.fill(9)
    expect(whole).toEqual(new Uint8Array([1, 2, 3]))
    expect(concat()).toEqual(new Uint8Array(0))
  })
})

describe('hex', () => {
  it('is two lower-case digits a byte', () => {
    expect(hex(new Uint8Array([0x00, 0x0a, 0xbc, 0xff]))).toBe('000abcff')
  })
})

describe('compareUtf8', () => {
  it('orders by UTF-8 bytes where UTF-16 units order otherwise', () => {
    // U+FF5E is one unit, U+1F600 a surrogate pair that starts lower.
    expect(['\u{1f600}', '\u{ff5e}'].sort()).toEqual(['\u{1f600}', '\u{ff5e}'])
    expect(['\u{1f600}', '\u{ff5e}'].sort(compareUtf8)).toEqual(['\u{ff5e}', '\u{1f600}'])
  })

  it('puts a text before what it starts', () => {
    expect(compareUtf8('a', 'ab')).toBeLessThan(0)
    expect(compareUtf8('', 'a')).toBeLessThan(0)
    expect(compareUtf8('ab', 'a')).toBeGreaterThan(0)
    expect(compareUtf8('a', 'a')).toBe(0)
  })

  it('is the order of code points, which is that of the bytes', () => {
    const codePoints = (text: string) => [...text].map((letter) => letter.codePointAt(0) ?? 0)
    const byCodePoint = (a: number[], b: number[]): number => {
      const at = a.findIndex((point, index) => point !== b[index])
      return at === -1 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1)
    }
    const letters = fc.string({
      unit: fc.constantFrom('a', 'é', '€', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}'),
      maxLength: 4,
    })
    fc.assert(
      fc.property(letters, letters, (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Math.sign(byCodePoint(codePoints(a), codePoints(b))))
      }),
    )
  })
})
