import { isWildcard } from '../../src/config/group-names.ts'
import type { WrittenPolicy } from '../../src/config/policy.ts'
import type { Matcher } from '../../src/config/policy-groups.ts'
import { grants, implied, reach } from '../../src/config/policy-vocabulary.ts'
import type { Reason } from '../../src/policy/reasons.ts'

/** Why somebody holds a group: `member platform@acme.example`, with the wildcard it stands under. */
export function wayOf({ by, row }: Pick<Reason, 'by' | 'row'>): string {
  const under = row === undefined ? '' : ` (${row})`
  if ('member' in by) return `member ${by.member}${under}`
  return 'implied' in by ? `implied by ${by.implied}` : `matcher ${matcherInWords(by.matcher)}${under}`
}

/** Every way to a group: its members and matchers, those of wildcards that reach it, and the groups whose roles imply its own. */
export function waysTo(group: string, { groups, vocabulary }: WrittenPolicy): string[] {
  const own = Object.entries(groups).flatMap(([name, { members, matchers }]) => {
    if (!reach(name, vocabulary).includes(group)) return []
    const row = isWildcard(name) ? { row: name } : {}
    return [...members.map((member) => wayOf({ by: { member }, ...row })), ...matchers.map((matcher) => wayOf({ by: { matcher }, ...row }))]
  })
  const names = vocabulary === undefined ? [] : grants(vocabulary).map(({ scope, thing, role }) => `${scope}:${thing}:${role}`)
  const above = names.filter((name) => implied(name, vocabulary).includes(group))
  return [...own, ...above.map((name) => wayOf({ by: { implied: name } }))]
}

/** `email_domain acme.example`, `github repository=acme/* ref=refs/heads/main` */
function matcherInWords(matcher: Matcher): string {
  return Object.entries(matcher)
    .map(([kind, said]: [string, unknown]) =>
      typeof said === 'object' && said !== null
        ? [kind, ...Object.entries(said).map(([name, value]) => `${name}=${value}`)].join(' ')
        : `${kind} ${said}`,
    )
    .join(' ')
}

/** `1h`, `90m`, `45s`: as a document would have it. */
export function inWords(seconds: number): string {
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}
