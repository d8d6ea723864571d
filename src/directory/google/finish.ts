import { changeWorkspace } from '../../records/workspace.ts'
import { type GoogleError, OutOfCalls } from './google-error.ts'
import type { Job } from './job.ts'
import { leftovers, removeAll } from './leftovers.ts'
import { cacheOf, updateManifest } from './manifest.ts'
import { probeOutcome } from './probe.ts'
import { chunkName, progressName, type Reading } from './reading.ts'
import type { Written } from './write-buckets.ts'

/** Swaps the manifest, unless a newer snapshot is there already. */
export async function publish(
  { version, progress }: Reading,
  { people, groups, buckets }: Written,
  { workspace, blob, clock }: Job,
): Promise<boolean> {
  const snapshot = { version, taken_at: progress.started_at, buckets, people, groups }
  const probe = { ok: true, at: clock.now(), reason: null }
  const standing = await updateManifest(blob, workspace.id, (manifest) =>
    (manifest.snapshot?.taken_at ?? 0) >= snapshot.taken_at ? null : { v: 1, snapshot, probe },
  )
  return standing?.snapshot?.version === version
}

/** Domains come and go in Google; who is routed here follows. The snapshot stands whether this is written or not. */
export async function keepDomains(domains: string[], { workspace: { id, domains: known }, slice, state, log }: Job): Promise<void> {
  if (JSON.stringify(known) === JSON.stringify(domains)) return
  try {
    slice.budget.spend(2)
    slice.check()
    await changeWorkspace(state, id, (standing) => (standing === null ? null : { ...standing, domains }), log)
  } catch (error) {
    log.warn('directory.domains', { target: id, error })
  }
}

/** Removes what the new snapshot has taken the place of. What is left is removed before the next reading. */
export async function tidy(current: string, { workspace: { id }, blob, clock, checkRoom, log }: Job): Promise<void> {
  try {
    const names = await blob.list(cacheOf(id))
    await removeAll(leftovers(id, names, { current, now: clock.now() }), blob, checkRoom)
  } catch (error) {
    if (!(error instanceof OutOfCalls)) log.warn('directory.leftovers', { target: id, error })
  }
}

/** A reading of which a page failed is nothing to go on with: what it would be taken up by goes first. */
export async function dropReading({ version, progress }: Reading, { workspace: { id }, slice, blob, log }: Job): Promise<void> {
  try {
    const work = Object.values(progress.chunks).flat()
    await removeAll([progressName(id, version), ...work.map((name) => chunkName(id, version, name))], blob, () => slice.check())
  } catch (error) {
    log.warn('directory.leftovers', { target: id, error })
  }
}

/** A refusal says at once that nothing more is to be trusted; an outage, that is for the probe to say. */
export async function noteFailure(error: GoogleError, { workspace, slice, blob, clock, log }: Job): Promise<void> {
  if (error.code !== 'refused' && error.code !== 'tenant') return
  try {
    slice.check()
    await updateManifest(blob, workspace.id, (manifest) => probeOutcome(manifest, error, clock.now()))
  } catch (failure) {
    log.warn('directory.probe', { target: workspace.id, error: failure })
  }
}
