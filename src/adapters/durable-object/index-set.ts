import { checkOwner } from '../../ports/checks.ts'
import { expiresAt } from '../../ports/expiry.ts'
import type { Index } from '../../ports/index-set.ts'
import { locateMembers, locateSet, type Module, memberOf, objectName, tableName } from '../../ports/layout5.ts'
import type { Clock, Random } from '../../ports/platform.ts'
import { locateMemberOrNull } from '../../ports/readable.ts'
import { drawRev } from '../../ports/revision.ts'
import type { ShardNamespace } from './protocol.ts'
import { openShards } from './shards.ts'

export interface DurableObjectIndexOptions {
  /** The namespace of `StateShard`. */
  namespace: ShardNamespace
  instance: string
  module: Module
  clock: Clock
  random: Random
  /** Where new objects are placed. */
  locationHint?: DurableObjectLocationHint | undefined
}

/** members in one answer */
const PAGE = 1_000

/** Index beside the records of `durableObjectState`, a set in one object. Each member has its own lifetime. */
export function durableObjectIndex({ namespace, instance, module, clock, random, locationHint }: DurableObjectIndexOptions): Index {
  const shards = openShards({ namespace, locationHint })
  const table = tableName(instance, module)

  return {
    async add(set, member, ttl) {
      const location = locateSet(set, member)
      checkOwner(location, module)
      const now = clock.now()
      const row = { pk: location.pk, sk: location.sk, lkey: set, value: null, rev: drawRev(random), expires: expiresAt(now, ttl), now }
      await shards.call(objectName(table, location), { do: 'put', ...row })
    },

    async remove(set, member) {
      const location = locateMemberOrNull(set, member)
      if (location === null) return
      checkOwner(location, module)
      await shards.call(objectName(table, location), { do: 'delete', pk: location.pk, sk: location.sk, member: true })
    },

    async members(set) {
      const location = locateMembers(set)
      if (location === null || (location.module !== null && location.module !== module)) return []
      const { pk, skPrefix } = location
      const object = objectName(table, { pk, sk: skPrefix })
      const found: string[] = []
      for (let after: string | null = null, more = true; more; ) {
        const page: { sks: string[]; more: boolean } = await shards.call(object, {
          do: 'members',
          pk,
          skPrefix,
          after,
          limit: PAGE,
          now: clock.now(),
        })
        found.push(...page.sks)
        after = page.sks.at(-1) ?? null
        more = page.more
      }
      return found.map(memberOf)
    },
  }
}
