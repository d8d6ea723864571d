import { type Bytes, utf8 } from './bytes.ts'

/** HKDF-SHA-256 (RFC 5869) with an empty salt. */
export async function hkdfSha256(secret: Bytes, info: string, length: number): Promise<Bytes> {
  const key = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveBits'])
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info: utf8(info) }
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, length * 8))
}
