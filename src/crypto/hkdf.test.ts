import { describe, expect, it } from 'vitest'
import { type Bytes, concat, hex, utf8 } from './bytes.ts'
import { hmacSha256 } from './digest.ts'
import { hkdfSha256 } from './hkdf.ts'

describe('hkdfSha256', () => {
  it('is RFC 5869: appendix A.3, the case without salt or info', async () => {
    expect(hex(await hkdfSha256(new Uint8Array(22).fill(0x0b), '', 42))).toBe(
      '8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8',
    )
  })

  it('is extract and expand of RFC 5869 section 2, with the info of each block', async () => {
    const secret = Uint8Array.from({ length: 32 }, (_, at) => at)
    for (const info of ['sluis/seal/v1', 'é']) {
      const expanded = await expand(await hmacSha256(new Uint8Array(32), secret), info)
      for (const length of [16, 32, 64]) expect(await hkdfSha256(secret, info, length)).toEqual(expanded.slice(0, length))
    }
  })

  it('derives another key for another info', async () => {
    const secret = utf8('one secret')
    expect(await hkdfSha256(secret, 'a', 32)).not.toEqual(await hkdfSha256(secret, 'b', 32))
  })
})

/** Two blocks: T(n) is the HMAC of T(n-1), info and the number n. */
async function expand(extracted: Bytes, info: string): Promise<Bytes> {
  const first = await hmacSha256(extracted, concat(utf8(info), new Uint8Array([1])))
  const second = await hmacSha256(extracted, concat(first, utf8(info), new Uint8Array([2])))
  return concat(first, second)
}
