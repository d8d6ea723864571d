import type { Tenant } from './tenant.ts'

/**
 * What somebody is in, worked out in the plainest way: from each group down to its members, level by level. For tests to hold the resolver
 * against; it knows none of its structures.
 */
export function naiveGroups(tenant: Tenant, address: string): string[] {
  const lower = (text: string) => text.toLowerCase()
  const person = tenant.accounts.find((one) => lower(one.address) === lower(address))
  if (person === undefined) return []
  const direct = (group: Tenant['groups'][number]) =>
    group.members.some((member) =>
      member.type === 'CUSTOMER' ? member.id === tenant.id : member.type === 'USER' && member.id === person.id,
    )
  const byLevel: Set<string>[] = [new Set(tenant.groups.filter(direct).map(({ id }) => id))]
  const known = new Set(byLevel[0])
  for (let level = 1; level <= 8; level++) {
    const below = byLevel[level - 1] ?? new Set()
    const holders = tenant.groups.filter(
      ({ id, members }) => !known.has(id) && members.some((member) => member.type === 'GROUP' && below.has(member.id)),
    )
    for (const { id } of holders) known.add(id)
    byLevel.push(new Set(holders.map(({ id }) => id)))
  }
  const addressOf = new Map(tenant.groups.map(({ id, address }) => [id, lower(address)]))
  return [...known].map((id) => addressOf.get(id) ?? '').sort()
}
