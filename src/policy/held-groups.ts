import type { Group, Policy } from '../config/policy.ts'
import type { PersonId } from '../ports/keys.ts'

/**
 * The groups of the policy a person holds, sorted: those whose `members` name a directory group the person is in, and those a matcher admits.
 *
 * @param directoryGroups addresses of the directory groups the person is in, lower-case
 */
export function heldGroups(policy: Policy, person: PersonId, directoryGroups: readonly string[]): string[] {
  return Object.entries(policy.groups)
    .filter(([, group]) => holds(group, person, directoryGroups))
    .map(([name]) => name)
    .sort()
}

function holds(group: Group, person: PersonId, directoryGroups: readonly string[]): boolean {
  return (
    group.members.some((member) => directoryGroups.includes(member.toLowerCase())) ||
    group.matchers.some((matcher) => matches(matcher, person))
  )
}

function matches(matcher: Group['matchers'][number], person: PersonId): boolean {
  if ('email' in matcher) return matcher.email.toLowerCase() === person
  return person.slice(person.lastIndexOf('@') + 1) === matcher.email_domain.toLowerCase()
}
