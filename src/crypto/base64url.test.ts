import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBase64, decodeBase64url, encodeBase64, encodeBase64url } from './base64url.ts'
import { utf8 } from './bytes.ts'

const anyBytes = fc.uint8Array({ maxLength: 100 }).map((bytes) => new Uint8Array(bytes))

/** RFC 4648 section 10, and the two letters in which the alphabets differ. */
const vectors: [string, string][] = [
  ['', ''],
  ['f', 'Zg=='],
  ['fo', 'Zm8='],
  ['foo', 'Zm9v'],
  ['foob', 'Zm9vYg=='],
  ['fooba', 'Zm9vYmE='],
  ['foobar', 'Zm9vYmFy'],
]

describe('base64url', () => {
  it('is RFC 4648 without padding', () => {
    for (const [plain, padded] of vectors) {
      const text = padded.replaceAll('=', '')
      expect(encodeBase64url(utf8(plain))).toBe(text)
      expect(decodeBase64url(text)).toEqual(utf8(plain))
    }
    expect(encodeBase64url(new Uint8Array([0xfb, 0xff, 0xbf]))).toBe('-_-_')
    expect(decodeBase64url('-_-_')).toEqual(new Uint8Array([0xfb, 0xff, 0xbf]))
  })

  it('reads back whatever it wrote, of any length', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(decodeBase64url(encodeBase64url(bytes))).toEqual(bytes)
      }),
    )
    const long = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251)
    expect(decodeBase64url(encodeBase64url(long))).toEqual(long)
  })

  it('has one text for one value: what is read writes the same text again', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ABCDwxyz0189-_=+/ '), maxLength: 9 })
    fc.assert(
      fc.property(text, (given) => {
        const bytes = decodeBase64url(given)
        if (bytes !== null) expect(encodeBase64url(bytes)).toBe(given)
      }),
    )
  })

  it('refuses padding', () => {
    for (const text of ['Zg==', 'Zm8=', 'Zg=', '=', '====', 'Zm9v=']) expect(decodeBase64url(text), text).toBeNull()
  })

  it('refuses stray bits in the last letter', () => {
    // 'Zg' ends in four zero bits and 'Zm8' in two; these hold one of them set.
    for (const text of ['Zh', 'Zi', 'Zk', 'Zo', 'Zm9', 'Zm-']) expect(decodeBase64url(text), text).toBeNull()
  })

  it('refuses other letters, and a length that no bytes have', () => {
    for (const text of ['+_-_', 'a/bc', 'Zm9v\n', ' Zm9v', 'Zm 9v', 'Zé', '🙂', 'Z', 'Zm9vY', 'Zm9vYmFyA']) {
      expect(decodeBase64url(text), text).toBeNull()
    }
  })
})

describe('base64', () => {
  it('is RFC 4648 with padding', () => {
    for (const [plain, text] of vectors) {
      expect(encodeBase64(utf8(plain))).toBe(text)
      expect(decodeBase64(text)).toEqual(utf8(plain))
    }
    expect(encodeBase64(new Uint8Array([0xfb, 0xff, 0xbf]))).toBe('+/+/')
  })

  it('reads back whatever it wrote', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes)
      }),
    )
  })

  it('refuses missing or misplaced padding, other letters and white space', () => {
    for (const text of ['Zg', 'Zg=', 'Zm8', 'Zm9v=', '=Zm9', 'Z===', '-_-_', 'Zm9v\n', 'Zm 9v', 'Zé==']) {
      expect(decodeBase64(text), text).toBeNull()
    }
  })
})
