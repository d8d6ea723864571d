import type { Blob } from '../../ports/blob.ts'
import { isPortError, PortError } from '../../ports/error.ts'
import type { PersonId } from '../../ports/keys.ts'
import type { Clock } from '../../ports/platform.ts'
import { bucketOf, LARGEST_UNPACKED, linesOf, type PersonEntry, parseLine } from './bucket.ts'
import { bucketName, type Manifest, nestingName, readManifest, type Snapshot } from './manifest.ts'
import { LARGEST_NESTING, parseNesting } from './nesting.ts'
import { unpack } from './packed.ts'

/** What is read of snapshots, for one isolate. */
export interface Snapshots {
  /** null: the Workspace has no manifest. @throws PortError Unavailable */
  manifest(workspace: string): Promise<Manifest | null>
  /**
   * What the snapshot that counts says of somebody; null when it says nothing of them.
   *
   * @throws PortError Unavailable: a bucket can't be read, or is none
   */
  person(workspace: string, person: PersonId): Promise<PersonEntry | null>
  /** The groups a group is in, by its address. @throws PortError Unavailable */
  parents(workspace: string): Promise<(group: string) => readonly string[]>
}

/** ms: how long an isolate goes by a manifest; so much later than the swap the last of them learn of a new snapshot */
const FRESH = 30_000
/** ms: while the store is down the last manifest stands this long; its snapshot's age is judged by its own time */
const STANDS = 300_000
/** ms: so long after a failure the store is not asked again, lest every request wait for it */
const RETRY = 5_000
/** characters: 8 MiB or so of an isolate's 128, the buckets read longest ago go first */
const MOST_KEPT = 8_388_608

interface KeptManifest {
  value: Manifest | null
  readAt: number
  retryAt: number
}

interface KeptBucket {
  lines: Map<PersonId, string>
  size: number
}

/**
 * Reads snapshots: for one person the manifest and one bucket, each kept. A bucket is kept by its version, so it never turns old; one that
 * went with its version has the manifest read again.
 */
export function snapshotReader({ blob, clock }: { blob: Pick<Blob, 'read'>; clock: Clock }): Snapshots {
  const manifests = new Map<string, KeptManifest>()
  const buckets = new Map<string, KeptBucket>()
  const nestings = new Map<string, { version: string; parents: Map<string, readonly string[]> }>()
  let size = 0

  const age = (at: number) => Math.abs(clock.now() - at) // a clock set back makes what is kept old, not new

  async function manifest(workspace: string, freshness = FRESH): Promise<Manifest | null> {
    const kept = manifests.get(workspace)
    const now = clock.now()
    if (kept !== undefined && (age(kept.readAt) < freshness || (now < kept.retryAt && age(kept.readAt) < STANDS))) return kept.value
    try {
      const value = (await readManifest(blob, workspace))?.manifest ?? null
      if ((manifests.get(workspace)?.readAt ?? 0) <= now) manifests.set(workspace, { value, readAt: now, retryAt: 0 })
      return value
    } catch (error) {
      if (kept === undefined || age(kept.readAt) >= STANDS || freshness === 0) throw error
      kept.retryAt = now + RETRY
      return kept.value
    }
  }

  /** What the work needs of a snapshot: of the one that is known, or where that has gone meanwhile, of the one that stands now. */
  async function ofCurrent<T>(workspace: string, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const known = current(await manifest(workspace))
    try {
      return await work(known)
    } catch (error) {
      if (!isPortError(error, 'NotFound')) throw error
      const now = current(await manifest(workspace, 0))
      try {
        return await work(now)
      } catch (again) {
        throw isPortError(again, 'NotFound')
          ? new PortError('Unavailable', 'an object of the directory is not there', { cause: again })
          : again
      }
    }
  }

  async function bucket(workspace: string, version: string, number: number): Promise<Map<PersonId, string>> {
    const name = bucketName(workspace, version, number)
    const kept = buckets.get(name)
    if (kept !== undefined) {
      buckets.delete(name) // to the end, as the one read last
      buckets.set(name, kept)
      return kept.lines
    }
    const text = await unpack((await blob.read(name)).body, LARGEST_UNPACKED)
    const lines = text === null ? null : linesOf(text, version, number)
    if (text === null || lines === null) throw new PortError('Unavailable', 'an object of the directory is not what was written')
    keep(name, { lines, size: text.length })
    return lines
  }

  async function nesting(workspace: string, version: string): Promise<Map<string, readonly string[]>> {
    const text = await unpack((await blob.read(nestingName(workspace, version))).body, LARGEST_NESTING)
    const parents = text === null ? null : parseNesting(text, version)
    if (parents === null) throw new PortError('Unavailable', 'an object of the directory is not what was written')
    return parents
  }

  function keep(name: string, kept: KeptBucket): void {
    size += kept.size - (buckets.get(name)?.size ?? 0)
    buckets.set(name, kept)
    for (const [oldest, { size: its }] of buckets) {
      if (size <= MOST_KEPT || oldest === name) break
      buckets.delete(oldest)
      size -= its
    }
  }

  return {
    manifest: (workspace) => manifest(workspace),

    person: (workspace, person) =>
      ofCurrent(workspace, async ({ version, buckets: count }) => {
        const line = (await bucket(workspace, version, bucketOf(person, count))).get(person)
        if (line === undefined) return null
        const entry = parseLine(line)
        if (entry === null) throw new PortError('Unavailable', 'an entry of the directory is not what was written')
        return entry
      }),

    parents: (workspace) =>
      ofCurrent(workspace, async ({ version }) => {
        const kept = nestings.get(workspace)
        const { parents } = kept?.version === version ? kept : { parents: await nesting(workspace, version) }
        nestings.set(workspace, { version, parents })
        return (group) => parents.get(group) ?? []
      }),
  }
}

function current(manifest: Manifest | null): Snapshot {
  if (manifest?.snapshot) return manifest.snapshot
  throw new PortError('Unavailable', 'the directory was not read yet')
}
