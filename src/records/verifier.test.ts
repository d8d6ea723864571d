import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../crypto/base64url.ts'
import { utf8 } from '../crypto/bytes.ts'
import { rfc5054of2048 } from '../crypto/srp/group.ts'
import { toBytes } from '../crypto/srp/numbers.ts'
import { readVerifier, writeVerifier } from './verifier.ts'

const { N } = rfc5054of2048
const salt = new Uint8Array(16).fill(7)
const written = { v: 1, group: 'rfc5054-2048', hash: 'SHA-256', kdf: 'PBKDF2-SHA-256', iterations: 600_000, salt: 'BwcHBwcHBwcHBwcHBwcHBw' }
const text = (value: bigint, length = 256) => encodeBase64url(toBytes(value, length))

describe('a verifier document', () => {
  it.each([2n, N - 1n])('is written as everybody reads it, and comes back (%#)', (v) => {
    const bytes = writeVerifier({ salt, v })
    expect(JSON.parse(new TextDecoder().decode(bytes))).toEqual({ ...written, verifier: text(v) })
    expect(readVerifier(bytes)).toEqual({ salt, v })
  })

  it.each<[string, string, unknown]>([
    ['of another version', 'v', { v: 2 }],
    ['of another group', 'group', { group: 'rfc5054-1024' }],
    ['of another hash', 'hash', { hash: 'SHA-1' }],
    ['of another derivation', 'kdf', { kdf: 'argon2id' }],
    ['with fewer iterations', 'iterations', { iterations: 100_000 }],
    ['with a shorter salt', 'salt', { salt: 'BwcHBwcHBwc' }],
    ['with a salt in standard base64', 'salt', { salt: 'BwcHBwcHBwcHBwcHBwcHBw==' }],
    ['with the verifier 0', 'verifier', { verifier: text(0n) }],
    ['with the verifier 1, which every password has', 'verifier', { verifier: text(1n) }],
    ['with the verifier N', 'verifier', { verifier: text(N) }],
    ['with a verifier a byte short', 'verifier', { verifier: text(2n, 255) }],
    ['with a verifier that is a number', 'verifier', { verifier: 2 }],
    ['without a verifier', 'verifier', { verifier: undefined }],
    ['with the password beside it', 'another member', { password: 'hunter2' }],
  ])('%s is none, and the name of what is wrong is all that is said', (_what, problem, change) => {
    const document = { ...written, verifier: text(2n), ...(change as object) }
    expect(readVerifier(utf8(JSON.stringify(document)))).toEqual({ problem })
  })

  it.each(['', 'null', '[]', '{"v":1', '"a password"'])('%j is none', (bytes) => {
    expect(readVerifier(utf8(bytes))).toEqual({ problem: expect.stringMatching(/./) })
  })
})
