import { compareUtf8 } from '../../crypto/bytes.ts'
import { locatePrefix, shardsOf } from '../../ports/layout5.ts'
import type { ListedRow } from './protocol.ts'
import type { Shards } from './shards.ts'

export interface WalkOptions {
  table: string
  prefix: string
  /** Only keys after this one. */
  after?: string | null
  /** How many rows the caller means to take. */
  take?: number
  values: boolean
  /** unix milliseconds */
  now: number
}

/** Calls under way at once: a Worker has six connections, and a seventh waits with all it holds. */
const AT_ONCE = 6

/** rows in one answer: enough that a walk over everything is not all round trips, few enough that one answer stays small. */
const MOST_ROWS = 1_000

/** rows: with fewer, a merge that finds its next rows in one shard asks that shard again and again. */
const FEWEST_ROWS = 16

/** Where a shard's rows are read to. */
interface Cursor {
  object: string
  rows: ListedRow[]
  after: string | null
  more: boolean
}

/** The live rows under a prefix in key order, from the one shard that can hold them or merged from all that can. */
export async function* walk(
  shards: Shards,
  { table, prefix, after = null, take = MOST_ROWS, values, now }: WalkOptions,
): AsyncGenerator<ListedRow> {
  const located = locatePrefix(prefix)
  const within = 'query' in located ? { pk: located.query.pk, skPrefix: located.query.skPrefix ?? '' } : null
  const cursors: Cursor[] = shardsOf(located).map((shard) => ({ object: `${table}/${shard}`, rows: [], after, more: true }))
  // Twice a shard's fair share, so that an uneven spread seldom costs a second round.
  const share = cursors.length === 1 ? take : Math.max(FEWEST_ROWS, Math.ceil((2 * take) / cursors.length))
  const limit = Math.min(share, MOST_ROWS)

  async function refill(cursor: Cursor): Promise<void> {
    const op = { do: 'list', within, lkeyPrefix: prefix, after: cursor.after, limit, values, now } as const
    const { rows, more } = await shards.call(cursor.object, op)
    cursor.rows = rows
    cursor.after = rows.at(-1)?.lkey ?? cursor.after
    cursor.more = more
  }

  for (;;) {
    // Until every shard shows its next row, none of them is known to be the first.
    await eachAtMost(
      AT_ONCE,
      cursors.filter((cursor) => cursor.rows.length === 0 && cursor.more),
      refill,
    )
    const row = firstOf(cursors)?.rows.shift()
    if (row === undefined) return
    yield row
  }
}

function firstOf(cursors: Cursor[]): Cursor | undefined {
  let first: { cursor: Cursor; lkey: string } | undefined
  for (const cursor of cursors) {
    const lkey = cursor.rows[0]?.lkey
    if (lkey !== undefined && (first === undefined || compareUtf8(lkey, first.lkey) < 0)) first = { cursor, lkey }
  }
  return first?.cursor
}

async function eachAtMost<T>(limit: number, items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker))
}
