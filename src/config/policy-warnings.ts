import { familyOf, pairOf, thingOf } from './group-names.ts'
import type { Client, Resource, WrittenPolicy } from './policy.ts'
import { resolveGroups } from './policy-resolved.ts'
import { implied, reach } from './policy-vocabulary.ts'
import type { Path, Problem } from './problems.ts'
import type { Service } from './service.ts'

/** What is odd about a policy without being wrong. @param service what it stands beside */
export function policyWarnings(policy: WrittenPolicy, service: Pick<Service, 'recovery' | 'signin'>): Problem[] {
  return [
    ...unconsumed(policy),
    ...heldByNobody(policy),
    ...listsNobodyReads(policy),
    ...capsThatDoNothing(policy),
    ...strangers(policy, service),
  ]
}

/**
 * Groups that let nobody in anywhere and stand in no token. A token for an audience names what it lists, all, or what shares a
 * `<scope>:<thing>` with what it requires.
 */
function unconsumed(policy: WrittenPolicy): Problem[] {
  const { vocabulary } = policy
  const audiences = audiencesOf(policy).map(({ row }) => row)
  if (policy.groups_scoping === 'off' || audiences.some(({ groups }) => groups === 'all')) return []
  const named = new Set(policy.console?.operators)
  const pairs = new Set<string | null>()
  const sorts = new Set<string>()
  for (const { requires, groups } of audiences) {
    for (const name of [...requires, ...(groups ?? [])]) named.add(name)
    if (groups === undefined) for (const name of requires) pairs.add(pairOf(name))
    for (const name of groups ?? []) if (!Object.hasOwn(policy.groups, name)) sorts.add(name)
  }
  const isAskedFor = (name: string) => {
    const pair = pairOf(name)
    return named.has(name) || (pair !== null && pairs.has(pair)) || sorts.has(familyOf(name) ?? thingOf(name) ?? '')
  }
  const isConsumed = (name: string) => [name, ...implied(name, vocabulary)].some(isAskedFor)
  return Object.keys(policy.groups).flatMap((name) =>
    reach(name, vocabulary).some(isConsumed)
      ? []
      : [{ path: ['groups', name], message: 'is declared, and no client, resource or console asks for it' }],
  )
}

/** What is required and has neither members nor matchers, and follows from nothing that has. */
function heldByNobody(policy: WrittenPolicy): Problem[] {
  const groups = resolveGroups(policy.groups, policy.vocabulary)
  const held = new Set<string>()
  for (const [name, { members, matchers, implies = [] }] of Object.entries(groups)) {
    if (members.length + matchers.length > 0) for (const one of [name, ...implies]) held.add(one)
  }
  return audiencesOf(policy).flatMap(({ path, row }) =>
    row.requires.some((name) => held.has(name))
      ? []
      : [{ path: [...path, 'requires'], message: 'lets nobody in: no group of it has members or matchers' }],
  )
}

function listsNobodyReads(policy: WrittenPolicy): Problem[] {
  if (policy.groups_scoping !== 'off') return []
  return audiencesOf(policy).flatMap(({ path, row }) =>
    Array.isArray(row.groups) ? [{ path: [...path, 'groups'], message: 'is read by nobody: groups_scoping is off' }] : [],
  )
}

function capsThatDoNothing({ resources, lifetimes }: WrittenPolicy): Problem[] {
  return Object.entries(resources).flatMap(([uri, { read_only = false, absolute_cap }]) => {
    const path = ['resources', uri]
    if (read_only && absolute_cap === undefined) return [{ path: [...path, 'read_only'], message: 'does nothing without an absolute_cap' }]
    if (read_only || (absolute_cap ?? 0) <= lifetimes.absolute) return []
    return [{ path: [...path, 'absolute_cap'], message: 'is longer than lifetimes.absolute, and does nothing without read_only: true' }]
  })
}

/** Accounts the service document does not have. */
function strangers({ groups }: WrittenPolicy, { recovery, signin }: Pick<Service, 'recovery' | 'signin'>): Problem[] {
  const there = { recovery: recovery !== undefined, conformance: signin.conformance }
  return Object.entries(groups).flatMap(([name, { matchers }]) =>
    matchers.flatMap((matcher, at) => {
      if (!('account' in matcher) || there[matcher.account]) return []
      const { account } = matcher
      return [{ path: ['groups', name, 'matchers', at], message: `matches nobody: the service document has no account ${account}` }]
    }),
  )
}

function audiencesOf({ clients, resources }: WrittenPolicy): { path: Path; row: Client | Resource }[] {
  return [
    ...Object.entries(clients).map(([id, row]) => ({ path: ['clients', id], row })),
    ...Object.entries(resources).map(([uri, row]) => ({ path: ['resources', uri], row })),
  ]
}
