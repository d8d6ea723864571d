import { findWorkspace, type Workspace } from '../../records/workspace.ts'
import type { GoogleClient } from './client.ts'
import { ofSlice } from './clients.ts'
import { PATIENT } from './exchange.ts'
import { dropReading, keepDomains, noteFailure, publish, tidy } from './finish.ts'
import { GoogleError, OutOfCalls } from './google-error.ts'
import { type Job, jobOf, RESERVE, type RefreshParts } from './job.ts'
import { leftovers, removeAll } from './leftovers.ts'
import { removeLetGo, tooFewCalls, wasLetGo } from './let-go.ts'
import { cacheOf, firstManifest, type Manifest, readManifest, writeManifest } from './manifest.ts'
import { readPages } from './pages.ts'
import {
  beginReading,
  isOvertaken,
  markOf,
  progressName,
  type Reading,
  resumeReading,
  saveReading,
  startedAtOf,
  versionOf,
} from './reading.ts'
import { reportOf, underWayReport } from './refresh-report.ts'
import type { RefreshSlice } from './refresh-slice.ts'
import { sameTenant } from './tenant.ts'
import { writeBuckets } from './write-buckets.ts'

export type { RefreshParts } from './job.ts'
export type { RefreshSlice } from './refresh-slice.ts'

/** ms: a reading that takes longer is begun anew, for a snapshot of it would be too old to be trusted (`WINDOW`, 30 min) */
export const LONGEST_READING = 1_500_000

/**
 * The tick `refresh` of one Workspace: reads its directory whole and puts it in the place of the snapshot before. In slices: what one has read
 * stands in objects, and the next goes on there. The manifest is swapped last, so that readers see the old snapshot or the new one.
 *
 * A page that fails in the end fails the reading, and nothing is served of it. Of a Workspace that was let go meanwhile nothing stays.
 *
 * @throws GoogleError: Google refuses, is away, or answers garbage. PortError Unavailable
 */
export async function refreshWorkspace(workspace: string, slice: RefreshSlice, parts: RefreshParts): Promise<'ran' | 'more' | 'skipped'> {
  slice.budget.spend(1)
  const found = await findWorkspace(parts.state, workspace, parts.log)
  const isLetGo = () => wasLetGo(workspace, slice, parts)
  if (found === null) return (await isLetGo()) ? removeLetGo(workspace, slice, parts) : 'skipped'
  const ended = await attempt(jobOf(found.value, slice, parts)).then(
    (outcome) => ({ outcome }),
    (error: unknown) => ({ error }),
  )
  if ('outcome' in ended && ended.outcome === 'more') return 'more'
  if (await isLetGo()) return removeLetGo(workspace, slice, parts)
  if ('error' in ended) throw ended.error
  return ended.outcome
}

async function attempt(job: Job): Promise<'ran' | 'more' | 'skipped'> {
  try {
    return await refresh(job)
  } catch (error) {
    if (error instanceof OutOfCalls && job.advanced) return 'more'
    if (error instanceof OutOfCalls) throw tooFewCalls()
    if (isOvertaken(error)) return 'skipped' // by another slice of the same reading, or the Workspace is being disconnected
    if (error instanceof GoogleError) await noteFailure(error, job)
    throw error
  }
}

async function refresh(job: Job): Promise<'ran' | 'more' | 'skipped'> {
  const { workspace, slice, blob, clock, clients, random } = job
  const manifest = await standingManifest(job)
  const names = await blob.list(cacheOf(workspace.id))
  const client = await clients(workspace, { ...ofSlice(slice, clock, RESERVE), patience: PATIENT })
  const reading = (await underWay(names, manifest, job)) ?? (await begin(names, manifest, client, job))
  const { progress } = reading
  const before = { left: slice.budget.left(), calls: progress.calls }
  let mark = markOf(reading)
  progress.slices += 1

  async function save(): Promise<void> {
    progress.calls = before.calls + before.left - slice.budget.left()
    await saveReading(reading, { blob, workspace: workspace.id, random, check: () => slice.check() })
    job.advanced ||= markOf(reading) !== mark
    mark = markOf(reading)
    slice.report(underWayReport(reading))
  }

  try {
    await readPages(reading, client, save)
  } catch (error) {
    if (error instanceof GoogleError) await dropReading(reading, job)
    throw error
  }
  const written = await writeBuckets(reading, { blob, workspace: workspace.id, save, check: job.checkRoom })
  slice.check()
  if (!(await publish(reading, written, job))) return 'skipped'
  progress.calls = before.calls + before.left - slice.budget.left()
  slice.report({ ...reportOf(reading, written), took_ms: clock.now() - progress.started_at })
  await keepDomains(progress.domains, job)
  await tidy(reading.version, job)
  return 'ran'
}

/** A Workspace that was never read gets a manifest that says so, for the swap to be one over a version read. */
async function standingManifest({ workspace, slice, blob, clock }: Job): Promise<Manifest> {
  const standing = await readManifest(blob, workspace.id)
  if (standing !== null) return standing.manifest
  const first = firstManifest(clock.now())
  slice.check()
  await writeManifest(blob, workspace.id, first)
  return first
}

/** The newest reading that was begun, is newer than the snapshot and not too old to become one. */
async function underWay(names: readonly string[], manifest: Manifest, { workspace, blob, clock }: Job): Promise<Reading | null> {
  const { id } = workspace
  const [newest] = [...new Set(names.map((name) => versionOf(id, name)))]
    .filter((version) => version !== null)
    .filter((version) => names.includes(progressName(id, version)))
    .filter((version) => startedAtOf(version) > (manifest.snapshot?.taken_at ?? 0))
    .filter((version) => Math.abs(clock.now() - startedAtOf(version)) < LONGEST_READING)
    .sort((a, b) => startedAtOf(b) - startedAtOf(a))
  const reading = newest === undefined ? null : await resumeReading(blob, id, newest)
  return reading !== null && isFor(workspace, reading) ? reading : null
}

/** Whether it is read for what is wanted of the Workspace now: who connects it anew, for more groups, doesn't wait for a reading without them. */
function isFor({ serve, sync_groups }: Workspace, { progress }: Reading): boolean {
  return JSON.stringify([progress.serve, progress.sync_groups]) === JSON.stringify([serve, sync_groups])
}

/** A new reading: what others left is removed first, and whose directory it is asked. */
async function begin(names: readonly string[], { snapshot }: Manifest, client: GoogleClient, job: Job): Promise<Reading> {
  const { workspace, blob, clock, random } = job
  const { id, serve, sync_groups } = workspace
  await removeAll(leftovers(id, names, { current: snapshot?.version ?? null, now: clock.now() }), blob, job.checkRoom)
  const now = Math.max(clock.now(), (snapshot?.taken_at ?? 0) + 1) // before anything is asked: nothing in it is older
  const { domains } = await sameTenant(id, client)
  return beginReading(id, { domains, serve, sync_groups }, { now, random })
}
