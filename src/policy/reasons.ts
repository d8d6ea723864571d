import { isWildcard } from '../config/group-names.ts'
import type { WrittenPolicy } from '../config/policy.ts'
import type { Matcher } from '../config/policy-groups.ts'
import { implied, reach } from '../config/policy-vocabulary.ts'
import type { PersonId } from '../ports/keys.ts'

/** A group somebody holds, and one way they came to it. */
export interface Reason {
  group: string
  by: { member: string } | { matcher: Matcher } | { implied: string }
  /** The wildcard whose row it is in. */
  row?: string
}

/**
 * Why a person holds what they hold, every way of it, sorted by group: for people who read the policy. It comes from the document as written
 * and goes through all of it; what is asked at every refresh is `heldGroupsOf`, and the two agree.
 */
export function reasonsOf(policy: WrittenPolicy, person: PersonId, directoryGroups: readonly string[]): Reason[] {
  const { groups, vocabulary } = policy
  const own = Object.entries(groups).flatMap(([name, { members, matchers }]) => {
    const ways: Reason['by'][] = [
      ...members.filter((member) => isAddress(person) && directoryGroups.includes(member)).map((member) => ({ member })),
      ...matchers.filter((matcher) => matches(matcher, person)).map((matcher) => ({ matcher })),
    ]
    const row = isWildcard(name) ? { row: name } : {}
    return reach(name, vocabulary).flatMap((group) => ways.map((by) => ({ group, by, ...row })))
  })
  const implications = [...new Set(own.map(({ group }) => group))].flatMap((group) =>
    implied(group, vocabulary).map((other) => ({ group: other, by: { implied: group } })),
  )
  return [...own, ...implications].sort((a, b) => (a.group < b.group ? -1 : Number(a.group > b.group)))
}

function matches(matcher: Matcher, person: PersonId): boolean {
  if ('email' in matcher) return matcher.email === person
  if ('email_domain' in matcher) return isAddress(person) && person.slice(person.lastIndexOf('@') + 1) === matcher.email_domain
  return 'account' in matcher && matcher.account === person
}

function isAddress(person: PersonId): boolean {
  return person.includes('@')
}
