import { type Bytes, concat, hex } from '../../crypto/bytes.ts'
import { md5 } from './md5.ts'

/**
 * The ETag S3 gives to an object of these parts: the MD5 of their MD5s, a dash, and how many they are. Null when the parts' own do not look
 * like MD5s. Under a KMS key they may look so and be none: what comes out is then the ETag of no object.
 */
export function multipartEtag(parts: readonly string[]): string | null {
  const digests = parts.map(digestOf)
  if (!digests.every((digest) => digest !== null)) return null
  return `${hex(md5(concat(...digests)))}-${parts.length}`
}

function digestOf(etag: string): Bytes | null {
  return /^[0-9a-f]{32}$/.test(etag) ? Uint8Array.from(etag.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)) : null
}
