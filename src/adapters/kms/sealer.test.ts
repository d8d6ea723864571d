import { describe, expect, it } from 'vitest'
import { encodeBase64 } from '../../crypto/base64url.ts'
import { type Bytes, utf8 } from '../../crypto/bytes.ts'
import { PortError } from '../../ports/error.ts'
import { AwsError, type JsonCall, type JsonClient } from '../aws/aws.ts'
import { kmsSealer } from './sealer.ts'

const keyId = 'alias/sluis-acme-sign'
const CONTEXT = { instance: 'acme', purpose: 'sign', kid: 'k1' }

describe('the KMS sealer', () => {
  it('encrypts under the alias, with the context as encryption context, and returns exactly what KMS does', async () => {
    const { client, calls } = answering({ CiphertextBlob: 'AAH/', KeyId: 'arn:of:the:key' })
    expect(await kmsSealer({ client, keyId }).seal(utf8('hi'), CONTEXT)).toEqual(new Uint8Array([0, 1, 255]))
    expect(calls).toEqual([{ operation: 'Encrypt', input: { KeyId: keyId, Plaintext: 'aGk=', EncryptionContext: CONTEXT } }])
  })

  it('decrypts with the key pinned: a seal of another key of the account does not open', async () => {
    const { client, calls } = answering({ Plaintext: 'aGk=' })
    expect(await kmsSealer({ client, keyId }).open(new Uint8Array([0, 1, 255]), CONTEXT)).toEqual(utf8('hi'))
    expect(calls).toEqual([{ operation: 'Decrypt', input: { KeyId: keyId, CiphertextBlob: 'AAH/', EncryptionContext: CONTEXT } }])
  })

  it('seals 4,096 bytes; one more is TooLarge and none Unsupported, and KMS is not asked', async () => {
    const { client, calls } = answering({ CiphertextBlob: 'AAH/' })
    const sealer = kmsSealer({ client, keyId })
    await sealer.seal(new Uint8Array(4_096), CONTEXT)
    await expect(sealer.seal(new Uint8Array(4_097), CONTEXT)).rejects.toMatchObject({ code: 'TooLarge' })
    await expect(sealer.seal(new Uint8Array(0), CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
    expect(calls).toHaveLength(1)
  })

  it('takes no bytes and bytes beyond 6,144 for no seal of ours, and does not ask', async () => {
    const { client, calls } = answering({ Plaintext: 'aGk=' })
    const sealer = kmsSealer({ client, keyId })
    await expect(sealer.open(new Uint8Array(0), CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(sealer.open(new Uint8Array(6_145), CONTEXT)).rejects.toMatchObject({ code: 'Unsupported' })
    expect(calls).toEqual([])
  })

  it('says apart a seal that does not open and a key that can not be used', async () => {
    for (const [type, code, message] of [
      ['InvalidCiphertextException', 'Unsupported', /does not open/],
      ['IncorrectKeyException', 'Unsupported', /does not open/],
      ['NotFoundException', 'Unavailable', /^key alias\/sluis-acme-sign does not exist/],
      ['DisabledException', 'Unavailable', /^key alias\/sluis-acme-sign is disabled/],
      ['KMSInvalidStateException', 'Unavailable', /^key alias\/sluis-acme-sign is disabled/],
      ['AccessDeniedException', 'Unavailable', /no permission for key alias\/sluis-acme-sign/],
    ] as const) {
      const cause = new AwsError(type, 'no', { status: 400, mayHaveLanded: false })
      const sealer = kmsSealer({ client: { call: () => Promise.reject(cause) }, keyId })
      await expect(sealer.open(utf8('sealed'), CONTEXT), type).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
        cause,
      })
    }
    const unavailable = new PortError('Unavailable', 'kms Encrypt was throttled (attempt 3)')
    await expect(kmsSealer({ client: { call: () => Promise.reject(unavailable) }, keyId }).seal(utf8('x'), CONTEXT)).rejects.toBe(
      unavailable,
    )
  })

  it('takes a permission that is missing for that, also in the words KMS has for it at Decrypt: a key must not be given up over it', async () => {
    const message = 'The ciphertext refers to a customer master key that does not exist, or you are not allowed to access.'
    const cause = new AwsError('AccessDeniedException', 'no', { status: 400, body: { message }, mayHaveLanded: false })
    const sealer = kmsSealer({ client: { call: () => Promise.reject(cause) }, keyId })
    await expect(sealer.open(utf8('sealed'), CONTEXT)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('does not take an answer without the bytes for empty bytes', async () => {
    for (const answer of [{}, { CiphertextBlob: 7 }, { CiphertextBlob: 'no base64!' }, { CiphertextBlob: '' }]) {
      const { client } = answering(answer)
      await expect(kmsSealer({ client, keyId }).seal(utf8('x'), CONTEXT)).rejects.toMatchObject({ code: 'Unavailable' })
    }
  })

  it('sends the bytes and the context it was called with, whatever the caller does to them after', async () => {
    const { client, calls } = answering({ CiphertextBlob: 'AAH/' })
    const plaintext: Bytes = utf8('secret')
    const context = { ...CONTEXT }
    const sealing = kmsSealer({ client, keyId }).seal(plaintext, context)
    plaintext.fill(0)
    context.kid = 'k2'
    await sealing
    expect(calls[0]?.input).toMatchObject({ Plaintext: encodeBase64(utf8('secret')), EncryptionContext: CONTEXT })
  })
})

function answering(answer: Record<string, unknown>) {
  const calls: JsonCall[] = []
  const client: JsonClient = {
    async call(call) {
      calls.push(call)
      return answer
    },
  }
  return { client, calls }
}
