import { familyOf, pairOf, thingOf } from '../config/group-names.ts'
import { type Client, declared, type Policy, type Resource } from '../config/policy.ts'

export interface ScopedGroups {
  /** As the token has them: the delimiter, where its audience has one, in place of every `:`. */
  groups: string[]
  /** How many of the groups held `groups_scoping: enforce` would leave out, where it is `report`. Else 0. */
  unscoped: number
}

/**
 * Which of the groups held a token for this client or resource names, so that no audience learns more about a person than it decides on.
 * `groups: all` names every one, a list those it names, by themselves or as a thing or a family; without it, those that are required, or
 * share their first two segments (`<scope>:<thing>`) with one that is.
 */
export function scopedGroups(policy: Policy, row: Client | Resource, held: readonly string[]): ScopedGroups {
  const scoped = policy.groups_scoping === 'off' ? held : held.filter((name) => isNamed(policy, row, name))
  const named = policy.groups_scoping === 'enforce' ? scoped : held
  const { groups_delimiter: delimiter } = row
  return {
    groups: delimiter === undefined ? [...named] : named.map((name) => name.split(':').join(delimiter)),
    unscoped: named.length - scoped.length,
  }
}

function isNamed(policy: Policy, { groups, requires }: Client | Resource, name: string): boolean {
  if (groups === 'all') return true
  if (groups === undefined) {
    const pair = pairOf(name)
    return requires.includes(name) || (pair !== null && requires.some((required) => pairOf(required) === pair))
  }
  if (groups.includes(name)) return true
  // A word that is a group is that group, and no thing or family of the same name.
  const sort = familyOf(name) ?? thingOf(name)
  return sort !== null && groups.includes(sort) && declared(policy.groups, sort) === undefined
}
