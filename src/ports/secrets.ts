import type { Bytes } from './platform.ts'

export interface Secret {
  value: Bytes
  /** Opaque; changes with every write, an identical one too. */
  version: string
  /** unix milliseconds of the write */
  modified: number
  /** The value before this one, fetched only when asked for and absent when there is none. */
  previous?: Bytes
}

export interface SecretRead {
  /** The value before the current one too. */
  previous?: boolean
  /** s: no answer that was kept for longer; a store that keeps none takes no notice. */
  maxAge?: number
}

/**
 * Secrets by logical address (seed: storage-layout, "Another Secrets store", and `internal/...`, `external/...`).
 * A path is one or more segments of `[A-Za-z0-9._-]` joined by `/`, none `.` or `..`; anything else is Unsupported
 * in get, put, putIfVersion and delete. A value is at most `SECRET_VALUE_LIMIT` bytes. Buffers are never shared with the caller.
 */
export interface Secrets {
  /** NotFound when absent. */
  get(path: string, options?: SecretRead): Promise<Secret>
  /** The new version. */
  put(path: string, value: Bytes): Promise<string>
  /** Only over `version`; null means only when absent. Conflict (moved, or exists) | NotFound (gone). */
  putIfVersion(path: string, value: Bytes, version: string | null): Promise<string>
  /** Idempotent. */
  delete(path: string): Promise<void>
  /** Paths below whole segments, every depth, sorted; `a` is `a/`, the empty prefix is everything. Never values. */
  list(prefix: string): Promise<string[]>
}

/** bytes: what fits an SSM value document, floor((8192 - 12) / 4) * 3, on every adapter alike. Exactly the limit is accepted. */
export const SECRET_VALUE_LIMIT = 6_135
