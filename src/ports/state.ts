import type { Bytes } from './platform.ts'

/** A revision: opaque, compared for equality only, new on every write. */
export type Rev = string & { readonly __brand: 'Rev' }

/** Whole seconds above 0, or 'permanent', which only the families of `permanentFamilies` may say. */
export type Lifetime = number | 'permanent'

export interface Entry {
  key: string
  value: Bytes
  rev: Rev
}

/** A record, and the one it names where that was asked for. */
export interface FollowedEntry extends Entry {
  /** null: there is no such live record. Absent: the store has not looked, and `get` tells. */
  next?: Entry | null
}

/** A watched change. A write and a delete between two polls may go unseen; events are at least once and unordered across keys. */
export type Change = { type: 'put'; key: string; rev: Rev } | { type: 'delete'; key: string; rev: Rev }

export interface Page {
  entries: Entry[]
  /** Set only when a further live record exists. */
  next?: string
}

export interface ListOptions {
  page?: string | undefined
  /** How many records; 100 when absent or not above 0. */
  limit?: number | undefined
}

/**
 * One module's records: single-key, each with a lifetime and a revision. No transactions, no secondary index.
 * Semantics in full: docs/design.md, "Ports". A value is at most `STATE_VALUE_LIMIT` bytes.
 * A write is checked in this order: size (TooLarge), lifetime (NoLifetime), location (Unsupported, NotOwner).
 */
export interface State {
  /**
   * The live record, or null: absent, expired by our clock, or a key that maps nowhere.
   *
   * @param options `follow`: a prefix which, with this record's value as text behind it, is the key that the caller reads next. A store that
   * keeps both in one place may answer both, as of one instant; any may ignore it
   */
  get(key: string, options?: { follow?: string }): Promise<FollowedEntry | null>
  put(key: string, value: Bytes, ttl: Lifetime): Promise<Rev>
  /** Exists unless the key is absent or its record expired; of N racers exactly one wins. */
  create(key: string, value: Bytes, ttl: Lifetime): Promise<Rev>
  /** Only over the revision given. Conflict when it moved (or is malformed), NotFound when absent or expired. The lifetime restarts. */
  update(key: string, value: Bytes, ttl: Lifetime, rev: Rev): Promise<Rev>
  /** Idempotent; a key that maps nowhere is success. */
  delete(key: string): Promise<void>
  /** Conflict | NotFound (absent, expired, or maps nowhere). */
  deleteIfRevision(key: string, rev: Rev): Promise<void>
  /** Live records under a plain string prefix in key order (UTF-8 bytes). BadPage for a token of another prefix. */
  list(prefix: string, options?: ListOptions): Promise<Page>
  /** Events from the call on; ends when the signal aborts, or throws Unavailable when the store stays down. */
  watch(prefix: string, options: { signal: AbortSignal }): AsyncIterable<Change>
  /** The revision without the value; may be eventually consistent, so usable only for "is it still what I wrote". */
  peekRevision?(key: string): Promise<Rev | null>
  /** Every live record under the prefix, with the whole seconds it has left. */
  export?(prefix: string): AsyncIterable<Entry & { ttl: Lifetime }>
}

/** bytes (256 KiB): what one DynamoDB item holds with room for its other attributes. Exactly the limit is accepted. */
export const STATE_VALUE_LIMIT = 262_144

/** Records in a page when the caller names no limit. */
export const DEFAULT_PAGE = 100

/** The families that may be permanent, by plain prefix of the logical key (seed: keys). */
export const permanentFamilies = ['ws.', 'gh.org.', 'gh.link.', 'app.', 'rec.'] as const
