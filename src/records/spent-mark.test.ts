import { describe, expect, it } from 'vitest'
import { decodeBase64url, encodeBase64url } from '../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { isSpentMark, openSpentMark, writeSpentMark } from './spent-mark.ts'

// Made with node:crypto from the description alone (seed: keys): SHA-256(label NUL token), nonce 01..0c, AAD `<ms>:<sid>`.
const SPENT = 'slr_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'
const SUCCESSOR = 'slr___79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA'
const SID = 'AAECAwQFBgcICQoLDA0ODw'
const AT = 1_796_040_000_123
const SEALED = 'AQIDBAUGBwgJCgsMMFRE69xoprVXyPBf-bGGLf5wQblJF9Fbd39Fa3OZhrlrwRjyWh0-5MO1nEkO1idfIM4Vu51tpM7iuzi8PbjQ'
const MARK = `spent:${AT}:${SEALED}:${SID}`

const counting = { bytes: (length: number) => Uint8Array.from({ length }, (_, at) => at + 1) }
const drawn = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

describe('a spent mark', () => {
  it('is written byte for byte as the Go service writes it', async () => {
    expect(fromUtf8(await writeSpentMark(SPENT, { at: AT, successor: SUCCESSOR, sid: SID }, counting))).toBe(MARK)
  })

  it('opens with the token it was made for', async () => {
    expect(await openSpentMark(SPENT, MARK)).toEqual({ at: AT, successor: SUCCESSOR, sid: SID })
  })

  it('is sealed anew each time: two of the same are not equal', async () => {
    const mark = { at: AT, successor: SUCCESSOR, sid: SID }
    expect(await writeSpentMark(SPENT, mark, drawn)).not.toEqual(await writeSpentMark(SPENT, mark, drawn))
  })

  it('holds neither of the two tokens', () => {
    expect(MARK).not.toContain(SPENT)
    expect(MARK).not.toContain(SUCCESSOR)
  })

  it.each<[string, string, string]>([
    ['another token', `${SPENT.slice(0, -1)}9`, MARK],
    ['its successor', SUCCESSOR, MARK],
    ['no token', '', MARK],
    ['a millisecond more', SPENT, MARK.replace(String(AT), String(AT + 1))],
    ['the same time spelled with a zero', SPENT, MARK.replace(String(AT), `0${AT}`)],
    ['another session', SPENT, MARK.replace(SID, 'AAECAwQFBgcICQoLDA0ODx')],
    ['no session', SPENT, `spent:${AT}:${SEALED}:`],
    ['a session more', SPENT, `${MARK}:${SID}`],
    ['no seal', SPENT, `spent:${AT}::${SID}`],
    ['no time', SPENT, `spent::${SEALED}:${SID}`],
    ['a time with a sign', SPENT, MARK.replace(String(AT), `+${AT}`)],
    ['a time below zero', SPENT, MARK.replace(String(AT), `-${AT}`)],
    ['a time with a fraction', SPENT, MARK.replace(String(AT), `${AT}.5`)],
    ['a time beyond what a number holds', SPENT, MARK.replace(String(AT), '9'.repeat(16))],
    ['parts in another order', SPENT, `spent:${SID}:${SEALED}:${AT}`],
    ['another word', SPENT, MARK.replace('spent', 'Spent')],
    ['a seal in base64, not base64url', SPENT, MARK.replaceAll('-', '+')],
    ['a padded seal', SPENT, MARK.replace(SEALED, `${SEALED}=`)],
    ['a seal with a bit changed', SPENT, MARK.replace(SEALED, flipped(SEALED, 20))],
    ['a tag with a bit changed', SPENT, MARK.replace(SEALED, flipped(SEALED, 74))],
    ['a nonce with a bit changed', SPENT, MARK.replace(SEALED, flipped(SEALED, 0))],
    ['a line break after it', SPENT, `${MARK}\n`],
  ])('with %s opens to nothing', async (_what, token, mark) => {
    expect(mark === MARK && token === SPENT).toBe(false)
    expect(await openSpentMark(token, mark)).toBeNull()
  })

  it('cut short anywhere opens to nothing', async () => {
    for (let length = 0; length < MARK.length; length++) expect(await openSpentMark(SPENT, MARK.slice(0, length))).toBeNull()
  })

  it('is told from a session by its first word', () => {
    expect([MARK, 'spent:', 'spent:x'].map(isSpentMark)).toEqual([true, true, true])
    expect(['', 'spent', 'ada~40acme~2Eexample.s1', SID].map(isSpentMark)).toEqual([false, false, false, false])
  })

  it('that seals nothing is none', async () => {
    const empty = fromUtf8(await writeSpentMark(SPENT, { at: AT, successor: '', sid: SID }, drawn))
    expect(await openSpentMark(SPENT, empty ?? '')).toBeNull()
  })
})

function flipped(sealed: string, at: number): string {
  const bytes = decodeBase64url(sealed) ?? utf8('')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  return encodeBase64url(bytes)
}
