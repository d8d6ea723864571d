import type { Lifetime } from './state.ts'

/**
 * Named sets of members. Members expire one by one or set by set, by adapter: write nothing that needs either.
 * An empty set or member name is Unsupported on add, success on remove, and no members.
 */
export interface Index {
  /** Idempotent; refreshes the member's lifetime. NotOwner for a set of another module. */
  add(set: string, member: string, ttl: Lifetime): Promise<void>
  /** Idempotent. */
  remove(set: string, member: string): Promise<void>
  /** Live members, unordered; none for an unknown set or one of another module. */
  members(set: string): Promise<string[]>
}
