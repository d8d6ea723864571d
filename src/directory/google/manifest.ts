import * as z from 'zod'
import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import type { Blob } from '../../ports/blob.ts'
import { isPortError, PortError } from '../../ports/error.ts'
import { escapePathSegment } from '../../ports/keys.ts'

const count = z.int().min(0)

const snapshot = z.object({
  /** Names its folder. */
  version: z.string(),
  /** unix ms: when its reading began, so that nothing in it is older */
  taken_at: z.int(),
  buckets: z.int().min(1),
  people: count,
  groups: count,
})

const manifest = z.object({
  v: z.literal(1),
  /** null until a first reading has ended. */
  snapshot: snapshot.nullable(),
  /** Whether Google could be asked when it was last tried: unix ms, and why not. */
  probe: z.object({ ok: z.boolean(), at: z.int(), reason: z.string().nullable() }),
})

/** What a Workspace's people are read by: the snapshot that counts, and whether Google answers. */
export type Manifest = z.output<typeof manifest>
export type Snapshot = z.output<typeof snapshot>

/** Where everything of a Workspace's directory is: `google/cache/<workspace>/`. */
export function cacheOf(workspace: string): string {
  return `google/cache/${escapePathSegment(workspace)}/`
}

export function manifestName(workspace: string): string {
  return `${cacheOf(workspace)}manifest`
}

/** The objects of one version: its buckets, how its groups are nested, and below `work/` what it is made of while it is read. */
export function bucketName(workspace: string, version: string, bucket: number): string {
  return `${cacheOf(workspace)}${version}/${bucket}`
}

export function nestingName(workspace: string, version: string): string {
  return `${cacheOf(workspace)}${version}/nesting`
}

/** null: there is none, or what is there is none. @throws PortError Unavailable */
export async function readManifest(blob: Pick<Blob, 'read'>, workspace: string): Promise<{ manifest: Manifest; version: string } | null> {
  try {
    const { body, version } = await blob.read(manifestName(workspace))
    const read = manifest.safeParse(JSON.parse(fromUtf8(body) ?? ''))
    return read.success ? { manifest: read.data, version } : null
  } catch (error) {
    if (isPortError(error, 'NotFound') || error instanceof SyntaxError) return null
    throw error
  }
}

/** The manifest of a Workspace that was not read yet. */
export function firstManifest(now: number): Manifest {
  return { v: 1, snapshot: null, probe: { ok: true, at: now, reason: null } }
}

export async function writeManifest(blob: Pick<Blob, 'write'>, workspace: string, value: Manifest): Promise<void> {
  await blob.write(manifestName(workspace), utf8(JSON.stringify(value)))
}

const TRIES = 5 // a manifest moves when a probe's outcome does, or a snapshot comes

/**
 * Changes the manifest over the version read. `change` answers null where nothing is to change.
 *
 * @returns what stands now; null when there is no manifest, for the Workspace was disconnected
 * @throws PortError Unavailable
 */
export async function updateManifest(
  blob: Pick<Blob, 'read' | 'writeIfVersion'>,
  workspace: string,
  change: (manifest: Manifest) => Manifest | null,
): Promise<Manifest | null> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const standing = await readManifest(blob, workspace)
    if (standing === null) return null
    const changed = change(standing.manifest)
    if (changed === null) return standing.manifest
    try {
      await blob.writeIfVersion(manifestName(workspace), utf8(JSON.stringify(changed)), standing.version)
      return changed
    } catch (error) {
      if (!isPortError(error, 'Conflict', 'NotFound')) throw error
    }
  }
  throw new PortError('Unavailable', 'the manifest moved each time it was to be changed')
}
