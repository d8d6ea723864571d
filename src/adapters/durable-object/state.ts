import { checkOwner, checkWrite } from '../../ports/checks.ts'
import { PortError } from '../../ports/error.ts'
import { expiresAt, remainingLifetime } from '../../ports/expiry.ts'
import { type Location, locateOrNull, type Module, objectName, shardOf, tableName } from '../../ports/layout5.ts'
import { decodePage, encodePage } from '../../ports/page.ts'
import type { Bytes, Clock, Random } from '../../ports/platform.ts'
import { watchByPolling } from '../../ports/polling-watch.ts'
import { isReadablePrefix, locateReadable } from '../../ports/readable.ts'
import { drawRev } from '../../ports/revision.ts'
import { DEFAULT_PAGE, type Entry, type Lifetime, type Rev, type State } from '../../ports/state.ts'
import type { ListedRow, ShardNamespace } from './protocol.ts'
import { openShards } from './shards.ts'
import { type WalkOptions, walk } from './walk.ts'

export interface DurableObjectStateOptions {
  /** The namespace of `StateShard`. */
  namespace: ShardNamespace
  instance: string
  module: Module
  clock: Clock
  random: Random
  /** Where new objects are placed. */
  locationHint?: DurableObjectLocationHint | undefined
  /** May write the maintenance flag. */
  restore?: boolean
  /** ms between the polls of a watch. */
  interval?: number
}

/** State in the Worker's own SQLite Durable Objects, a shard of a module's table in each (docs/design.md, "Ports"). */
export function durableObjectState(options: DurableObjectStateOptions): Required<State> {
  const { namespace, instance, module, clock, random, locationHint, restore = false, interval = 1_000 } = options
  const shards = openShards({ namespace, locationHint })
  const table = tableName(instance, module)

  // What every op on one item says of where and when. The locating ran before: nothing of a refused call is sent.
  function at(location: Location) {
    return { object: objectName(table, location), address: { pk: location.pk, sk: location.sk, now: clock.now() } }
  }

  function writing(key: string, value: Bytes, ttl: Lifetime) {
    const location = checkWrite(key, value, ttl)
    checkOwner(location, module, { restore })
    const { object, address } = at(location)
    // A copy of its own: the caller may reuse the buffer, and a view would be sent with all that it is a view of.
    const row = { ...address, lkey: key, value: value.slice(), rev: drawRev(random), expires: expiresAt(address.now, ttl) }
    return { object, row }
  }

  function walkFrom(prefix: string, how: Pick<WalkOptions, 'values' | 'after' | 'take'>): AsyncIterable<ListedRow> {
    return isReadablePrefix(prefix, module) ? walk(shards, { ...how, table, prefix, now: clock.now() }) : nothing()
  }

  return {
    async get(key, { follow } = {}) {
      const location = locateReadable(key, module)
      if (location === null) return null
      const { object, address } = at(location)
      const followed =
        follow !== undefined && isReadablePrefix(follow, module) ? { follow: { prefix: follow, shard: shardOf(location) } } : {}
      const found = await shards.call(object, { do: 'get', ...address, ...followed })
      return found && { key, ...found }
    },

    async put(key, value, ttl) {
      const { object, row } = writing(key, value, ttl)
      await shards.call(object, { do: 'put', ...row })
      return row.rev
    },

    async create(key, value, ttl) {
      const { object, row } = writing(key, value, ttl)
      await shards.call(object, { do: 'create', ...row })
      return row.rev
    },

    async update(key, value, ttl, over) {
      const { object, row } = writing(key, value, ttl)
      await shards.call(object, { do: 'update', ...row, over })
      return row.rev
    },

    async delete(key) {
      const location = locateOrNull(key)
      if (location === null) return
      checkOwner(location, module, { restore })
      const { object, address } = at(location)
      await shards.call(object, { do: 'delete', pk: address.pk, sk: address.sk, member: false })
    },

    async deleteIfRevision(key, rev) {
      const location = locateOrNull(key)
      if (location === null) throw new PortError('NotFound', 'the key maps nowhere')
      checkOwner(location, module, { restore })
      const { object, address } = at(location)
      await shards.call(object, { do: 'deleteIfRevision', ...address, rev })
    },

    async list(prefix, { page, limit = 0 } = {}) {
      const after = decodePage(page, prefix)
      const size = limit > 0 ? limit : DEFAULT_PAGE
      const entries: Entry[] = []
      for await (const row of walkFrom(prefix, { after, take: size + 1, values: true })) {
        const last = entries.at(-1)
        if (last && entries.length === size) return { entries, next: encodePage(prefix, last.key) }
        entries.push(entryOf(row))
      }
      return { entries }
    },

    watch(prefix, { signal }) {
      const snapshot = async () => {
        const revs = new Map<string, Rev>()
        for await (const row of walkFrom(prefix, { values: false })) revs.set(row.lkey, row.rev)
        return revs
      }
      return watchByPolling({ signal, interval, snapshot })
    },

    async peekRevision(key) {
      const location = locateReadable(key, module)
      if (location === null) return null
      const { object, address } = at(location)
      return shards.call(object, { do: 'peek', ...address })
    },

    async *export(prefix) {
      for await (const row of walkFrom(prefix, { values: true }))
        yield { ...entryOf(row), ttl: remainingLifetime(row.expires, clock.now()) }
    },
  }
}

function entryOf({ lkey, value, rev }: ListedRow): Entry {
  return { key: lkey, value: value ?? new Uint8Array(), rev }
}

async function* nothing(): AsyncGenerator<never> {}
