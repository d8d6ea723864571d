import type { Policy } from './policy.ts'
import type { Problem } from './problems.ts'

/**
 * What is odd about a policy without being wrong: groups that let nobody in anywhere and stand in no token.
 * A token for an audience names what it lists, all, or what shares a `<scope>:<thing>` with what it requires.
 */
export function policyWarnings(policy: Policy): Problem[] {
  const audiences = [...Object.values(policy.clients), ...Object.values(policy.resources)]
  if (audiences.some((audience) => audience.groups === 'all')) return []
  const named = new Set(policy.console?.operators)
  const pairs = new Set<string | null>()
  for (const { requires, groups } of audiences) {
    for (const name of [...requires, ...(groups ?? [])]) named.add(name)
    if (groups === undefined) for (const name of requires) pairs.add(pairOf(name))
  }
  const consumed = (name: string) => named.has(name) || (pairOf(name) !== null && pairs.has(pairOf(name)))
  return Object.keys(policy.groups).flatMap((name) =>
    consumed(name) ? [] : [{ path: ['groups', name], message: 'is declared, and no client, resource or console asks for it' }],
  )
}

/** `<scope>:<thing>` of a name with a role, else null. Companywide families (`emp:`, `rung:`) pair with nothing. */
function pairOf(name: string): string | null {
  const [scope, thing, role] = name.split(':')
  return role === undefined || scope === 'emp' || scope === 'rung' ? null : `${scope}:${thing}`
}
