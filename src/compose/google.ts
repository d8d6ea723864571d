import type { Directory } from '../directory/directory.ts'
import { clientMaker } from '../directory/google/clients.ts'
import { type Endpoints, GOOGLE } from '../directory/google/endpoints.ts'
import { googleDirectory } from '../directory/google/google.ts'
import { type GoogleTick, googleTicks } from '../directory/google/ticks.ts'
import type { WorkspacesParts } from '../directory/google/workspaces.ts'
import { cachedSecrets } from '../ports/cached-secrets.ts'
import { maintainedBlob, maintainedSecrets, maintainedState, maintenanceGate } from '../ports/maintenance.ts'
import type { Tick, Ticks } from '../ticks/tick.ts'
import type { ModuleStores } from './adapters.ts'
import type { Platform } from './env.ts'

/** Module google: the connected Workspaces as a directory, what keeps it fresh, and what connects one. */
export interface Google {
  directory: Directory
  ticks: Ticks
  /** Without a trigger of its own yet. */
  workspaces: Omit<WorkspacesParts, 'trigger'>
}

export function composeGoogle(stores: ModuleStores, platform: Platform, endpoints: Endpoints = GOOGLE): Google {
  const { clock, random, fetch, log } = platform
  const gate = maintenanceGate(stores.state, 'google', clock)
  const state = maintainedState(stores.state, gate)
  const secrets = maintainedSecrets(cachedSecrets(stores.secrets, clock), gate)
  const blob = maintainedBlob(stores.blob, gate) // a Workspace that is let go goes whole or not at all
  const clients = clientMaker({ secrets, fetch, clock, random, endpoints })
  const { probe, refresh, refreshes } = googleTicks({ state, blob, clients, clock, random, log })
  const asTick = (tick: GoogleTick): Tick => ({ ...tick, module: 'google', state, paused: gate.isSet })
  return {
    directory: googleDirectory({ state, blob, clients, clock, log }),
    ticks: {
      fixed: [asTick(probe)],
      families: [
        {
          kind: 'refresh',
          every: 15,
          state,
          of: (workspace) => asTick(refresh(workspace)),
          all: async () => (await refreshes()).map(asTick),
        },
      ],
    },
    workspaces: { state, secrets, blob, clients, fetch, clock, random, log, endpoints },
  }
}
