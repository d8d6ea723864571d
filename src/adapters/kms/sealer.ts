import { decodeBase64, encodeBase64 } from '../../crypto/base64url.ts'
import { PortError } from '../../ports/error.ts'
import type { Bytes } from '../../ports/platform.ts'
import type { Sealer } from '../../ports/sealer.ts'
import { awsUnavailable, isAwsError, type JsonCall, type JsonClient } from '../aws/aws.ts'

export interface KmsSealerOptions {
  client: JsonClient
  /** An alias, such as `alias/sluis-acme-sign`: the key behind it may be replaced. */
  keyId: string
}

/** bytes: what one Encrypt of a symmetric key takes */
const MAX_PLAINTEXT = 4_096
/** bytes: what Decrypt takes; longer ones it calls malformed, not undecipherable */
const MAX_CIPHERTEXT = 6_144

/**
 * Seals under a key of KMS. A seal is exactly the bytes KMS returns, which name the version of the key that made them; the context is KMS's
 * encryption context. Opening names the key too, so that a seal made under another key of the account does not open.
 *
 * @throws PortError TooLarge: over 4,096 bytes, nothing was sent. Unsupported: an empty value, or no seal of this key and context. Unavailable
 */
export function kmsSealer({ client, keyId }: KmsSealerOptions): Sealer {
  async function ask(call: JsonCall, field: 'CiphertextBlob' | 'Plaintext'): Promise<Bytes> {
    const answer = await client.call(call).catch((error: unknown) => {
      throw refusal(error, keyId)
    })
    const text = answer[field]
    const bytes = typeof text === 'string' ? decodeBase64(text) : null
    if (bytes === null || bytes.length === 0) throw new PortError('Unavailable', `key ${keyId} gave an answer without ${field}`)
    return bytes
  }

  return {
    async seal(plaintext, context) {
      if (plaintext.length > MAX_PLAINTEXT) throw new PortError('TooLarge', `KMS seals at most ${MAX_PLAINTEXT} bytes`)
      if (plaintext.length === 0) throw new PortError('Unsupported', 'KMS seals no empty value')
      const input = { KeyId: keyId, Plaintext: encodeBase64(plaintext), EncryptionContext: { ...context } }
      return ask({ operation: 'Encrypt', input }, 'CiphertextBlob')
    },

    async open(sealed, context) {
      if (sealed.length === 0 || sealed.length > MAX_CIPHERTEXT) throw noSeal()
      const input = { KeyId: keyId, CiphertextBlob: encodeBase64(sealed), EncryptionContext: { ...context } }
      return ask({ operation: 'Decrypt', input }, 'Plaintext')
    },
  }
}

function refusal(error: unknown, keyId: string): PortError {
  return isAwsError(error, 'InvalidCiphertextException', 'IncorrectKeyException') ? noSeal(error) : awsUnavailable(error, `key ${keyId}`)
}

function noSeal(cause?: unknown): PortError {
  return new PortError('Unsupported', 'the seal does not open: of another key, another context, or its bytes have changed', { cause })
}
