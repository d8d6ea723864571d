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
const KEPT = 4 // for each shard: the ids one exchange needs, and as many again

/** The shard a person's session lies in. */
export function placeOf(person: PersonId): Place {
  return placeOfSegment(escapeSegment(person))
}

/** A fresh id: 16 random bytes, base64url, so without dot or colon. */
export function drawId(random: Random): string {
  return encodeBase64url(random.bytes(ID_BYTES))
}

/** A fresh id that (nearly always) falls into `place`. A preference that saves commits: nothing read rests on it. */
export function drawIdNear(random: Random, place: Place): string {
  const { ids } = stockOf(random)
  for (let draw = 0; draw < DRAWS; draw++) {
    const kept = take(ids, place)
    if (kept !== undefined) return kept
    for (const bytes of slices(random.bytes(CANDIDATES * ID_BYTES), ID_BYTES)) {
      const id = encodeBase64url(bytes)
      keep(ids, placeOfSegment(id), id)
    }
  }
  return take(ids, place) ?? drawId(random)
}

/** A fresh token and its hash. */
export async function drawToken(random: Random, prefix: string): Promise<DrawnToken> {
  return withHash(prefix + encodeBase64url(random.bytes(TOKEN_BYTES)))
}

/** A fresh token whose hash (nearly always) falls into `place`. */
export async function drawTokenNear(random: Random, prefix: string, place: Place): Promise<DrawnToken> {
  const tokens = tokensOf(stockOf(random), prefix)
  for (let draw = 0; draw < DRAWS; draw++) {
    const kept = take(tokens, place)
    if (kept !== undefined) return kept
    const candidates = slices(random.bytes(CANDIDATES * TOKEN_BYTES), TOKEN_BYTES)
    const drawn = await Promise.all(candidates.map((bytes) => withHash(prefix + encodeBase64url(bytes))))
    for (const token of drawn) keep(tokens, placeOfSegment(token.hash), token)
  }
  return take(tokens, place) ?? drawToken(random, prefix)
}

type Kept<Value> = Map<Place, Value[]>

/**
 * What was drawn for one place and fell into another: it is as fresh there, and hashing sixteen candidates for each token would cost more
 * than all else that a refresh computes. Nobody has seen any of it, and what is taken is gone.
 */
interface Stock {
  ids: Kept<string>
  /** By prefix. */
  tokens: Map<string, Kept<DrawnToken>>
}

/** Each source of randomness has its own, so that nothing drawn from one turns up as drawn from another. */
const stocks = new WeakMap<Random, Stock>()

function stockOf(random: Random): Stock {
  const known = stocks.get(random)
  if (known !== undefined) return known
  const stock: Stock = { ids: new Map(), tokens: new Map() }
  stocks.set(random, stock)
  return stock
}

function tokensOf({ tokens }: Stock, prefix: string): Kept<DrawnToken> {
  const known = tokens.get(prefix)
  if (known !== undefined) return known
  const kept: Kept<DrawnToken> = new Map()
  tokens.set(prefix, kept)
  return kept
}

function take<Value>(kept: Kept<Value>, place: Place): Value | undefined {
  return kept.get(place)?.pop()
}

function keep<Value>(kept: Kept<Value>, place: Place, value: Value): void {
  const there = kept.get(place)
  if (there === undefined) kept.set(place, [value])
  else if (there.length < KEPT) there.push(value)
}

async function withHash(token: string): Promise<DrawnToken> {
  return { token, hash: await sha256Hex(token) }
}

function placeOfSegment(segment: string): Place {
  return shardOfSegment(segment) as Place
}

function slices(bytes: Bytes, size: number): Bytes[] {
  return Array.from({ length: bytes.length / size }, (_, at) => bytes.slice(at * size, (at + 1) * size))
}
