import { utf8 } from '../../crypto/bytes.ts'
import type { PersonId } from '../../ports/keys.ts'

/** What a snapshot says of one person. */
export interface PersonEntry {
  state: 'live' | 'suspended'
  /** Addresses in lower case, sorted; none of a person who is suspended. */
  groups: string[]
  given_name?: string
  family_name?: string
}

/** bytes: under it one object is read for one person, as small as a record is (docs/design.md, "The directory") */
export const LARGEST_BUCKET = 60_000
/** bytes: a bucket before it is packed; a larger one is not what we wrote */
export const LARGEST_UNPACKED = 4_194_304

/** 0 to count - 1: FNV-1a (32 bits) over the address, mixed once more so that its low bits depend on all of it. */
export function bucketOf(person: string, count: number): number {
  let hash = 0x811c9dc5
  for (const byte of utf8(person)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  return (hash >>> 0) % count
}

/** The first line of a bucket says what it is, so that no other passes for it. */
export function bucketHeader(version: string, bucket: number): string {
  return JSON.stringify({ v: 1, version, bucket })
}

/** One line of a bucket. The address stands first, so that a reader finds its line and parses no other. */
export function entryLine(person: string, { state, groups, given_name, family_name }: PersonEntry): string {
  return `${person} ${JSON.stringify([state, groups, given_name ?? null, family_name ?? null])}`
}

/** The lines of a bucket by person; null when the text is no bucket of this version and number. */
export function linesOf(text: string, version: string, bucket: number): Map<PersonId, string> | null {
  const [header, ...lines] = text.split('\n')
  if (header !== bucketHeader(version, bucket)) return null
  // An identity is trimmed, lower-cased and without blanks: what stands before the first one is it.
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(' ')) as PersonId, line]))
}

/** What a line says, or null for one that is none. */
export function parseLine(line: string): PersonEntry | null {
  try {
    return entryOf(JSON.parse(line.slice(line.indexOf(' ') + 1)))
  } catch {
    return null
  }
}

function entryOf(value: unknown): PersonEntry | null {
  if (!Array.isArray(value)) return null
  const [state, groups, given, family]: unknown[] = value
  if ((state !== 'live' && state !== 'suspended') || !Array.isArray(groups)) return null
  return {
    ...{ state, groups: groups.filter((group) => typeof group === 'string') },
    ...(typeof given === 'string' ? { given_name: given } : {}),
    ...(typeof family === 'string' ? { family_name: family } : {}),
  }
}
