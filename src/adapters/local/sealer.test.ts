import { describe, expect, it } from 'vitest'
import { type Bytes, hex, utf8 } from '../../crypto/bytes.ts'
import { localSealer } from './sealer.ts'

/** base64url of the bytes 0 to 31. */
const KEY = 'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'
const OTHER_KEY = '__________________________________________8'
const CONTEXT = { purpose: 'seal', path: 'internal/oidc/state-secret', instance: 'acme' }

const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }

describe('the local sealer', () => {
  it('writes 01, key id, nonce, ciphertext and tag, byte for byte', async () => {
    const nonce = Uint8Array.from({ length: 12 }, (_, at) => 0xa0 + at)
    const sealer = localSealer({ sealKey: KEY, random: { bytes: () => nonce } })
    const sealed = await sealer.seal(utf8('attack at dawn'), CONTEXT)

    // Computed with OpenSSL through node:crypto, HKDF written out as its two HMACs.
    expect(hex(sealed)).toBe(
      ['01', '22d7de7d295873ef', 'a0a1a2a3a4a5a6a7a8a9aaab', '1f1dbf2ac458d71c254e949cfea01ed50206bcc3df839b78005981f1fa20'].join(''),
    )
    expect(sealed).toEqual(await sealByHand(nonce, utf8('attack at dawn')))
  })

  it('sorts the names of a context by their bytes, those that look like numbers too', async () => {
    const sealer = localSealer({ sealKey: KEY, random })
    const context = { instance: 'acme', purpose: 'seal', '9': 'a', '10': 'b' }
    const sealed = await sealer.seal(utf8('x'), context)
    const { key, nonce, rest } = await partsOf(sealed)
    const additionalData = utf8('{"10":"b","9":"a","instance":"acme","purpose":"seal"}')
    const opened = await crypto.subtle.decrypt({ name: 'AES-GCM', iv: nonce, additionalData }, key, rest)
    expect(new Uint8Array(opened)).toEqual(utf8('x'))
  })

  it('keeps two entries apart that would read alike when strung together', async () => {
    const sealer = localSealer({ sealKey: KEY, random })
    const sealed = await sealer.seal(utf8('x'), { instance: 'acme', purpose: 'seal', path: 'a","pause":"b' })
    const lookalike = { instance: 'acme', purpose: 'seal', path: 'a', pause: 'b' }
    await expect(sealer.open(sealed, lookalike)).rejects.toMatchObject({ code: 'Unsupported' })
  })

  it('seals nothing at all, and far more than a secret', async () => {
    const sealer = localSealer({ sealKey: KEY, random })
    for (const length of [0, 100_000]) {
      const plaintext = new Uint8Array(length).fill(7)
      const sealed = await sealer.seal(plaintext, CONTEXT)
      expect(sealed).toHaveLength(1 + 8 + 12 + length + 16)
      expect(await sealer.open(sealed, CONTEXT)).toEqual(plaintext)
    }
  })

  it('draws a nonce for every seal, also for those sealed together', async () => {
    const sealer = localSealer({ sealKey: KEY, random })
    const seals = await Promise.all(Array.from({ length: 64 }, () => sealer.seal(utf8('same'), CONTEXT)))
    expect(new Set(seals.map((sealed) => hex(sealed.slice(9, 21)))).size).toBe(64)
  })

  it('refuses a key that is not base64url of exactly 32 bytes, naming the variable and never the value', () => {
    const values = [
      undefined,
      '',
      'secret-but-short',
      KEY.slice(1),
      `${KEY}A`,
      `${KEY}=`,
      KEY.replace('A', '+'),
      `${KEY.slice(0, -1)}9`,
      ` ${KEY}`,
    ]
    for (const value of values) {
      const refusal = thrownBy(() => localSealer({ sealKey: value, random }))
      expect(refusal, String(value)).toMatchObject({
        code: 'Unavailable',
        message: expect.stringMatching(/^SEAL_KEY must be base64url of exactly 32/),
      })
      if (value) expect(String(refusal)).not.toContain(value)
    }
    const refusal = thrownBy(() => localSealer({ sealKey: KEY, previous: 'short', random }))
    expect(refusal).toMatchObject({ message: expect.stringMatching(/^SEAL_KEY_PREVIOUS must be base64url of exactly 32/) })
    expect(String(refusal)).not.toContain('short')
  })

  it('says that a seal is of a key it does not hold apart from a seal that does not fit its context', async () => {
    const sealed = await localSealer({ sealKey: KEY, random }).seal(utf8('x'), CONTEXT)
    const rotatedTwice = localSealer({ sealKey: OTHER_KEY, previous: OTHER_KEY, random })
    await expect(rotatedTwice.open(sealed, CONTEXT)).rejects.toThrow('neither SEAL_KEY nor SEAL_KEY_PREVIOUS')
    const moved = { ...CONTEXT, path: 'internal/oidc/other' }
    await expect(localSealer({ sealKey: KEY, random }).open(sealed, moved)).rejects.toThrow('another context')
  })
})

function thrownBy(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    return error
  }
  return expect.unreachable('nothing was thrown')
}

/** The format again, from WebCrypto alone. */
async function sealByHand(nonce: Bytes, plaintext: Bytes): Promise<Bytes> {
  const { derived, key } = await derivedByHand()
  const id = new Uint8Array(await crypto.subtle.digest('SHA-256', derived)).slice(0, 8)
  const additionalData = utf8('{"instance":"acme","path":"internal/oidc/state-secret","purpose":"seal"}')
  const rest = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv: nonce, additionalData, tagLength: 128 }, key, plaintext))
  return new Uint8Array([0x01, ...id, ...nonce, ...rest])
}

async function partsOf(sealed: Bytes) {
  return { key: (await derivedByHand()).key, nonce: sealed.slice(9, 21), rest: sealed.slice(21) }
}

/** RFC 5869 as its two steps; 32 bytes are one block of SHA-256. */
async function derivedByHand() {
  const extracted = await hmac(
    new Uint8Array(32),
    Uint8Array.from({ length: 32 }, (_, at) => at),
  )
  const derived = await hmac(extracted, new Uint8Array([...utf8('sluis/seal/v1'), 1]))
  return { derived, key: await crypto.subtle.importKey('raw', derived, 'AES-GCM', false, ['encrypt', 'decrypt']) }
}

async function hmac(key: Bytes, message: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message))
}
