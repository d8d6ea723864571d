import { isLive } from '../../ports/expiry.ts'
import type { Module } from '../../ports/layout5.ts'
import { decodePage, encodePage } from '../../ports/page.ts'
import type { Clock } from '../../ports/platform.ts'
import { isReadablePrefix, locateReadable } from '../../ports/readable.ts'
import { DEFAULT_PAGE, type Entry, type State } from '../../ports/state.ts'
import { fromBase64 } from './base64.ts'
import { readRecord, type StoredRecord } from './item.ts'
import { listRecords } from './listing.ts'
import type { Table } from './table.ts'

/** What one module's tables are read through: `get` and `list`, and no way from there to a write. */
export type PeerState = Pick<State, 'get' | 'list'>

/** Reads of modules' tables. The first is asked for keys of no module; a key of none of them is absent, with nothing asked. */
export function readingOf(tables: ReadonlyMap<Module, Table>, clock: Clock): PeerState {
  return {
    async get(key) {
      for (const [module, table] of tables) {
        const place = locateReadable(key, module)
        if (place === null) continue
        const record = readRecord(await table.get(place))
        return record && isLive(record.expires, clock.now()) ? { ...entryOf(record), key } : null
      }
      return null
    },

    async list(prefix, { page, limit = 0 } = {}) {
      const after = decodePage(page, prefix)
      const size = limit > 0 ? limit : DEFAULT_PAGE
      const entries: Entry[] = []
      for (const [module, table] of tables) {
        if (!isReadablePrefix(prefix, module)) continue
        for await (const record of listRecords(table, { prefix, clock, after, take: size + 1 })) {
          const last = entries.at(-1)
          if (last && entries.length === size) return { entries, next: encodePage(prefix, last.key) }
          entries.push(entryOf(record))
        }
        break
      }
      return { entries }
    },
  }
}

export function entryOf({ lkey, v, rev }: StoredRecord): Entry {
  return { key: lkey, value: fromBase64(v), rev }
}
