import * as z from 'zod'
import { isPortError, PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Entry, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

const addresses = z.array(z.string().toLowerCase())

const schema = z.looseObject({
  id: z.string().min(1).describe("the customer id, which Google's own answers name"),
  admin: z.string().toLowerCase().describe('the administrator it is read as'),
  domains: addresses.default([]).describe('its verified domains, as they were last read'),
  serve: addresses.default([]).describe('the domains it answers for; empty: all it has verified'),
  sync_groups: addresses.default([]).describe('the groups that are read; empty: all'),
  connected_at: instant,
  connected_by: z.string(),
  ref: z.string().min(1).describe('of its credential, the service-account key: `credentials/google/workspace/<id>/<ref>`'),
  key_id: z.string().optional().describe('which key of the service account it is'),
})

export const workspace = {
  key: 'ws.dir.google.<id>',
  purpose: 'A connected Google Workspace, whose people and groups are read. Never its key.',
  lifetime: 'permanent',
  schema,
} satisfies RecordType<typeof schema>

export type Workspace = z.output<typeof schema>

/** A Workspace's key stands at one address and is replaced in place: layout v5 has no ref for it (seed: storage-layout, "Stable items"). */
export const KEY_REF = 'key'

export async function findWorkspace(state: Pick<State, 'get'>, id: string, log: Log): Promise<Found<Workspace> | null> {
  return read(await state.get(keys.googleWorkspace(id)), log)
}

/** Whether there is a record of it, one that can't be read too. @throws PortError Unavailable */
export async function isConnected(state: Pick<State, 'get'>, id: string): Promise<boolean> {
  return (await state.get(keys.googleWorkspace(id))) !== null
}

/** All of them, in the order of their ids. @throws PortError Unavailable */
export async function listWorkspaces(state: Pick<State, 'list'>, log: Log): Promise<Workspace[]> {
  const found: Workspace[] = []
  let page: string | undefined
  do {
    const { entries, next } = await state.list(keys.googleWorkspaces, { page })
    found.push(...entries.flatMap((entry) => read(entry, log)?.value ?? []))
    page = next
  } while (page !== undefined)
  return found
}

const TRIES = 16 // as often as the Go service tries: what moves a Workspace is an operator, or its refresh

/**
 * Writes what `change` makes of the record as it stands, over the revision read; null for the record where there is none. `change` answers
 * null to leave all as it is.
 *
 * @returns what stands now
 * @throws PortError Conflict: it moved each time. Unavailable
 */
export async function changeWorkspace(
  state: State,
  id: string,
  change: (standing: Workspace | null) => Workspace | null,
  log: Log,
): Promise<Workspace | null> {
  const key = keys.googleWorkspace(id)
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const entry = await state.get(key)
    const standing = read(entry, log)
    const changed = change(standing?.value ?? null)
    if (changed === null) return standing?.value ?? null
    const value = writeRecord(workspace, changed)
    try {
      // One that can't be read is replaced like one that can: there is nothing else to be done about it.
      if (entry === null) await state.create(key, value, 'permanent')
      else await state.update(key, value, 'permanent', entry.rev)
      return changed
    } catch (error) {
      if (!isPortError(error, 'Conflict', 'NotFound', 'Exists')) throw error
    }
  }
  throw new PortError('Conflict', 'the record of the workspace moved each time it was to be written')
}

export function deleteWorkspace(state: State, id: string): Promise<void> {
  return state.delete(keys.googleWorkspace(id))
}

/** A record must stand where its id says: another's would have one Workspace's people answered for by another. */
function read(entry: Entry | null, log: Log): Found<Workspace> | null {
  const value = readRecord(workspace, entry, log)
  return entry === null || value === null || keys.googleWorkspace(value.id) !== entry.key ? null : { value, entry }
}
