import { compareUtf8 } from '../../crypto/bytes.ts'
import { checkOwner, checkWrite } from '../../ports/checks.ts'
import { PortError } from '../../ports/error.ts'
import { expiresAt, isLive, remainingLifetime } from '../../ports/expiry.ts'
import { locateOrNull, type Module } from '../../ports/layout5.ts'
import { decodePage, encodePage } from '../../ports/page.ts'
import type { Bytes, Clock } from '../../ports/platform.ts'
import { watchByPolling } from '../../ports/polling-watch.ts'
import { isReadablePrefix, locateReadable } from '../../ports/readable.ts'
import { DEFAULT_PAGE, type Entry, type Lifetime, type Rev, type State } from '../../ports/state.ts'
import { atomically } from './atomically.ts'
import { type Scheduler, straight } from './scheduler.ts'
import { type MemoryStore, type Row, rowId } from './store.ts'

export interface MemoryStateOptions {
  store: MemoryStore
  clock: Clock
  module: Module
  /** May write the maintenance flag. */
  restore?: boolean
  /** Who goes first among concurrent callers; every operation takes effect at once by default. */
  scheduler?: Scheduler
  /** ms between the polls of a watch. */
  interval?: number
}

interface RecordRow extends Row {
  value: Bytes
}

/**
 * State in this process, for tests. It refuses what the engines refuse, keeps what they keep, and pauses before and after each
 * operation takes effect, so that racers can come between but never within one.
 */
export function memoryState({
  store,
  clock,
  module,
  restore = false,
  scheduler = straight,
  interval = 1_000,
}: MemoryStateOptions): Required<State> {
  const table = store.table(module)

  function liveRecord(id: string): RecordRow | null {
    const row = table.get(id)
    return row && isRecord(row) && isLive(row.expires, clock.now()) ? row : null
  }

  function recordAt(id: string, rev: Rev): RecordRow {
    const record = liveRecord(id)
    if (!record) throw new PortError('NotFound', 'there is no live record')
    if (record.rev !== rev) throw new PortError('Conflict', 'the record moved')
    return record
  }

  function writing(key: string, value: Bytes, ttl: Lifetime): { id: string; write: () => Rev } {
    const location = checkWrite(key, value, ttl)
    checkOwner(location, module, { restore })
    const id = rowId(location)
    const copy = value.slice()
    const write = () => {
      const rev = store.nextRev()
      table.set(id, { lkey: key, sk: location.sk, value: copy, rev, expires: expiresAt(clock.now(), ttl) })
      return rev
    }
    return { id, write }
  }

  async function liveUnder(prefix: string): Promise<RecordRow[]> {
    if (!isReadablePrefix(prefix, module)) return []
    return atomically(scheduler, () =>
      [...table.values()]
        .filter(isRecord)
        .filter((row) => row.lkey.startsWith(prefix) && isLive(row.expires, clock.now()))
        .sort((a, b) => compareUtf8(a.lkey, b.lkey)),
    )
  }

  return {
    async get(key) {
      const location = locateReadable(key, module)
      if (location === null) return null
      return atomically(scheduler, () => {
        const record = liveRecord(rowId(location))
        return record ? { key, value: record.value.slice(), rev: record.rev } : null
      })
    },

    async put(key, value, ttl) {
      const { write } = writing(key, value, ttl)
      return atomically(scheduler, write)
    },

    async create(key, value, ttl) {
      const { id, write } = writing(key, value, ttl)
      return atomically(scheduler, () => {
        const row = table.get(id)
        if (row && isLive(row.expires, clock.now())) throw new PortError('Exists', 'there is a live record')
        return write()
      })
    },

    async update(key, value, ttl, rev) {
      const { id, write } = writing(key, value, ttl)
      return atomically(scheduler, () => {
        recordAt(id, rev)
        return write()
      })
    },

    async delete(key) {
      const location = locateOrNull(key)
      if (location === null) return
      checkOwner(location, module, { restore })
      const id = rowId(location)
      await atomically(scheduler, () => {
        const row = table.get(id)
        if (row && isRecord(row)) table.delete(id)
      })
    },

    async deleteIfRevision(key, rev) {
      const location = locateOrNull(key)
      if (location === null) throw new PortError('NotFound', 'the key maps nowhere')
      checkOwner(location, module, { restore })
      const id = rowId(location)
      await atomically(scheduler, () => {
        recordAt(id, rev)
        table.delete(id)
      })
    },

    async list(prefix, { page, limit = 0 } = {}) {
      const after = decodePage(page, prefix)
      const size = limit > 0 ? limit : DEFAULT_PAGE
      const rest = (await liveUnder(prefix)).filter((row) => after === null || compareUtf8(row.lkey, after) > 0)
      const entries = rest.slice(0, size).map(entryOf)
      const last = entries.at(-1)
      return last && rest.length > size ? { entries, next: encodePage(prefix, last.key) } : { entries }
    },

    watch(prefix, { signal }) {
      const snapshot = async () => new Map((await liveUnder(prefix)).map((row) => [row.lkey, row.rev]))
      return watchByPolling({ signal, interval, snapshot })
    },

    async peekRevision(key) {
      const location = locateReadable(key, module)
      if (location === null) return null
      return atomically(scheduler, () => liveRecord(rowId(location))?.rev ?? null)
    },

    async *export(prefix) {
      for (const row of await liveUnder(prefix)) yield { ...entryOf(row), ttl: remainingLifetime(row.expires, clock.now()) }
    },
  }
}

function isRecord(row: Row): row is RecordRow {
  return row.value !== null
}

function entryOf(row: RecordRow): Entry {
  return { key: row.lkey, value: row.value.slice(), rev: row.rev }
}
