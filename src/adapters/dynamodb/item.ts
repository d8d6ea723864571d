import type { Rev } from '../../ports/state.ts'

/** An attribute as DynamoDB's JSON spells it: text, a number in decimal, bytes in base64. */
export type Attribute = { S: string } | { N: string } | { B: string }
export type Item = Record<string, Attribute>

/** An item's primary key. */
export interface Place {
  pk: string
  sk: string
}

/** An item of State, its value still as it came: most listings skip some, and the watches all. */
export interface StoredRecord extends Place {
  /** The logical key in the spelling it was written under. */
  lkey: string
  /** base64 */
  v: string
  rev: Rev
  /** Epoch seconds it is dead from; null is permanent. */
  expires: number | null
}

/** An item of Index: a member of the set `lkey`. */
export interface StoredMember extends Place {
  lkey: string
  expires: number | null
}

/** The layout's attributes (seed: storage-layout, DynamoDB); a member has no value and says what it is in `k`. */
export const MEMBER = 'i'

export function keyOf({ pk, sk }: Place): Item {
  return { pk: { S: pk }, sk: { S: sk } }
}

export function recordItem({ lkey, v, rev, expires, ...place }: StoredRecord): Item {
  return { ...keyOf(place), lkey: { S: lkey }, v: { B: v }, rev: { N: rev }, ...expiring(expires) }
}

export function memberItem({ lkey, expires, ...place }: StoredMember, rev: Rev): Item {
  return { ...keyOf(place), lkey: { S: lkey }, rev: { N: rev }, ...expiring(expires), k: { S: MEMBER } }
}

/** The record an item is, or null: a member, nothing, or what lacks an attribute or holds one that is none of the layout's. */
export function readRecord(item: unknown): StoredRecord | null {
  const placed = readPlaced(item)
  const v = attribute(item, 'v', 'B')
  const rev = attribute(item, 'rev', 'N')
  if (placed === null || v === null || rev === null || !isRev(rev) || has(item, 'k')) return null
  return { ...placed, v, rev }
}

/** As `readRecord`, for a member. */
export function readMember(item: unknown): StoredMember | null {
  return attribute(item, 'k', 'S') === MEMBER ? readPlaced(item) : null
}

/** The revision and the lifetime of what stands where a record would; null when that is none. */
export function readHead(item: unknown): { rev: Rev; expires: number | null } | null {
  const rev = attribute(item, 'rev', 'N')
  const expires = readExpires(item)
  return rev === null || !isRev(rev) || expires === undefined || has(item, 'k') ? null : { rev, expires }
}

/** Whether a text is a revision as this adapter draws them: a uint64 above 0 in decimal. Kept as text: a number would round it. */
export function isRev(text: string): text is Rev {
  return /^[1-9][0-9]{0,19}$/.test(text) && BigInt(text) <= 0xffff_ffff_ffff_ffffn
}

function readPlaced(item: unknown): (Place & { lkey: string; expires: number | null }) | null {
  const pk = attribute(item, 'pk', 'S')
  const sk = attribute(item, 'sk', 'S')
  const lkey = attribute(item, 'lkey', 'S')
  const expires = readExpires(item)
  return pk === null || sk === null || lkey === null || expires === undefined ? null : { pk, sk, lkey, expires }
}

/** null: it has none and is permanent. undefined: it has one that is no epoch second. */
function readExpires(item: unknown): number | null | undefined {
  if (!has(item, 'expires')) return null
  const text = attribute(item, 'expires', 'N')
  return text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined // 15 digits are exact in a double
}

function attribute(item: unknown, name: string, type: 'S' | 'N' | 'B'): string | null {
  if (!has(item, name)) return null
  const value = item[name]
  const held = has(value, type) ? value[type] : null
  return typeof held === 'string' ? held : null
}

function has<Name extends string>(value: unknown, name: Name): value is Record<Name, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}

function expiring(expires: number | null): Item {
  return expires === null ? {} : { expires: { N: String(expires) } }
}
