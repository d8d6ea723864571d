import type { Policy } from '../config/policy.ts'
import type { PersonId } from '../ports/keys.ts'

/**
 * The groups of the policy a person holds, sorted: those whose `members` name a directory group the person is in, those a matcher admits, and
 * what these imply. The accounts `recovery` and `conformance` hold what names them, and nothing by a directory or an address.
 *
 * @param directoryGroups addresses of the directory groups the person is in
 */
export type HeldGroups = (person: PersonId, directoryGroups: readonly string[]) => string[]

/** The policy made ready to be asked, once an isolate: every sign-in and every refresh asks, and most groups are not the person's. */
export function heldGroupsOf(policy: Policy): HeldGroups {
  const { byMember, byEmail, byDomain, byAccount, implies } = indexOf(policy)
  return (person, directoryGroups) => {
    const at = person.lastIndexOf('@')
    const ways =
      at < 0
        ? [byAccount.get(person)]
        : [byEmail.get(person), byDomain.get(person.slice(at + 1)), ...directoryGroups.map((group) => byMember.get(group.toLowerCase()))]
    const held = new Set<string>()
    for (const names of ways) for (const name of names ?? []) held.add(name)
    for (const name of [...held]) for (const other of implies.get(name) ?? []) held.add(other)
    return [...held].sort()
  }
}

/** Which groups each way leads to. Workloads (`github`, `service_account`, `aws`) are no persons: their tokens are exchanged, not signed in. */
function indexOf(policy: Policy) {
  const index = {
    byMember: new Map<string, string[]>(),
    byEmail: new Map<string, string[]>(),
    byDomain: new Map<string, string[]>(),
    byAccount: new Map<string, string[]>(),
    implies: new Map<string, readonly string[]>(),
  }
  for (const [name, group] of Object.entries(policy.groups)) {
    for (const member of group.members) add(index.byMember, member.toLowerCase(), name)
    for (const matcher of group.matchers) {
      if ('email' in matcher) add(index.byEmail, matcher.email.toLowerCase(), name)
      else if ('email_domain' in matcher) add(index.byDomain, matcher.email_domain.toLowerCase(), name)
      else if ('account' in matcher) add(index.byAccount, matcher.account, name)
    }
    if (group.implies !== undefined) index.implies.set(name, group.implies)
  }
  return index
}

function add(to: Map<string, string[]>, key: string, name: string): void {
  const names = to.get(key)
  if (names === undefined) to.set(key, [name])
  else names.push(name)
}
