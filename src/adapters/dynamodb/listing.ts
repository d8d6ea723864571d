import { compareUtf8, utf8 } from '../../crypto/bytes.ts'
import { isLive } from '../../ports/expiry.ts'
import { locateOrNull, locatePrefix, type PrefixQuery } from '../../ports/layout5.ts'
import { isExact, ruleOf } from '../../ports/layout5-rules.ts'
import type { Clock } from '../../ports/platform.ts'
import { type Place, readRecord, type StoredRecord } from './item.ts'
import type { PagesOptions, Table } from './table.ts'

export interface ListingOptions {
  prefix: string
  clock: Clock
  /** Only keys after this one. */
  after?: string | null
  /** How many records the caller means to take; all when absent. */
  take?: number
}

/** bytes: no sort key is longer, and a condition on one that is longer is refused */
const SORT_KEY_LIMIT = 1_024

/**
 * The live records under a prefix, in key order (UTF-8 bytes). A prefix within one kind is a Query, any other a Scan (seed:
 * storage-layout, "Listing"). Kinds merge families, so what stands under another prefix is passed over. An item that is no record of the
 * layout, and one whose logical key leads elsewhere, where no `get` would find it, is as good as absent.
 */
export function listRecords(table: Table, { prefix, clock, after = null, take = Infinity }: ListingOptions): AsyncIterable<StoredRecord> {
  const located = locatePrefix(prefix)
  if ('scan' in located) return sorted(table.pages('Scan', scanOf(prefix)))

  const { query } = located
  if (utf8(query.skPrefix ?? '').length > SORT_KEY_LIMIT) return nothing()
  if (!keepsKeyOrder(prefix)) return sorted(table.pages('Query', queryOf(query)))

  // A token is anyone's to write: one whose key is not under the prefix stands before or after all that is.
  const place = after === null || !after.startsWith(prefix) ? null : locateOrNull(after)
  if (after !== null && place === null && compareUtf8(after, prefix) > 0) return nothing()
  const options: PagesOptions = { ...(place && { after: place }), ...(take === Infinity ? {} : { limit: take }) }
  return live(table.pages('Query', queryOf(query), options))

  async function* live(pages: AsyncIterable<unknown[]>): AsyncGenerator<StoredRecord> {
    for await (const items of pages) {
      for (const item of items) {
        const record = readRecord(item)
        if (record?.lkey.startsWith(prefix) && isLive(record.expires, clock.now()) && isFiledRight(record)) yield record
      }
    }
  }

  /** Whatever comes, in key order. It holds no more than a few times what may be taken, so that a page of a whole table fits. */
  async function* sorted(pages: AsyncIterable<unknown[]>): AsyncGenerator<StoredRecord> {
    let kept: StoredRecord[] = []
    const first = () => kept.sort((a, b) => compareUtf8(a.lkey, b.lkey)).slice(0, take)
    for await (const record of live(pages)) {
      if (after !== null && compareUtf8(record.lkey, after) <= 0) continue
      kept.push(record)
      if (kept.length >= 4 * take) kept = first()
    }
    yield* first()
  }
}

/**
 * Whether the order of sort keys under the prefix is that of logical keys. A dot made a slash keeps its place, for it is the letter before
 * and such a key holds no slash of its own; the one colon of a lease is part of every prefix that is a Query. A dot made a dash and a
 * colon made a slash trade places with other letters.
 */
function keepsKeyOrder(prefix: string): boolean {
  const rule = ruleOf(prefix)
  return rule !== undefined && !isExact(rule) && rule.form !== 'dashes' && rule.form !== 'colons'
}

function isFiledRight({ lkey, pk, sk }: StoredRecord): boolean {
  const place: Place | null = locateOrNull(lkey)
  return place?.pk === pk && place.sk === sk
}

function queryOf({ pk, skPrefix }: PrefixQuery): Record<string, unknown> {
  const names = { '#pk': 'pk', '#k': 'k' }
  // An empty text is no prefix to DynamoDB: it is left out.
  if (skPrefix === null)
    return {
      KeyConditionExpression: '#pk = :pk',
      FilterExpression: 'attribute_not_exists(#k)',
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: { ':pk': { S: pk } },
    }
  return {
    KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :prefix)',
    FilterExpression: 'attribute_not_exists(#k)',
    ExpressionAttributeNames: { ...names, '#sk': 'sk' },
    ExpressionAttributeValues: { ':pk': { S: pk }, ':prefix': { S: skPrefix } },
  }
}

function scanOf(prefix: string): Record<string, unknown> {
  if (prefix === '') return { FilterExpression: 'attribute_not_exists(#k)', ExpressionAttributeNames: { '#k': 'k' } }
  return {
    FilterExpression: 'attribute_not_exists(#k) AND begins_with(#lkey, :prefix)',
    ExpressionAttributeNames: { '#k': 'k', '#lkey': 'lkey' },
    ExpressionAttributeValues: { ':prefix': { S: prefix } },
  }
}

async function* nothing(): AsyncGenerator<never> {}
