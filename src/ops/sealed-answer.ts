import { openAesGcm, sealAesGcm } from '../crypto/aes-gcm.ts'
import { decodeBase64url, encodeBase64url } from '../crypto/base64url.ts'
import { type Bytes, utf8 } from '../crypto/bytes.ts'
import { hkdfSha256 } from '../crypto/hkdf.ts'
import type { Random } from '../ports/platform.ts'

/** Which answer it is: its key is of one request, whose nonce is good once. */
export interface AnswerOf {
  /** `OPS_KEY`, 32 bytes. */
  key: Bytes
  instance: string
  /** `sluis-nonce` of the request. */
  nonce: string
}

/**
 * What an operator asked to see, so that no answer holds it in the clear: base64url of a 12-byte nonce, then AES-256-GCM under a key derived
 * from `OPS_KEY` and the request's nonce (docs/operate.md, "The operator's route").
 */
export async function sealForOperator(plaintext: Bytes, answer: AnswerOf, random: Random): Promise<string> {
  return encodeBase64url(await sealAesGcm(await answerKey(answer), random.bytes(12), plaintext, AAD))
}

/** What was sealed, or null when it is no answer to this request. */
export async function openAnswer(sealed: string, answer: AnswerOf): Promise<Bytes | null> {
  const bytes = decodeBase64url(sealed)
  return bytes === null ? null : openAesGcm(await answerKey(answer), bytes, AAD)
}

const AAD = utf8('sluis-ops-v1 answer')

function answerKey({ key, instance, nonce }: AnswerOf): Promise<Bytes> {
  return hkdfSha256(key, ['sluis-ops-v1 answer', instance, nonce].join('\n'), 32)
}
