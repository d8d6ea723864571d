import * as z from 'zod'
import { familyOf, grantOf, isFamily, thingOf } from './group-names.ts'
import type { Row } from './policy-groups.ts'
import { resolveGroups } from './policy-resolved.ts'
import { vocabularySchema } from './policy-vocabulary.ts'
import { entries, field, type Path, type Problem, part, parts } from './problems.ts'

/** What a document as written has names for, also where it is wrong elsewhere. */
export interface Names {
  /** Every group, those that wildcards and implications make too. */
  groups: readonly string[]
  has(group: string): boolean
  /** Whether it is what a list of the groups of tokens may name beside groups: a thing, or a family. */
  hasSort(name: string): boolean
}

export function namesOf(document: unknown): Names {
  const written = field(document, 'vocabulary')
  const vocabulary = part(vocabularySchema, written)
  const rows = entries(field(document, 'groups')).map(([name]): [string, Row] => [name, { members: [], matchers: [] }])
  const groups = Object.keys(resolveGroups(Object.fromEntries(rows), vocabulary))
  const known = new Set(groups)
  const sorts = new Set(groups.flatMap((name) => familyOf(name) ?? thingOf(name) ?? []))
  // Of a vocabulary that can't be read it is said so; what it would have made of a wildcard or a role is not held against anybody.
  const isUnreadable = written !== undefined && vocabulary === undefined
  return {
    groups,
    has: (group) => known.has(group) || (isUnreadable && grantOf(group) !== null),
    hasSort: (name) => sorts.has(name) || (isUnreadable && !isFamily(name) && !name.includes(':')),
  }
}

/** What is wrong with a list of groups. @param also what an item may name beside a group, and the word for all that */
export function groupNamesProblems(
  list: unknown,
  path: Path,
  names: Names,
  also?: { words: string; has(name: string): boolean },
): Problem[] {
  const seen = new Set<string>()
  return parts(z.string(), list).flatMap(([at, name]) => {
    const problem = (message: string) => [{ path: [...path, at], message: `${JSON.stringify(name)} ${message}` }]
    if (name.split(':').includes('*')) return problem('has a *, which only the name of a row of groups can have')
    if (!names.has(name) && !also?.has(name)) return problem(`is no ${also?.words ?? 'group'} of this document`)
    if (seen.has(name)) return problem('is named twice')
    seen.add(name)
    return []
  })
}
