import { isFamily } from './group-names.ts'
import { scopesOf, type Thing, type Vocabulary, vocabularySchema } from './policy-vocabulary.ts'
import { field, type Path, type Problem, part } from './problems.ts'

/** What is wrong with a vocabulary whose shape is right: names it does not have, and roles that imply in circles. */
export function vocabularyProblems(written: unknown): Problem[] {
  const vocabulary = part(vocabularySchema, written)
  if (vocabulary === undefined) return []
  return [
    ...familyNames(vocabulary),
    ...Object.entries(vocabulary.things).flatMap(([name, thing]) => {
      const path = ['vocabulary', 'things', name]
      return [
        ...namesProblems(thing.scopes, [...path, 'scopes'], Object.keys(vocabulary.scopes), 'scope of this vocabulary'),
        ...(Object.keys(thing.roles).length === 0 ? [{ path: [...path, 'roles'], message: 'names no role' }] : []),
        ...roleProblems(thing, [...path, 'roles'], field(field(field(written, 'things'), name), 'roles')),
        ...circles(thing).map((circle) => ({
          path: [...path, 'roles', circle[0] ?? ''],
          message: `implies itself: ${circle.join(' > ')}`,
        })),
      ]
    }),
  ]
}

/** `emp` and `rung` before a colon mean the company, and in the groups of an audience all of that family. */
function familyNames({ scopes, things }: Vocabulary): Problem[] {
  return Object.entries({ scopes, things }).flatMap(([table, rows]) =>
    Object.keys(rows)
      .filter(isFamily)
      .map((name) => ({
        path: ['vocabulary', table, name],
        message: 'is the name of a family of groups, which is of no thing and no scope',
      })),
  )
}

function roleProblems(thing: Thing, path: Path, written: unknown): Problem[] {
  return Object.entries(thing.roles).flatMap(([name, role]) => {
    const row = field(written, name)
    const implies = Array.isArray(row) ? [...path, name] : [...path, name, 'implies']
    const roles = Object.keys(thing.roles)
    return [
      ...(role.scopes === undefined ? [] : namesProblems(role.scopes, [...path, name, 'scopes'], thing.scopes, 'scope of its thing')),
      ...(role.implies.length === 0 ? [] : namesProblems(role.implies, implies, roles, 'role of its thing')),
      ...role.implies.flatMap((other, at) => {
        const implied = Object.hasOwn(thing.roles, other) ? thing.roles[other] : undefined
        const lost = implied && scopesOf(thing, role).find((scope) => !scopesOf(thing, implied).includes(scope))
        if (lost === undefined) return []
        return [{ path: [...implies, at], message: `is not in the scope ${lost}, which ${name} is in: it would imply nothing there` }]
      }),
    ]
  })
}

function namesProblems(names: readonly string[], path: Path, known: readonly string[], words: string): Problem[] {
  if (names.length === 0) return [{ path, message: `names no ${words}` }]
  return names.flatMap((name, at) => {
    if (!known.includes(name)) return [{ path: [...path, at], message: `${JSON.stringify(name)} is no ${words}` }]
    return names.indexOf(name) < at ? [{ path: [...path, at], message: `${JSON.stringify(name)} is named twice` }] : []
  })
}

/** Each circle of roles once, from the role of it that stands first, and back to that. */
function circles({ roles }: Thing): string[][] {
  const found: string[][] = []
  const seen = new Set<string>()
  for (const name of Object.keys(roles)) {
    const circle = seen.has(name) ? null : wayBack(name, roles)
    if (circle === null) continue
    for (const role of circle) seen.add(role)
    found.push(circle)
  }
  return found
}

/** A shortest way from a role to itself. */
function wayBack(start: string, roles: Thing['roles']): string[] | null {
  const from = new Map<string, string[]>([[start, [start]]])
  for (const [role, way] of from) {
    for (const next of Object.hasOwn(roles, role) ? (roles[role]?.implies ?? []) : []) {
      if (next === start) return [...way, start]
      if (!from.has(next)) from.set(next, [...way, next])
    }
  }
  return null
}
