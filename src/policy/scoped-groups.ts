import type { Client, Resource } from '../config/policy.ts'

/**
 * Which of the groups held a token for this client or resource names, so that no audience learns more about a person than it decides on.
 * `groups: all` names every one, a list names those on it; without it, those that share their first two segments (`<scope>:<thing>`)
 * with a group the audience requires. The delimiter, where the audience has one, replaces every `:`.
 */
export function scopedGroups(row: Client | Resource, held: readonly string[]): string[] {
  const named = held.filter((name) => isNamed(row, name))
  const { groups_delimiter: delimiter } = row
  return delimiter === undefined ? named : named.map((name) => name.split(':').join(delimiter))
}

function isNamed(row: Client | Resource, name: string): boolean {
  if (row.groups === 'all') return true
  if (row.groups !== undefined) return row.groups.includes(name)
  return row.requires.some((required) => pair(required) === pair(name))
}

function pair(name: string): string {
  return name.split(':').slice(0, 2).join(':')
}
