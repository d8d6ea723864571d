import type { Blob } from '../../ports/blob.ts'
import { bucketHeader, bucketOf, entryLine, LARGEST_BUCKET, type PersonEntry } from './bucket.ts'
import { OutOfCalls } from './google-error.ts'
import { bucketName, nestingName } from './manifest.ts'
import { everyGroup, nestingText } from './nesting.ts'
import { pack } from './packed.ts'
import type { Reading } from './reading.ts'
import type { Roster } from './roster.ts'
import { domainOf } from './serving.ts'

export interface WritingParts {
  blob: Pick<Blob, 'write'>
  workspace: string
  /** Keeps how many buckets are written, for the slice that goes on. */
  save(): Promise<void>
  /** Throws OutOfCalls where no more may be begun, and what ends the slice. */
  check(): void
}

/** What a snapshot came to. */
export interface Written {
  people: number
  suspended: number
  groups: number
  buckets: number
  /** bytes of the largest bucket that this slice wrote */
  largest: number
  /** People who would be in more groups than are kept of one. */
  cut: number
}

/** bytes before they are packed: a bucket of about a third of the most it may have, whatever the addresses are like */
const UNPACKED = 98_304
const AT_ONCE = 6
const SAVED_EACH = 48 // buckets: what a stopped slice writes again

/** Writes a version's buckets and its nesting, from all that was read; on from where another slice stopped. The same reading makes the same bytes. */
export async function writeBuckets(reading: Reading, parts: WritingParts): Promise<Written> {
  const { progress, roster, version } = reading
  const { people, suspended, lineOf, cut } = peopleOf(roster, progress)
  if (progress.buckets === 0) {
    let bytes = 0
    for (const place of people) bytes += lineOf(place).length + 1
    progress.buckets = Math.max(1, 2 ** Math.ceil(Math.log2(bytes / UNPACKED)))
  }
  let largest = 0
  for (;;) {
    const inBucket = split(people, roster, progress.buckets)
    const full = await writeAll(inBucket)
    if (!full) break
    progress.buckets *= 2 // those that are written are written again: twice as many have no fewer names
    progress.written = 0
  }
  await room()
  await parts.blob.write(nestingName(parts.workspace, version), await pack(nestingText(version, nestingOf(roster))))
  return { people: people.length, suspended, groups: roster.groups.length, buckets: progress.buckets, largest, cut: cut() }

  /** What is written is kept before the slice ends. */
  async function room(): Promise<void> {
    try {
      parts.check()
    } catch (error) {
      if (error instanceof OutOfCalls) await parts.save()
      throw error
    }
  }

  /** True when one is too large. */
  async function writeAll(inBucket: readonly number[][]): Promise<boolean> {
    while (progress.written < inBucket.length) {
      const from = progress.written
      const packed: { bucket: number; body: Awaited<ReturnType<typeof pack>> }[] = []
      for (let bucket = from; bucket < Math.min(from + AT_ONCE, inBucket.length); bucket++) {
        const lines = (inBucket[bucket] ?? []).map(lineOf).sort()
        const body = await pack([bucketHeader(version, bucket), ...lines].join('\n'))
        // One person alone is as small as it gets.
        if (body.length > LARGEST_BUCKET && lines.length > 1) return true
        largest = Math.max(largest, body.length)
        packed.push({ bucket, body })
      }
      await room()
      await Promise.all(packed.map(({ bucket, body }) => parts.blob.write(bucketName(parts.workspace, version, bucket), body)))
      progress.written += packed.length
      if (progress.written % SAVED_EACH === 0) await parts.save()
    }
    return false
  }
}

/** The accounts at the domains that are served, by place, each under its address once. */
function peopleOf(roster: Roster, { serve, domains, sync_groups }: Reading['progress']) {
  const served = new Set(serve.length === 0 ? domains : serve)
  const places = new Map<string, number>()
  for (const [place, [, address]] of roster.accounts.entries()) if (served.has(domainOf(address))) places.set(address, place)
  const people = [...places.values()]
  const synced = new Set(sync_groups)
  const directOf = roster.directGroups()
  const addresses = roster.groups.map(([, address]) => address)
  const cutOf = new Set<number>()
  // Addresses and not places: everyGroup cuts by address.
  const byAddress = new Map(addresses.map((address, place) => [address, place]))
  const addressOf = (place: number) => addresses[place] ?? ''
  const parentsOf = (group: string) => roster.parentsOf(byAddress.get(group) ?? -1).map(addressOf)

  function entryOf(place: number): PersonEntry {
    const [, , live, given, family] = roster.accounts[place] ?? ['', '', 0, null, null]
    const named = { ...(given === null ? {} : { given_name: given }), ...(family === null ? {} : { family_name: family }) }
    if (live === 0) return { state: 'suspended', groups: [], ...named }
    const { groups, cut } = everyGroup([...directOf(place)].map(addressOf), parentsOf)
    if (cut) cutOf.add(place)
    return { state: 'live', groups: synced.size === 0 ? groups : groups.filter((group) => synced.has(group)), ...named }
  }

  return {
    people,
    suspended: people.filter((place) => roster.accounts[place]?.[2] === 0).length,
    lineOf: (place: number) => entryLine(roster.accounts[place]?.[1] ?? '', entryOf(place)),
    cut: () => cutOf.size,
  }
}

function split(people: readonly number[], roster: Roster, count: number): number[][] {
  const buckets: number[][] = Array.from({ length: count }, () => [])
  for (const place of people) buckets[bucketOf(roster.accounts[place]?.[1] ?? '', count)]?.push(place)
  return buckets
}

function nestingOf(roster: Roster): [string, string[]][] {
  return [...roster.groups.entries()].flatMap(([place, [, address]]): [string, string[]][] => {
    const parents = roster.parentsOf(place).map((parent) => roster.groups[parent]?.[1] ?? '')
    return parents.length === 0 ? [] : [[address, parents.sort()]]
  })
}
