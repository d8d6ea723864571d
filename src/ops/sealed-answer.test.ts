import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { openAnswer, sealForOperator } from './sealed-answer.ts'

const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const answer = { key: new Uint8Array(32).fill(7), instance: 'acme', nonce: encodeBase64url(new Uint8Array(16).fill(1)) }

describe('a sealed answer', () => {
  it('opens for who signed the request, and is never twice the same', async () => {
    const [one, two] = [await sealForOperator(utf8('s3cret'), answer, random), await sealForOperator(utf8('s3cret'), answer, random)]
    expect(fromUtf8((await openAnswer(one, answer)) ?? utf8(''))).toBe('s3cret')
    expect(one).not.toBe(two)
  })

  it.each([
    ['key', { ...answer, key: new Uint8Array(32).fill(8) }],
    ['instance', { ...answer, instance: 'other' }],
    ['request', { ...answer, nonce: encodeBase64url(new Uint8Array(16).fill(2)) }],
  ])('opens under no other %s', async (_what, other) => {
    expect(await openAnswer(await sealForOperator(utf8('s3cret'), answer, random), other)).toBeNull()
  })

  it.each(['', 'x', '!', encodeBase64url(new Uint8Array(40))])('%j is none', async (text) => {
    expect(await openAnswer(text, answer)).toBeNull()
  })
})
