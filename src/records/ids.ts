import { encodeBase64url } from '../crypto/base64url.ts'
import { type Sha256Hex, sha256Hex } from '../crypto/digest.ts'
import { escapeSegment, type PersonId } from '../ports/keys.ts'
import { shardOfSegment } from '../ports/layout5.ts'
import type { Bytes, Random } from '../ports/platform.ts'

/** Which of the sixteen shards records should fall into, so that those written together are one commit. */
export type Place = number & { readonly __brand: 'Place' }

/** A bearer value with the hash it is kept under; the value itself is never stored. */
export interface DrawnToken {
  token: string
  hash: Sha256Hex
}

/**
 * Prefixes that secret scanners find. Tokens are looked up whatever their prefix: it is not a check.
 */
export const REFRESH_TOKEN = 'slr_'
export const CODE = 'slc_'
export const DEVICE_CODE = 'sld_'

const ID_BYTES = 16 // 128 bits: no two ever meet
const TOKEN_BYTES = 32 // 256 bits: more than a guess can reach (RFC 6749 section 10.10 asks for 160)
const CANDIDATES = 16 // one draw hits a given shard of sixteen two times in three
const DRAWS = 4 // 98 of 100 find their shard; the others cost a commit, nothing else

/** The shard a person's session lies in. */
export function placeOf(person: PersonId): Place {
  return shardOfSegment(escapeSegment(person)) as Place
}

/** A fresh id: 16 random bytes, base64url, so without dot or colon. */
export function drawId(random: Random): string {
  return encodeBase64url(random.bytes(ID_BYTES))
}

/** A fresh id that (nearly always) falls into `place`. A preference that saves commits: nothing read rests on it. */
export function drawIdNear(random: Random, place: Place): string {
  let id = ''
  for (let draw = 0; draw < DRAWS; draw++) {
    for (const bytes of slices(random.bytes(CANDIDATES * ID_BYTES), ID_BYTES)) {
      id = encodeBase64url(bytes)
      if (shardOfSegment(id) === place) return id
    }
  }
  return id
}

/** A fresh token and its hash. */
export async function drawToken(random: Random, prefix: string): Promise<DrawnToken> {
  const token = prefix + encodeBase64url(random.bytes(TOKEN_BYTES))
  return { token, hash: await sha256Hex(token) }
}

/** A fresh token whose hash (nearly always) falls into `place`. */
export async function drawTokenNear(random: Random, prefix: string, place: Place): Promise<DrawnToken> {
  let last = await drawToken(random, prefix)
  for (let draw = 0; draw < DRAWS && shardOfSegment(last.hash) !== place; draw++) {
    const candidates = slices(random.bytes(CANDIDATES * TOKEN_BYTES), TOKEN_BYTES).map((bytes) => prefix + encodeBase64url(bytes))
    const hashes = await Promise.all(candidates.map(sha256Hex))
    const found = Math.max(
      0,
      hashes.findIndex((hash) => shardOfSegment(hash) === place),
    )
    last = { token: candidates[found] ?? last.token, hash: hashes[found] ?? last.hash }
  }
  return last
}

function slices(bytes: Bytes, size: number): Bytes[] {
  return Array.from({ length: bytes.length / size }, (_, at) => bytes.slice(at * size, (at + 1) * size))
}
