import { type BlobMemory, blobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { memorySecrets } from '../../src/adapters/memory/secrets.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { clientMaker } from '../../src/directory/google/clients.ts'
import { googleDirectory } from '../../src/directory/google/google.ts'
import type { RefreshParts } from '../../src/directory/google/refresh.ts'
import type { RefreshSlice } from '../../src/directory/google/refresh-slice.ts'
import { connectWorkspace, type WorkspacesParts } from '../../src/directory/google/workspaces.ts'
import { cachedSecrets } from '../../src/ports/cached-secrets.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { budgetOf } from '../../src/ticks/budget.ts'
import { type FakeGoogle, fakeGoogle } from './fake-google.ts'
import { ADMIN, type Tenant } from './tenant.ts'

/** One installation with Google beside it. Time stands until it is moved. */
export interface World {
  google: FakeGoogle
  clock: { now(): number; at: number }
  objects: BlobMemory
  parts: WorkspacesParts & RefreshParts
  /** Hints that were given. */
  hints: string[]
  /** Milliseconds that were waited between attempts. */
  waits: number[]
}

export const MINUTE = 60_000

export async function world(tenant: Tenant): Promise<World> {
  const clock = {
    at: 1_796_000_000_000,
    now: () => clock.at,
  }
  const google = await fakeGoogle({ tenant, clock })
  const objects = blobMemory()
  const hints: string[] = []
  const waits: number[] = []
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const secrets = cachedSecrets(memorySecrets({ clock }), clock)
  const wait = async (ms: number) => {
    waits.push(ms)
  }
  const reach = { fetch: google.fetch, clock, random, endpoints: google.endpoints, wait }
  const parts = {
    ...reach,
    state: memoryState({ store: createMemoryStore(), clock, module: 'google' }),
    blob: memoryBlob({ memory: objects }),
    secrets,
    clients: clientMaker({ secrets, ...reach }),
    trigger: { notify: async (hint: string) => void hints.push(hint) },
    log: noLog,
  }
  return { google, clock, objects, parts, hints, waits }
}

/** With the Workspace connected, and not read yet. */
export async function connectedWorld(tenant: Tenant, more: { serve?: string[]; sync_groups?: string[] } = {}): Promise<World> {
  const made = await world(tenant)
  await connectWorkspace({ key: made.google.keyFile, admin: ADMIN, by: 'operator', ...more }, made.parts)
  return made
}

/** As a runner gives one. */
export function slice(world: Pick<World, 'clock'>, calls = 800): RefreshSlice & { said: Record<string, unknown> } {
  const { signal } = new AbortController()
  const made: RefreshSlice & { said: Record<string, unknown> } = {
    ...{ signal, check() {}, budget: budgetOf(calls), deadline: world.clock.now() + 10 * MINUTE, said: {} },
    report(details) {
      made.said = { ...details }
    },
  }
  return made
}

/** Another isolate's view of what is kept. */
export function directoryOf({ parts }: Pick<World, 'parts'>) {
  return googleDirectory(parts)
}
