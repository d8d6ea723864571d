import type { Blob } from '../../ports/blob.ts'
import { isPortError, PortError } from '../../ports/error.ts'
import type { PersonId } from '../../ports/keys.ts'
import type { Clock } from '../../ports/platform.ts'
import type { State } from '../../ports/state.ts'
import { listWorkspaces, type Workspace } from '../../records/workspace.ts'
import type { Log } from '../../telemetry/log.ts'
import type { Directory, Resolution } from '../directory.ts'
import type { ClientMaker } from './clients.ts'
import { BRISK } from './exchange.ts'
import { GoogleError } from './google-error.ts'
import type { Manifest } from './manifest.ts'
import { everyGroup } from './nesting.ts'
import { domainOf, routeOf } from './serving.ts'
import { snapshotReader } from './snapshot.ts'

export interface GoogleDirectoryParts {
  /** Of module google: read for the Workspaces that are connected. */
  state: Pick<State, 'list'>
  blob: Pick<Blob, 'read'>
  clients: ClientMaker
  clock: Clock
  log: Log
}

/** ms: a snapshot of this age or more says nothing about anybody: two refreshes in a row have failed */
export const WINDOW = 1_800_000

/** Why nobody can say who somebody is. */
type Unvouched = 'contested' | 'first_snapshot_pending' | 'snapshot_stale' | 'probe_failed'

const WHY: Record<Unvouched, string> = {
  contested: 'two Workspaces claim this domain',
  first_snapshot_pending: 'the Workspace was not read yet',
  snapshot_stale: 'the Workspace was last read 30 minutes ago or more',
  probe_failed: 'Google did not take the key of the Workspace when it was last tried',
}

/**
 * The connected Google Workspaces as a directory. Somebody is looked up in the snapshot of the Workspace that answers for their domain: its
 * manifest and one bucket. Whom it does not have, Google is asked about: nobody is said to be unknown before that.
 *
 * It vouches while Google took the key when it was last tried, the snapshot is younger than 30 minutes and no other Workspace claims the
 * domain. Otherwise it is Unavailable, and what was last said of somebody may stand for it (held.ts).
 */
export function googleDirectory({ state, blob, clients, clock, log }: GoogleDirectoryParts): Directory {
  const snapshots = snapshotReader({ blob, clock })
  const connected = connectedWorkspaces({ state, clock, log })
  const lookedUp = recently(clock)

  async function askGoogle(person: PersonId, workspace: Workspace, taken: number): Promise<Resolution> {
    const kept = lookedUp.get(workspace.id, person, taken)
    if (kept !== undefined) return kept
    try {
      const client = await clients(workspace, { spend() {}, patience: BRISK })
      const account = await client.account(person)
      // Google finds an account by each of its addresses, and who has left often has theirs given to somebody else: that one is not them.
      if (account === null || account.address !== person) return { state: 'refused', reason: 'unknown' }
      if (account.state === 'suspended') return { state: 'refused', reason: 'suspended' }
      const [direct, parentsOf] = await Promise.all([client.groupsOf(account.id), snapshots.parents(workspace.id)])
      const { groups } = everyGroup(
        direct.map(({ address }) => address),
        parentsOf,
      )
      const { given_name, family_name } = account
      const live: Live = { state: 'live', groups: synced(groups, workspace), given_name, family_name }
      lookedUp.keep(workspace.id, person, taken, live)
      return live
    } catch (error) {
      if (!(error instanceof GoogleError)) throw error
      throw new PortError('Unavailable', 'Google could not be asked about somebody the snapshot does not have', { cause: error })
    }
  }

  return {
    async resolve(person) {
      const route = routeOf(domainOf(person), await connected())
      if (route.state === 'unserved') return { state: 'refused', reason: 'unserved' }
      if (route.state === 'contested') throw unvouched('contested')
      const { workspace } = route
      const manifest = await snapshots.manifest(workspace.id)
      const taken = vouchedFor(manifest, clock)
      const entry = await snapshots.person(workspace.id, person)
      if (entry === null) return askGoogle(person, workspace, taken)
      if (entry.state === 'suspended') return { state: 'refused', reason: 'suspended' }
      const { groups, given_name, family_name } = entry
      return { state: 'live', groups: synced(groups, workspace), given_name, family_name }
    },
  }
}

type Live = Extract<Resolution, { state: 'live' }>

/** unix ms: when the snapshot that vouches was taken. @throws PortError Unavailable: none does */
function vouchedFor(manifest: Manifest | null, clock: Clock): number {
  if (manifest === null || manifest.snapshot === null) throw unvouched('first_snapshot_pending')
  const { taken_at } = manifest.snapshot
  if (Math.abs(clock.now() - taken_at) >= WINDOW) throw unvouched('snapshot_stale')
  if (!manifest.probe.ok) throw unvouched('probe_failed')
  return taken_at
}

function unvouched(why: Unvouched): PortError {
  return new PortError('Unavailable', `the directory can't vouch (${why}): ${WHY[why]}`)
}

/** Narrowing counts at once, and not from the next refresh on. */
function synced(groups: string[], { sync_groups }: Workspace): string[] {
  return sync_groups.length === 0 ? groups : groups.filter((group) => sync_groups.includes(group))
}

const FRESH = 30_000 // ms: how long an isolate goes by the records it read
const STANDS = 300_000 // ms: while they can't be read, they stand this long
const RETRY = 5_000 // ms after a failure in which the store is not asked again

/** The records of the Workspaces, as an isolate keeps them. */
function connectedWorkspaces({ state, clock, log }: Pick<GoogleDirectoryParts, 'state' | 'clock' | 'log'>): () => Promise<Workspace[]> {
  let kept: { value: Workspace[]; readAt: number; retryAt: number } | null = null
  return async () => {
    const now = clock.now()
    const age = kept === null ? Number.POSITIVE_INFINITY : Math.abs(now - kept.readAt)
    if (kept !== null && (age < FRESH || (now < kept.retryAt && age < STANDS))) return kept.value
    try {
      const value = await listWorkspaces(state, log)
      if (kept === null || kept.readAt <= now) kept = { value, readAt: now, retryAt: 0 }
      return value
    } catch (error) {
      if (kept === null || age >= STANDS || !isPortError(error, 'Unavailable')) throw error
      kept.retryAt = now + RETRY
      return kept.value
    }
  }
}

const LOOKED_UP = 60_000 // ms: somebody new is asked about once a minute, until the next snapshot has them
const MOST_LOOKED_UP = 1_000

/** People Google was asked about and has: each until the next snapshot, and a minute at most. */
function recently(clock: Clock) {
  const kept = new Map<string, { value: Live; at: number }>()
  const nameOf = (workspace: string, person: PersonId, taken: number) => `${workspace} ${taken} ${person}`
  return {
    get(workspace: string, person: PersonId, taken: number): Live | undefined {
      const found = kept.get(nameOf(workspace, person, taken))
      return found !== undefined && Math.abs(clock.now() - found.at) < LOOKED_UP ? found.value : undefined
    },
    keep(workspace: string, person: PersonId, taken: number, value: Live): void {
      const name = nameOf(workspace, person, taken)
      kept.delete(name)
      kept.set(name, { value, at: clock.now() })
      const [oldest] = kept.keys()
      if (kept.size > MOST_LOOKED_UP && oldest !== undefined) kept.delete(oldest)
    },
  }
}
