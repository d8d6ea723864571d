import { checkOwner } from '../../ports/checks.ts'
import { expiresAt, isLive } from '../../ports/expiry.ts'
import type { Index } from '../../ports/index-set.ts'
import { locateMembers, locateSet, type Module, memberOf } from '../../ports/layout5.ts'
import type { Clock } from '../../ports/platform.ts'
import { locateMemberOrNull } from '../../ports/readable.ts'
import { atomically } from './atomically.ts'
import { type Scheduler, straight } from './scheduler.ts'
import { type MemoryStore, rowId } from './store.ts'

export interface MemoryIndexOptions {
  store: MemoryStore
  clock: Clock
  module: Module
  scheduler?: Scheduler
}

/** Index in this process, beside the records of `memoryState` on the same store. Each member has its own lifetime. */
export function memoryIndex({ store, clock, module, scheduler = straight }: MemoryIndexOptions): Index {
  const table = store.table(module)

  return {
    async add(set, member, ttl) {
      const location = locateSet(set, member)
      checkOwner(location, module)
      const expires = expiresAt(clock.now(), ttl)
      await atomically(scheduler, () => {
        table.set(rowId(location), { lkey: set, sk: location.sk, value: null, rev: store.nextRev(), expires })
      })
    },

    async remove(set, member) {
      const location = locateMemberOrNull(set, member)
      if (location === null) return
      checkOwner(location, module)
      const id = rowId(location)
      await atomically(scheduler, () => {
        if (table.get(id)?.value === null) table.delete(id)
      })
    },

    async members(set) {
      const location = locateMembers(set)
      if (location === null || (location.module !== null && location.module !== module)) return []
      const within = rowId({ pk: location.pk, sk: location.skPrefix })
      return atomically(scheduler, () => {
        const live = [...table].filter(([id, row]) => row.value === null && id.startsWith(within) && isLive(row.expires, clock.now()))
        return live.map(([, row]) => memberOf(row.sk))
      })
    },
  }
}
