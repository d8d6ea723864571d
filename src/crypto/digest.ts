import { type Bytes, concat, hex, utf8 } from './bytes.ts'

/** A SHA-256 in lower-case hex, so that a token can't stand where its hash belongs. */
export type Sha256Hex = string & { readonly __brand: 'Sha256Hex' }

const NUL = new Uint8Array([0])

export async function sha256(bytes: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/** Hex SHA-256 over the whole text, no label: how a token or code stands in a key. */
export async function sha256Hex(text: string): Promise<Sha256Hex> {
  return hex(await sha256(utf8(text))) as Sha256Hex
}

/** SHA-256(label NUL part NUL part ...): a digest for one purpose can't be passed off as one for another. */
export function labelledDigest(label: string, ...parts: string[]): Promise<Bytes> {
  const pieces: Bytes[] = [utf8(label)]
  for (const part of parts) pieces.push(NUL, utf8(part))
  return sha256(concat(...pieces))
}

export async function labelledDigestHex(label: string, ...parts: string[]): Promise<Sha256Hex> {
  return hex(await labelledDigest(label, ...parts)) as Sha256Hex
}

export async function hmacSha256(key: Bytes, message: Bytes): Promise<Bytes> {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, message))
}
