import { compactVerify, decodeProtectedHeader, errors } from 'jose'
import * as z from 'zod'
import { type VerifiableAlg, verifiableAlg } from '../config/public-key.ts'
import { fromUtf8 } from '../crypto/bytes.ts'

/** A token whose signature is ours. Its claims are as signed: who reads one checks its type. */
export interface Verified {
  header: { alg: VerifiableAlg; kid: string; typ: string }
  payload: Record<string, unknown>
}

const headerSchema = z.object({ alg: verifiableAlg, kid: z.string().min(1), typ: z.string() })

/**
 * The token (JWS compact, RFC 7515 section 3.1), or null when it is anything but a token of `typ` signed by the key that its header
 * names. The algorithm is the key's, never the header's choice (RFC 8725 section 3.1). No claim is checked: not `exp` either.
 */
export async function verifyToken(
  token: string,
  typ: readonly string[],
  find: (alg: VerifiableAlg, kid: string) => Promise<CryptoKey | null>,
): Promise<Verified | null> {
  const header = readHeader(token)
  if (header === null || !typ.includes(header.typ)) return null
  const key = await find(header.alg, header.kid)
  const bytes = key === null ? null : await signedBytes(token, key, header.alg)
  const payload = bytes === null ? null : parseObject(bytes)
  return payload === null ? null : { header, payload }
}

function readHeader(token: string): Verified['header'] | null {
  try {
    return headerSchema.parse(decodeProtectedHeader(token))
  } catch {
    return null
  }
}

async function signedBytes(token: string, key: CryptoKey, alg: VerifiableAlg): Promise<Uint8Array<ArrayBuffer> | null> {
  try {
    const { payload } = await compactVerify(token, key, { algorithms: [alg] })
    return new Uint8Array(payload)
  } catch (error) {
    if (error instanceof errors.JOSEError) return null
    throw error
  }
}

function parseObject(bytes: Uint8Array<ArrayBuffer>): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(fromUtf8(bytes) ?? '')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
