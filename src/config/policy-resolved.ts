import type { Row } from './policy-groups.ts'
import { implied, reach, type Vocabulary } from './policy-vocabulary.ts'

/** A group there is: what every row that reaches it says, and what is held along with it. */
export interface ResolvedGroup extends Row {
  /** Also what those imply; absent when nothing is. */
  implies?: string[]
}

/**
 * The groups that a document's rows come to: those they name, those their wildcards stand for, and those that any of these implies. Of the
 * lifetimes of several rows the shortest counts.
 */
export function resolveGroups(rows: Readonly<Record<string, Row>>, vocabulary: Vocabulary | undefined): Record<string, ResolvedGroup> {
  const groups = new Map<string, ResolvedGroup>()
  for (const [name, row] of Object.entries(rows)) {
    for (const group of reach(name, vocabulary)) groups.set(group, joined(groups.get(group), row))
  }
  for (const [name, group] of [...groups]) {
    const implies = implied(name, vocabulary)
    if (implies.length > 0) groups.set(name, { ...group, implies })
    for (const other of implies) if (!groups.has(other)) groups.set(other, { members: [], matchers: [] })
  }
  return Object.fromEntries(groups)
}

function joined(group: ResolvedGroup | undefined, row: Row): ResolvedGroup {
  if (group === undefined) return row
  const lifetimes = [group.lifetime, row.lifetime].filter((lifetime) => lifetime !== undefined)
  return {
    ...row,
    ...group,
    members: [...new Set([...group.members, ...row.members])],
    matchers: [...group.matchers, ...row.matchers],
    ...(lifetimes.length === 0 ? {} : { lifetime: Math.min(...lifetimes) }),
  }
}
