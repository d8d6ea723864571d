import { describe, expect, it } from 'vitest'
import { NONCE_LENGTH, openAesGcm, sealAesGcm } from './aes-gcm.ts'
import { hex, utf8 } from './bytes.ts'

const KEY = Uint8Array.from({ length: 32 }, (_, at) => at)
const NONCE = new Uint8Array(NONCE_LENGTH).fill(7)
const AAD = utf8('bound to this')

describe('AES-256-GCM', () => {
  it('is nonce, ciphertext and tag: the GCM test cases 13 and 14, key and nonce of zeros', async () => {
    const zeros = (length: number) => new Uint8Array(length)
    expect(hex(await sealAesGcm(zeros(32), zeros(12), zeros(0), zeros(0)))).toBe(`${'00'.repeat(12)}530f8afbc74536b9a963b4f1c4cb738b`)
    expect(hex(await sealAesGcm(zeros(32), zeros(12), zeros(16), zeros(0)))).toBe(
      `${'00'.repeat(12)}cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919`,
    )
  })

  it('opens what it sealed, nothing at all included', async () => {
    for (const plaintext of [utf8('secret'), new Uint8Array(0), new Uint8Array(10_000).fill(1)]) {
      expect(await openAesGcm(KEY, await sealAesGcm(KEY, NONCE, plaintext, AAD), AAD)).toEqual(plaintext)
    }
  })

  it('opens nothing of which one bit has changed', async () => {
    const sealed = await sealAesGcm(KEY, NONCE, utf8('secret'), AAD)
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const tampered = sealed.slice()
      tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      expect(await openAesGcm(KEY, tampered, AAD), `bit ${bit}`).toBeNull()
    }
  })

  it('opens nothing cut short, down to no bytes', async () => {
    const sealed = await sealAesGcm(KEY, NONCE, utf8('secret'), AAD)
    for (let length = 0; length < sealed.length; length++) expect(await openAesGcm(KEY, sealed.slice(0, length), AAD)).toBeNull()
  })

  it('opens nothing under another key or another aad', async () => {
    const sealed = await sealAesGcm(KEY, NONCE, utf8('secret'), AAD)
    expect(await openAesGcm(KEY.toReversed(), sealed, AAD)).toBeNull()
    expect(await openAesGcm(KEY, sealed, utf8('bound to that'))).toBeNull()
    expect(await openAesGcm(KEY, sealed, new Uint8Array(0))).toBeNull()
  })
})
