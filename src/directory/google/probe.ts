import type { Blob } from '../../ports/blob.ts'
import type { Clock } from '../../ports/platform.ts'
import type { State } from '../../ports/state.ts'
import { listWorkspaces, type Workspace } from '../../records/workspace.ts'
import type { Log } from '../../telemetry/log.ts'
import { type ClientMaker, ofSlice } from './clients.ts'
import { PATIENT } from './exchange.ts'
import { GoogleError, OutOfCalls } from './google-error.ts'
import { type Manifest, updateManifest } from './manifest.ts'
import type { RefreshSlice } from './refresh-slice.ts'

/** The manifest after Google was tried; null when it says so already. */
export function probeOutcome(manifest: Manifest, failure: GoogleError | null, now: number): Manifest | null {
  const { ok, reason } = manifest.probe
  const code = failure?.code ?? null
  return ok === (failure === null) && reason === code ? null : { ...manifest, probe: { ok: failure === null, at: now, reason: code } }
}

export interface ProbeParts {
  /** Of module google. */
  state: State
  blob: Blob
  clients: ClientMaker
  clock: Clock
  log: Log
}

const RESERVE = 8 // calls: the manifest read and written, twice where it moves, and what the runner does after
/** Three tries are what a probe is given: an answer that takes longer is none. */
const PROBING = { ...PATIENT, attempts: 3 }

/**
 * The tick `refresh-probe`: whether Google still takes the key of each Workspace. A manifest is written when that has changed; one that fails
 * keeps none of the others.
 *
 * @throws PortError Unavailable
 */
export async function probeWorkspaces(slice: RefreshSlice, parts: ProbeParts): Promise<'ran'> {
  slice.budget.spend(1)
  const workspaces = await listWorkspaces(parts.state, parts.log)
  const outcomes: { workspace: string; ok: boolean; reason: string | null }[] = []
  for (const workspace of workspaces) {
    const failure = await probe(workspace, slice, parts)
    if (failure === 'not tried') break
    outcomes.push({ workspace: workspace.id, ok: failure === null, reason: failure?.code ?? null })
    slice.report({ workspaces: workspaces.length, probed: outcomes })
  }
  return 'ran'
}

async function probe(workspace: Workspace, slice: RefreshSlice, parts: ProbeParts): Promise<GoogleError | null | 'not tried'> {
  const { blob, clients, clock, log } = parts
  let failure: GoogleError | null = null
  try {
    await (await clients(workspace, { ...ofSlice(slice, clock, RESERVE), patience: PROBING })).probe()
  } catch (error) {
    if (error instanceof OutOfCalls) return 'not tried'
    if (!(error instanceof GoogleError)) throw error
    failure = error
    log.warn('directory.probe_failed', { target: workspace.id, error })
  }
  slice.check()
  slice.budget.spend(2)
  await updateManifest(blob, workspace.id, (manifest) => probeOutcome(manifest, failure, clock.now()))
  return failure
}
