import { listWorkspaces } from '../../records/workspace.ts'
import { type ProbeParts, probeWorkspaces } from './probe.ts'
import { type RefreshParts, refreshWorkspace } from './refresh.ts'
import type { RefreshSlice } from './refresh-slice.ts'

/** A tick of module google, less what every tick of a module has alike (src/ticks/tick.ts). */
export interface GoogleTick {
  kind: string
  target: string
  /** minutes */
  every: number
  idle?(): Promise<boolean>
  run(slice: RefreshSlice): Promise<'ran' | 'more' | 'skipped'>
}

export interface GoogleTicks {
  /** Of all Workspaces together. */
  probe: GoogleTick
  /** Of one, also where this isolate has not heard of it yet: it is skipped when there is none. */
  refresh(workspace: string): GoogleTick
  /** One a connected Workspace. @throws PortError Unavailable */
  refreshes(): Promise<GoogleTick[]>
}

/** What is to be done of the connected Workspaces, and how often. They are records, so which there are is read. */
export function googleTicks(parts: RefreshParts & ProbeParts): GoogleTicks {
  const refresh = (target: string): GoogleTick => ({
    ...{ kind: 'refresh', target, every: 15 },
    run: (slice) => refreshWorkspace(target, slice, parts),
  })
  const connected = () => listWorkspaces(parts.state, parts.log)
  return {
    probe: {
      ...{ kind: 'refresh-probe', target: 'all', every: 5 },
      idle: async () => (await connected()).length === 0,
      run: (slice) => probeWorkspaces(slice, parts),
    },
    refresh,
    refreshes: async () => (await connected()).map(({ id }) => refresh(id)),
  }
}
