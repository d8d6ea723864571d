import { matchesAnything } from './glob.ts'
import { covers, familyOf, type Grant, grantOf, isWildcard } from './group-names.ts'
import { matcherSchemas } from './policy-groups.ts'
import { grants, reach, scopesOf, type Vocabulary, vocabularySchema } from './policy-vocabulary.ts'
import { entries, field, type Problem, part, parts } from './problems.ts'

/** What is wrong with the rows of `groups`: names that the vocabulary does not have, wildcards that stand for nothing, matchers for everybody. */
export function groupProblems(document: unknown): Problem[] {
  const written = field(document, 'vocabulary')
  const vocabulary = part(vocabularySchema, written)
  const isUnreadable = written !== undefined && vocabulary === undefined
  return entries(field(document, 'groups')).flatMap(([name, row]) => {
    const message = isUnreadable ? null : nameProblem(name, vocabulary)
    return [...(message === null ? [] : [{ path: ['groups', name], message }]), ...matchersForEverybody(name, row)]
  })
}

function nameProblem(name: string, vocabulary: Vocabulary | undefined): string | null {
  if (isWildcard(name)) return wildcardProblem(name, vocabulary)
  if (vocabulary === undefined || familyOf(name) !== null) return null
  const grant = grantOf(name)
  if (grant === null) return 'is neither <scope>:<thing>:<role> nor of a family (emp:, rung:): a vocabulary has no other groups'
  return grantProblem(grant, vocabulary)
}

function wildcardProblem(name: string, vocabulary: Vocabulary | undefined): string | null {
  const grant = grantOf(name)
  if (grant === null) return 'has a * and is not <scope>:<thing>:<role>'
  if (grant.role === '*') return 'has a * for its role, which is always named'
  if (vocabulary === undefined) return 'has a *, which only a document with a vocabulary can have'
  const { scope, thing } = grant
  if (scope !== '*' && !Object.hasOwn(vocabulary.scopes, scope)) return noScope(scope)
  if (thing !== '*' && !Object.hasOwn(vocabulary.things, thing)) return noThing(thing)
  if (reach(name, vocabulary).length > 0) return null
  const isSensitive = grants(vocabulary).some((one) => covers(name, `${one.scope}:${one.thing}:${one.role}`))
  return isSensitive
    ? 'stands for nothing: all it could be is in sensitive scopes, which no wildcard reaches'
    : `stands for nothing: there is no role ${grant.role}`
}

function grantProblem({ scope, thing, role }: Grant, vocabulary: Vocabulary): string | null {
  const row = Object.hasOwn(vocabulary.things, thing) ? vocabulary.things[thing] : undefined
  if (!Object.hasOwn(vocabulary.scopes, scope)) return noScope(scope)
  if (row === undefined) return noThing(thing)
  if (!row.scopes.includes(scope)) return `is in the scope ${scope}, and ${thing} is in ${row.scopes.join(', ')}`
  const said = Object.hasOwn(row.roles, role) ? row.roles[role] : undefined
  if (said === undefined) return `has the role ${role}, and the roles of ${thing} are ${Object.keys(row.roles).join(', ')}`
  const scopes = scopesOf(row, said)
  return scopes.includes(scope) ? null : `is in the scope ${scope}, and the role ${role} of ${thing} is in ${scopes.join(', ')}`
}

function noScope(scope: string): string {
  return `has the scope ${scope}, which the vocabulary does not`
}

function noThing(thing: string): string {
  return `has the thing ${thing}, which the vocabulary does not`
}

/** The other kinds name somebody, a domain or a workload each. Whose workflows may come at all is not for a matcher to say. */
function matchersForEverybody(name: string, row: unknown): Problem[] {
  return parts(matcherSchemas.github, field(row, 'matchers')).flatMap(([at, { github }]) => {
    if (!Object.values(github).every(matchesAnything)) return []
    return [{ path: ['groups', name, 'matchers', at, 'github'], message: 'matches everybody: it holds no claim to anything' }]
  })
}
