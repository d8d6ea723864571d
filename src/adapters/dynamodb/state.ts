import { checkOwner, checkWrite } from '../../ports/checks.ts'
import { PortError } from '../../ports/error.ts'
import { expiresAt, isLive, remainingLifetime } from '../../ports/expiry.ts'
import { locateOrNull, type Module } from '../../ports/layout5.ts'
import type { Bytes, Clock, Random } from '../../ports/platform.ts'
import { watchByPolling } from '../../ports/polling-watch.ts'
import { isReadablePrefix, locateReadable } from '../../ports/readable.ts'
import { drawRev } from '../../ports/revision.ts'
import type { Lifetime, Rev, State } from '../../ports/state.ts'
import type { JsonClient } from '../aws/aws.ts'
import { toBase64 } from './base64.ts'
import { liveAt, noMember, nothingLive } from './condition.ts'
import { isRev, type Place, readHead, readMember, readRecord, recordItem, type StoredRecord } from './item.ts'
import { listRecords } from './listing.ts'
import { entryOf, readingOf } from './reading.ts'
import { openTable, type Refused } from './table.ts'
import { moduleTables, type TableNames } from './tables.ts'

export interface DynamodbStateOptions {
  client: JsonClient
  instance: string
  module: Module
  clock: Clock
  random: Random
  tableNames?: TableNames
  /** May write the maintenance flag. */
  restore?: boolean
  /** ms between the polls of a watch. */
  interval?: number
  /** Modules whose records `get` and `list` read too, each in its own table. */
  peers?: readonly Module[]
}

/**
 * State in a module's DynamoDB table (seed: storage-layout). Opening asks nothing. Expiry is judged by our clock alone, in whole seconds.
 *
 * A conditional write whose answer was lost is sent again, and knows itself by the revision it drew. Only a conditional deletion leaves
 * nothing to know it by: when its repetition finds the record gone it is Unavailable, for it can't be said who deleted it.
 *
 * An item that is no record of the layout is absent to reads, and to update and deleteIfRevision; put replaces it and delete removes it.
 * create over it is Unavailable and names the table and the kind: Exists would send a caller to read what it can't read.
 */
export function dynamodbState(options: DynamodbStateOptions): Required<State> {
  const { client, instance, module, clock, random, tableNames, restore = false, interval = 1_000, peers = [] } = options
  const names = moduleTables(instance, tableNames)
  const table = openTable(client, names[module])
  const reading = readingOf(new Map([[module, table], ...peers.map((peer) => [peer, openTable(client, names[peer])] as const)]), clock)

  function writing(key: string, value: Bytes, ttl: Lifetime) {
    const location = checkWrite(key, value, ttl)
    checkOwner(location, module, { restore })
    const now = clock.now()
    const place: Place = { pk: location.pk, sk: location.sk }
    const record: StoredRecord = { ...place, lkey: key, v: toBase64(value), rev: drawRev(random), expires: expiresAt(now, ttl) }
    return { place, now, rev: record.rev, item: recordItem(record) }
  }

  // An engine that sends no old item with its refusal is asked for it.
  async function inTheWay(place: Place, { old }: Refused): Promise<unknown> {
    return old ?? (await table.get(place))
  }

  // A revision that none of us drew is asked of no condition: DynamoDB refuses what is no number, and 0 is nobody's.
  async function refuseMalformed(place: Place, rev: Rev): Promise<void> {
    if (!isRev(rev)) throw moved(await table.get(place), clock.now())
  }

  async function* recordsUnder(prefix: string): AsyncGenerator<StoredRecord> {
    if (isReadablePrefix(prefix, module)) yield* listRecords(table, { prefix, clock })
  }

  return {
    ...reading,

    async put(key, value, ttl) {
      const { item, rev } = writing(key, value, ttl)
      await table.put(item)
      return rev
    },

    async create(key, value, ttl) {
      const { item, place, now, rev } = writing(key, value, ttl)
      const refused = await table.put(item, nothingLive(now))
      if (refused === null) return rev
      const old = await inTheWay(place, refused)
      if (readHead(old)?.rev === rev) return rev
      if (old !== undefined && readRecord(old) === null && readMember(old) === null)
        throw new PortError('Unavailable', `table ${names[module]} holds an item of kind ${place.pk} that is no record: delete or mend it`)
      throw new PortError('Exists', 'there is a live record')
    },

    async update(key, value, ttl, over) {
      const { item, place, now, rev } = writing(key, value, ttl)
      await refuseMalformed(place, over)
      const refused = await table.put(item, liveAt(over, now))
      if (refused === null) return rev
      const old = await inTheWay(place, refused)
      if (readHead(old)?.rev === rev) return rev
      throw moved(old, now)
    },

    async delete(key) {
      const place = locateOrNull(key)
      if (place === null) return
      checkOwner(place, module, { restore })
      await table.delete(place, noMember)
    },

    async deleteIfRevision(key, rev) {
      const place = locateOrNull(key)
      if (place === null) throw new PortError('NotFound', 'the key maps nowhere')
      checkOwner(place, module, { restore })
      await refuseMalformed(place, rev)
      const now = clock.now()
      const refused = await table.delete(place, liveAt(rev, now))
      if (refused === null) return
      const old = await inTheWay(place, refused)
      const refusal = moved(old, now)
      if (refusal.code === 'NotFound' && refused.mayHaveLanded && readHead(old)?.rev !== rev)
        throw new PortError('Unavailable', 'an answer was lost, and the record is gone: whether this call deleted it is not known')
      throw refusal
    },

    watch(prefix, { signal }) {
      const snapshot = async () => {
        const revs = new Map<string, Rev>()
        for await (const { lkey, rev } of recordsUnder(prefix)) revs.set(lkey, rev)
        return revs
      }
      return watchByPolling({ signal, interval, snapshot })
    },

    async peekRevision(key) {
      const place = locateReadable(key, module)
      const head = place && readHead(await table.peek(place))
      return head && isLive(head.expires, clock.now()) ? head.rev : null
    },

    async *export(prefix) {
      for await (const record of recordsUnder(prefix)) yield { ...entryOf(record), ttl: remainingLifetime(record.expires, clock.now()) }
    },
  }
}

/** Why a write over a revision did not land, by what stands there: Conflict over a record live at `now`, else NotFound. */
function moved(old: unknown, now: number): PortError {
  const record = readRecord(old)
  if (record !== null && isLive(record.expires, now)) return new PortError('Conflict', 'the record moved')
  return new PortError('NotFound', 'there is no live record')
}
