import type { Reading } from './reading.ts'
import type { Written } from './write-buckets.ts'

/** What a refresh says of itself while it goes on: numbers, and nobody's name. */
export function underWayReport({ progress, roster, version }: Reading): Record<string, unknown> {
  const { phase, slices, calls, begun } = progress
  return {
    state: 'under way',
    version,
    phase,
    slices,
    calls,
    people: roster.accounts.length,
    groups: roster.groups.length,
    groups_begun: begun,
  }
}

/** What it came to. */
export function reportOf(
  { progress, version, roster }: Reading,
  { people, suspended, groups, buckets, cut }: Written,
): Record<string, unknown> {
  const problems: string[] = []
  if (cut > 0) problems.push(`${cut} people are in more than 500 groups: those farthest away are left out`)
  const missing = progress.sync_groups.filter((address) => !roster.groups.some(([, known]) => known === address)).length
  if (missing > 0) problems.push(`${missing} of the groups to be synced are not there`)
  const unverified = progress.serve.filter((domain) => !progress.domains.includes(domain)).length
  if (unverified > 0) problems.push(`${unverified} of the domains to be served are not verified`)
  return { state: 'read', version, people, suspended, groups, buckets, slices: progress.slices, calls: progress.calls, problems }
}
