import type { Bytes } from '../../ports/platform.ts'
import { type Rev, STATE_VALUE_LIMIT } from '../../ports/state.ts'

/** What one object is asked to do: each op is atomic by itself, a batch is not. Times are the caller's. */
export interface Ops {
  /** `follow`: a prefix that makes a key of the value; its record is answered too when it stands in `shard`, which is this object's. */
  get: Address & { do: 'get'; now: number; follow?: { prefix: string; shard: string } }
  peek: Address & { do: 'peek'; now: number }
  put: Write & { do: 'put' }
  create: Write & { do: 'create' }
  /** Only over the revision `over`, or over its own `rev`: that is the op itself, applied before and sent again. */
  update: Write & { do: 'update'; over: Rev }
  delete: Address & { do: 'delete'; member: boolean }
  deleteIfRevision: Address & { do: 'deleteIfRevision'; rev: Rev; now: number }
  list: {
    do: 'list'
    /** One kind and a prefix of its ids, or every kind the object holds. */
    within: { pk: string; skPrefix: string } | null
    lkeyPrefix: string
    /** Only rows whose logical key comes after this one. */
    after: string | null
    limit: number
    values: boolean
    now: number
  }
  members: { do: 'members'; pk: string; skPrefix: string; after: string | null; limit: number; now: number }
}

export type Op = Ops[keyof Ops]

/** pk and sk of the storage layout (seed: storage-layout). */
export interface Address {
  pk: string
  sk: string
}

interface Write extends Address {
  /** The logical key, or the set of a member. */
  lkey: string
  /** Null for a member of an Index set, which holds none. */
  value: Bytes | null
  rev: Rev
  /** Epoch seconds the row is dead from; null is permanent. */
  expires: number | null
  /** unix milliseconds */
  now: number
}

interface Stored {
  value: Bytes
  rev: Rev
}

/** What an op answers when it is done. */
export interface Results {
  get: (Stored & { next?: (Stored & { key: string }) | null }) | null
  peek: Rev | null
  put: null
  create: null
  update: null
  delete: null
  deleteIfRevision: null
  /** In key order. `more` when the object has a further live row; fewer rows than asked with `more` means the bytes were enough. */
  list: { rows: ListedRow[]; more: boolean }
  /** Sort keys in their own order. */
  members: { sks: string[]; more: boolean }
}

export interface ListedRow {
  lkey: string
  rev: Rev
  expires: number | null
  /** Null when no values were asked for. */
  value: Bytes | null
}

export type Refusal = 'Exists' | 'Conflict' | 'NotFound'

/** One op's answer: a refusal, or a failure of the engine, is its own and fails no other op of the batch. */
export type Answer = { done: Results[keyof Results] } | { refused: Refusal } | { failed: string }

/** What an adapter needs of a Durable Object namespace; `DurableObjectNamespace<StateShard>` is one. */
export interface ShardNamespace {
  getByName(name: string, options?: { locationHint?: DurableObjectLocationHint }): { run(ops: Op[]): Promise<Answer[]> }
}

/** bytes of values in one page of rows: what a page of DynamoDB holds, so that neither engine's pages surprise the other's callers. */
export const PAGE_BYTES = 1_048_576

/** bytes: a message between Workers holds 32 MiB; what is left is for keys and framing. */
export const MESSAGE_BYTES = 24 * 1_048_576

/** bytes that a row's keys, revision and framing may take at most: two keys of 1 KiB (FORMATS: sort keys), and change. */
const ROW_OVERHEAD = 4_096

/** The most bytes `op` can put on the wire, in the direction where it puts most. */
export function weight(op: Op): number {
  switch (op.do) {
    case 'get':
      return (op.follow === undefined ? 1 : 2) * (STATE_VALUE_LIMIT + ROW_OVERHEAD)
    case 'put':
    case 'create':
    case 'update':
      return (op.value?.byteLength ?? 0) + ROW_OVERHEAD
    case 'list':
      return PAGE_BYTES + STATE_VALUE_LIMIT + op.limit * ROW_OVERHEAD
    case 'members':
      return op.limit * ROW_OVERHEAD
    case 'peek':
    case 'delete':
    case 'deleteIfRevision':
      return ROW_OVERHEAD
  }
}
