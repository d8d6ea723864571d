import { checkOwner } from '../../ports/checks.ts'
import { expiresAt, isLive } from '../../ports/expiry.ts'
import type { Index } from '../../ports/index-set.ts'
import { locateMembers, locateSet, type Module, memberOf } from '../../ports/layout5.ts'
import type { Clock, Random } from '../../ports/platform.ts'
import { locateMemberOrNull } from '../../ports/readable.ts'
import { drawRev } from '../../ports/revision.ts'
import type { JsonClient } from '../aws/aws.ts'
import { aMember } from './condition.ts'
import { MEMBER, memberItem, readMember } from './item.ts'
import { openTable } from './table.ts'
import { moduleTables, type TableNames } from './tables.ts'

export interface DynamodbIndexOptions {
  client: JsonClient
  instance: string
  module: Module
  clock: Clock
  random: Random
  tableNames?: TableNames
}

/** Index in the table of `dynamodbState`, an item a member, each with its own lifetime (seed: storage-layout, "Index set"). */
export function dynamodbIndex({ client, instance, module, clock, random, tableNames }: DynamodbIndexOptions): Index {
  const table = openTable(client, moduleTables(instance, tableNames)[module])

  return {
    async add(set, member, ttl) {
      const location = locateSet(set, member)
      checkOwner(location, module)
      const { pk, sk } = location
      await table.put(memberItem({ pk, sk, lkey: set, expires: expiresAt(clock.now(), ttl) }, drawRev(random)))
    },

    async remove(set, member) {
      const location = locateMemberOrNull(set, member)
      if (location === null) return
      checkOwner(location, module)
      await table.delete(location, aMember)
    },

    async members(set) {
      // A member's place is the longest there is: a set that has none of one letter has none.
      if (locateMemberOrNull(set, 'm') === null) return []
      const location = locateMembers(set)
      if (location === null || (location.module !== null && location.module !== module)) return []
      const query = {
        KeyConditionExpression: '#pk = :pk AND begins_with(#sk, :prefix)',
        FilterExpression: '#k = :member',
        ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk', '#k': 'k' },
        ExpressionAttributeValues: { ':pk': { S: location.pk }, ':prefix': { S: location.skPrefix }, ':member': { S: MEMBER } },
      }
      const found: string[] = []
      for await (const items of table.pages('Query', query)) {
        for (const item of items) {
          const member = readMember(item)
          if (member && isLive(member.expires, clock.now())) found.push(memberOf(member.sk))
        }
      }
      return found
    },
  }
}
