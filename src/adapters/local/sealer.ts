import { NONCE_LENGTH, openAesGcm, sealAesGcm } from '../../crypto/aes-gcm.ts'
import { decodeBase64url } from '../../crypto/base64url.ts'
import { type Bytes, compareUtf8, concat, utf8 } from '../../crypto/bytes.ts'
import { sha256 } from '../../crypto/digest.ts'
import { equalBytes } from '../../crypto/equal.ts'
import { hkdfSha256 } from '../../crypto/hkdf.ts'
import { PortError } from '../../ports/error.ts'
import type { Random } from '../../ports/platform.ts'
import type { SealContext, Sealer } from '../../ports/sealer.ts'

export interface LocalSealerOptions {
  /** The Worker secret SEAL_KEY: base64url of 32 random bytes. */
  sealKey: string | undefined
  /** The Worker secret SEAL_KEY_PREVIOUS, of the same shape: opens what it sealed, seals nothing. */
  previous?: string | undefined
  random: Random
}

/** The first byte of a seal, so that another form can follow this one. */
const VERSION = 0x01
/** bytes of a key id: enough to tell two keys apart, too few to say anything about one */
const KEY_ID_LENGTH = 8
const HEADER_LENGTH = 1 + KEY_ID_LENGTH

interface DerivedKey {
  id: Bytes
  key: Bytes
}

/**
 * Seals under a key derived from a secret of the Worker. A seal is 0x01, key id, nonce, ciphertext and tag: AES-256-GCM,
 * its additional data the context as JSON with sorted keys and no spaces; the key is HKDF-SHA-256 of SEAL_KEY with
 * info `sluis/seal/v1`, its id the first 8 bytes of its SHA-256.
 *
 * @throws PortError Unavailable: SEAL_KEY or SEAL_KEY_PREVIOUS is not what it must be
 */
export function localSealer({ sealKey, previous, random }: LocalSealerOptions): Sealer {
  const current = lazyKey(parseKey('SEAL_KEY', sealKey))
  const keys = previous === undefined ? [current] : [current, lazyKey(parseKey('SEAL_KEY_PREVIOUS', previous))]

  return {
    async seal(plaintext, context) {
      const copy = plaintext.slice()
      const aad = additionalData(context)
      const { id, key } = await current()
      return concat(new Uint8Array([VERSION]), id, await sealAesGcm(key, random.bytes(NONCE_LENGTH), copy, aad))
    },

    async open(sealed, context) {
      const copy = sealed.slice()
      const aad = additionalData(context)
      if (copy[0] !== VERSION || copy.length < HEADER_LENGTH) throw new PortError('Unsupported', 'these bytes are no seal of ours')
      const key = await keyNamed(copy.subarray(1, HEADER_LENGTH), keys)
      const plaintext = await openAesGcm(key, copy.slice(HEADER_LENGTH), aad)
      if (plaintext === null) throw new PortError('Unsupported', 'the seal does not open: another context, or its bytes have changed')
      return plaintext
    },

    async header() {
      return concat(new Uint8Array([VERSION]), (await current()).id)
    },
  }
}

async function keyNamed(id: Bytes, keys: (() => Promise<DerivedKey>)[]): Promise<Bytes> {
  for (const derive of keys) {
    const derived = await derive()
    if (equalBytes(derived.id, id)) return derived.key
  }
  throw new PortError('Unsupported', 'sealed under a key that is neither SEAL_KEY nor SEAL_KEY_PREVIOUS')
}

/** The message names the variable and its shape, never its value. */
function parseKey(variable: string, text: string | undefined): Bytes {
  const bytes = text === undefined ? null : decodeBase64url(text)
  if (bytes?.length !== 32) {
    throw new PortError('Unavailable', `${variable} must be base64url of exactly 32 random bytes: 43 characters, no padding`)
  }
  return bytes
}

/** Derived once and kept as a value: a pending promise may not be awaited by a second request, so two first users derive twice. */
function lazyKey(secret: Bytes): () => Promise<DerivedKey> {
  let derived: DerivedKey | undefined
  return async () => {
    if (derived) return derived
    const key = await hkdfSha256(secret, 'sluis/seal/v1', 32)
    derived = { id: (await sha256(key)).slice(0, KEY_ID_LENGTH), key }
    return derived
  }
}

/** Written entry by entry: an object would put names that look like numbers first. */
function additionalData(context: SealContext): Bytes {
  const names = Object.keys(context).sort(compareUtf8)
  return utf8(`{${names.map((name) => `${JSON.stringify(name)}:${JSON.stringify(context[name])}`).join(',')}}`)
}
