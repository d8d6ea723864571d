import * as z from 'zod'

/** levels: how far a group that is in a group that is in a group still counts */
export const DEEPEST = 8
/** groups of one person: more than anybody holds for a reason, and what keeps a tangle of nested groups from filling every token */
export const MOST_GROUPS = 500

/**
 * All groups that somebody is in: the direct ones, and those they are nested in, up to 8 levels up and 500 in all. The nearer come first,
 * and of a level the addresses in order, so that the cut is always the same one. A cycle ends where it began.
 *
 * @returns sorted; `cut` when there would have been more than 500
 */
export function everyGroup(direct: Iterable<string>, parentsOf: (group: string) => Iterable<string>): { groups: string[]; cut: boolean } {
  const found = new Set<string>()
  let level = [...new Set(direct)].sort()
  let cut = false
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth++) {
    const room = MOST_GROUPS - found.size
    cut ||= level.length > room
    const taken = level.slice(0, room)
    for (const group of taken) found.add(group)
    const above = new Set<string>()
    for (const group of taken) for (const parent of parentsOf(group)) if (!found.has(parent)) above.add(parent)
    level = [...above].sort()
  }
  return { groups: [...found].sort(), cut }
}

/** bytes: how the groups of a Workspace are nested, unpacked: 100,000 groups of which each is in three others */
export const LARGEST_NESTING = 16_777_216

/** Which groups each group is in, for the people that a snapshot does not have yet. Groups that are in none are left out. */
export function nestingText(version: string, parents: Iterable<readonly [string, readonly string[]]>): string {
  return JSON.stringify({ v: 1, version, parents: [...parents] })
}

const nesting = z.object({ v: z.literal(1), version: z.string(), parents: z.array(z.tuple([z.string(), z.array(z.string())])) })

/** null for what is no nesting of this version. */
export function parseNesting(text: string, version: string): Map<string, readonly string[]> | null {
  try {
    const read = nesting.safeParse(JSON.parse(text))
    return read.success && read.data.version === version ? new Map(read.data.parents) : null
  } catch {
    return null
  }
}
