import { declared, type Policy } from '../../src/config/policy.ts'
import type { Path, Problem } from '../../src/config/problems.ts'
import { scopedGroups } from '../../src/policy/scoped-groups.ts'
import type { Expectation } from './expectation.ts'
import { opening, type Standing } from './standing.ts'

/** What of an expectation is not so, with what is. */
export function unmet(one: Expectation, { held }: Standing, path: Path, policy: Policy): Problem[] {
  const rowOf = (name: string) => declared(policy.clients, name) ?? declared(policy.resources, name)
  const openOf = (name: string) => {
    const row = rowOf(name)
    return row === undefined ? [] : opening(row, held)
  }
  const requires = (name: string) => rowOf(name)?.requires.join(' or ') ?? ''
  const named = (key: string, list: readonly string[] | undefined, messageOf: (name: string) => string | null) =>
    (list ?? []).flatMap((name, at) => problem([...path, key, at], messageOf(name)))
  return [
    ...named('holds', one.holds, (name) => (held.includes(name) ? null : `expected ${name} to be held, and they hold ${words(held)}`)),
    ...named('not_holds', one.not_holds, (name) => (held.includes(name) ? `expected ${name} not to be held, and they hold it` : null)),
    ...named('admitted', one.admitted, (name) =>
      openOf(name).length > 0 ? null : `expected ${name} to let them in: it requires ${requires(name)}, and they hold ${words(held)}`,
    ),
    ...named('refused', one.refused, (name) =>
      openOf(name).length > 0 ? `expected ${name} to refuse them, and it lets them in by ${words(openOf(name))}` : null,
    ),
    ...Object.entries(one.token_groups ?? {}).flatMap(([name, groups]) => {
      const row = rowOf(name)
      const at = [...path, 'token_groups', name]
      if (row === undefined) return []
      if (openOf(name).length === 0) return problem(at, `expected ${words(groups)}, and there is no token: it requires ${requires(name)}`)
      const said = scopedGroups(policy, row, held).groups
      return problem(at, isSame(said, groups) ? null : `expected ${words(groups)}, got ${words(said)}`)
    }),
  ]
}

function problem(path: Path, message: string | null): Problem[] {
  return message === null ? [] : [{ path, message }]
}

/** In whatever order. */
function isSame(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify([...new Set(some)].sort()) === JSON.stringify([...new Set(others)].sort())
}

function words(names: readonly string[]): string {
  return names.join(', ') || 'nothing'
}
