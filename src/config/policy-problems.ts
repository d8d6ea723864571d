import { lifetimesSchema, writtenPolicySchema } from './policy.ts'
import { audienceProblems, type ServiceFacts } from './policy-audience-problems.ts'
import { clientProblems } from './policy-client-problems.ts'
import { groupProblems } from './policy-group-problems.ts'
import { groupNamesProblems, type Names, namesOf } from './policy-names.ts'
import { vocabularyProblems } from './policy-vocabulary-problems.ts'
import { entries, field, type Path, type Problem, part, shapeProblems } from './problems.ts'
import { duration } from './values.ts'

/**
 * Everything wrong with a policy document as it was written; empty when `policySchema` takes it and its parts agree with each other.
 * A field whose shape is wrong is reported for that and judged no further; all others still are, so that one run shows everything.
 *
 * @param service what of the service document it is held to: the algorithms that one has keys for, and the issuer; undefined when that
 * can't be told
 */
export function policyProblems(document: unknown, service: ServiceFacts): Problem[] {
  const names = namesOf(document)
  const clients = entries(field(document, 'clients'))
  const ids = clients.map(([id]) => id)
  const resources = entries(field(document, 'resources'))
  const uris = resources.map(([uri]) => uri)
  return [
    ...shapeProblems(writtenPolicySchema, document),
    ...unmappableNames(document),
    ...vocabularyProblems(field(document, 'vocabulary')),
    ...groupProblems(document),
    ...clients.flatMap(([id, client]) => [
      ...audienceProblems(client, ['clients', id], names, service.rings),
      ...clientProblems(client, id, uris, service.issuer),
    ]),
    ...resources.flatMap(([uri, resource]) => [
      ...audienceProblems(resource, ['resources', uri], names, service.rings),
      ...resourceProblems(resource, uri, ids),
    ]),
    ...lifetimeProblems(field(document, 'lifetimes')),
    ...operatorProblems(document, names),
  ]
}

// zod leaves this key out of a record without a word, so it would be a client that isn't there, or a claim that a matcher does not hold to.
function unmappableNames(document: unknown): Problem[] {
  const below = (path: Path): unknown => path.reduce((value: unknown, step) => field(value, String(step)), document)
  const things: Path = ['vocabulary', 'things']
  const tables: { path: Path; table: unknown }[] = [
    ...[['groups'], ['clients'], ['resources'], ['vocabulary', 'scopes'], things].map((path) => ({ path, table: below(path) })),
    ...entries(below(things)).map(([name, thing]) => ({ path: [...things, name, 'roles'], table: field(thing, 'roles') })),
    ...entries(below(['groups'])).flatMap(([name, row]) => {
      const matchers = field(row, 'matchers')
      return (Array.isArray(matchers) ? matchers : []).map((matcher: unknown, at) => ({
        path: ['groups', name, 'matchers', at, 'github'],
        table: field(matcher, 'github'),
      }))
    }),
  ]
  return tables
    .filter(({ table }) => entries(table).some(([name]) => name === '__proto__'))
    .map(({ path }) => ({ path: [...path, '__proto__'], message: 'is a name JavaScript keeps for itself' }))
}

const WEEK = 604_800 // s: the longest a resource may stretch a sign-in

function resourceProblems(resource: unknown, uri: string, clients: readonly string[]): Problem[] {
  const path: Path = ['resources', uri]
  const cap = part(duration, field(resource, 'absolute_cap'))
  return [
    ...(clients.includes(uri) ? [{ path, message: 'is the id of a client too: a token for the one would do for the other' }] : []),
    ...(cap !== undefined && cap > WEEK ? [{ path: [...path, 'absolute_cap'], message: 'is over 168h' }] : []),
  ]
}

function lifetimeProblems(document: unknown): Problem[] {
  const lifetimes = part(lifetimesSchema.strip(), document ?? {})
  if (lifetimes === undefined) return []
  return (['token', 'refresh'] as const).flatMap((key) => {
    if (lifetimes[key] <= lifetimes.absolute) return []
    const path = field(document, key) === undefined ? ['lifetimes'] : ['lifetimes', key]
    return [{ path, message: `${path.length === 1 ? `${key} ` : ''}is longer than absolute: it would outlive its sign-in` }]
  })
}

function operatorProblems(document: unknown, names: Names): Problem[] {
  return groupNamesProblems(field(field(document, 'console'), 'operators'), ['console', 'operators'], names)
}
