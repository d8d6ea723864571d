import { describe, expect, it } from 'vitest'
import { compareUtf8 } from '../../crypto/bytes.ts'
import { afterPrefix } from './prefix-range.ts'

describe('the text after every text with a prefix', () => {
  it.each([
    ['a', 'b'],
    ['tok.', 'tok/'],
    ['a%', 'a&'],
    ['a\0', 'a\u{1}'],
    ['a\u{7f}', 'a\u{80}'],
    ['a\u{d7ff}', 'a\u{e000}'],
    ['a\u{ffff}', 'a\u{10000}'],
    ['a\u{1f511}', 'a\u{1f512}'],
    ['a\u{10ffff}', 'b'],
    ['a\u{10ffff}\u{10ffff}', 'b'],
  ])('of %j is %j', (prefix, after) => {
    expect(afterPrefix(prefix)).toBe(after)
  })

  it('of the last code point, and of nothing, does not exist', () => {
    expect(afterPrefix('\u{10ffff}')).toBeNull()
    expect(afterPrefix('')).toBeNull()
  })

  it('parts those that start with it from those that do not, by UTF-8 bytes', () => {
    const letters = ['', '!', '~', '\u{7f}', '\u{80}', '\u{7ff}', '\u{d7ff}', '\u{e000}', '\u{ffff}', '\u{10000}', '\u{10ffff}']
    const texts = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)))
    for (const prefix of letters.flatMap((a) => letters.map((b) => a + b))) {
      const after = afterPrefix(prefix)
      const within = (text: string) => compareUtf8(text, prefix) >= 0 && (after === null || compareUtf8(text, after) < 0)
      expect(texts.filter(within)).toEqual(texts.filter((text) => text.startsWith(prefix)))
    }
  })
})
