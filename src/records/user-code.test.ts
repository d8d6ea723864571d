import { describe, expect, it } from 'vitest'
import { drawUserCode, shownUserCode, typedUserCode } from './user-code.ts'

const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

describe('a user code', () => {
  it('RFC 8628 6.1: is eight of twenty letters, none of them a vowel or a Y', () => {
    for (let n = 0; n < 200; n++) expect(drawUserCode(random)).toMatch(new RegExp(`^[${ALPHABET}]{8}$`))
  })

  it('has every letter as often as any other: bytes that would favour some are passed over', () => {
    const counts = new Map<string, number>()
    let next = 0
    const everyByte = { bytes: (length: number) => Uint8Array.from({ length }, () => next++ % 256) }
    for (let n = 0; n < 30; n++) for (const letter of drawUserCode(everyByte)) counts.set(letter, (counts.get(letter) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries([...ALPHABET].map((letter) => [letter, 12])))
  })

  it('draws again when too many bytes are passed over', () => {
    const given = [Uint8Array.from([255, 255, 255, 255, 255, 255, 255, 240]), Uint8Array.from([0, 1, 2, 3, 4, 5, 6, 19])]
    const draws = { bytes: () => given.shift() ?? new Uint8Array(8) }
    expect(drawUserCode(draws)).toBe('BCDFGHJZ')
  })

  it('is shown in two halves', () => {
    expect(shownUserCode('BCDFGHJK')).toBe('BCDF-GHJK')
  })

  it.each([
    ['as it is shown', 'BCDF-GHJK'],
    ['as it is kept', 'BCDFGHJK'],
    ['in lower case', 'bcdf-ghjk'],
    ['without the dash', 'bcdfghjk'],
    ['with spaces', ' b c d f  g h j k '],
    ['with other dashes', 'BCDF–GHJK'],
    ['with a tab and a full stop', '\tBCDF.GHJK.'],
  ])('is known when typed %s', (_what, typed) => {
    expect(typedUserCode(typed)).toBe('BCDFGHJK')
  })

  it.each([
    ['nothing', ''],
    ['dashes', '--------'],
    ['seven letters', 'BCDF-GHJ'],
    ['nine letters', 'BCDF-GHJK-L'],
    ['a vowel', 'ACDF-GHJK'],
    ['a Y', 'YCDF-GHJK'],
    ['digits', '12345678'],
    ['letters of another script', 'ВСDF-GHJK'], // the first two are Cyrillic
    ['what has a name in every object', 'constructor'],
  ])('is none when %s is typed', (_what, typed) => {
    expect(typedUserCode(typed)).toBeNull()
  })
})
