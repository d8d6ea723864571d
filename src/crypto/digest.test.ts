import { describe, expect, it } from 'vitest'
import { hex, utf8 } from './bytes.ts'
import { hmacSha256, labelledDigest, labelledDigestHex, sha256, sha256Hex } from './digest.ts'

describe('sha256', () => {
  it('is FIPS 180-4', async () => {
    // NIST's examples: one block, and two.
    expect(hex(await sha256(utf8('abc')))).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(await sha256Hex('abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq')).toBe(
      '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
    )
    expect(await sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  })

  it('takes text as UTF-8', async () => {
    expect(await sha256Hex('é')).toBe(hex(await sha256(new Uint8Array([0xc3, 0xa9]))))
  })
})

describe('a labelled digest', () => {
  it('is SHA-256 over label and parts, a NUL between them', async () => {
    expect(await labelledDigest('sluis browser v1', 'value')).toEqual(await sha256(utf8('sluis browser v1\u0000value')))
    expect(await labelledDigestHex('sluis kid v1', 'acme', 'ES256', '0', '1')).toBe(
      await sha256Hex('sluis kid v1\u0000acme\u0000ES256\u00000\u00001'),
    )
  })

  it('of one label is never that of another, nor of parts cut elsewhere', async () => {
    const digests = await Promise.all([
      labelledDigestHex('a', 'b', 'c'),
      labelledDigestHex('a', 'bc'),
      labelledDigestHex('ab', 'c'),
      labelledDigestHex('a', 'b', 'c', ''),
      labelledDigestHex('a', '', 'b', 'c'),
      labelledDigestHex('abc'),
    ])
    expect(new Set(digests).size).toBe(digests.length)
  })
})

describe('hmacSha256', () => {
  it('is RFC 4231: a short key, and one longer than a block', async () => {
    expect(hex(await hmacSha256(utf8('Jefe'), utf8('what do ya want for nothing?')))).toBe(
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
    const message = utf8('Test Using Larger Than Block-Size Key - Hash Key First')
    expect(hex(await hmacSha256(new Uint8Array(131).fill(0xaa), message))).toBe(
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    )
  })
})
