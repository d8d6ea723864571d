import * as z from 'zod'
import type { Audit } from '../audit/audit.ts'
import { domain, email } from '../config/values.ts'
import { GoogleError } from '../directory/google/google-error.ts'
import { KeyError } from '../directory/google/service-account.ts'
import { WorkspaceError } from '../directory/google/workspace-error.ts'
import {
  connectWorkspace,
  disconnectWorkspace,
  probeWorkspaceNow,
  refreshWorkspaceNow,
  viewWorkspaces,
  type WorkspacesParts,
  type WorkspaceView,
} from '../directory/google/workspaces.ts'
import { Refusal } from '../http/refusal.ts'
import { writeInstant } from '../records/instant.ts'
import type { Workspace } from '../records/workspace.ts'

/** What the commands of connected Workspaces work on. */
export interface WorkspaceParts {
  /** null: the service document names another directory, so nothing would be read of a Workspace. */
  workspaces: WorkspacesParts | null
  audit: Pick<Audit, 'record'>
}

/** A customer's id as Google writes it. */
const customer = z.string().regex(/^[A-Za-z0-9]{1,64}$/, 'is not the id of a Workspace, like C01ipl6j0')

/**
 * `workspace.connect` (also to give one another key, admin, domains or groups); `workspace.list`; `workspace.probe`; `workspace.refresh`;
 * `workspace.disconnect`.
 */
export const workspaceCommands = [
  z.strictObject({
    command: z.literal('workspace.connect'),
    /** The key file, as it is. */
    key: z.string().min(1, 'is empty'),
    admin: email,
    workspace: customer.optional(),
    /** Empty: all that are verified. */
    serve: z.array(domain).optional(),
    /** Empty: all. */
    sync_groups: z.array(email).optional(),
  }),
  z.strictObject({ command: z.literal('workspace.list') }),
  z.strictObject({ command: z.literal('workspace.probe'), workspace: customer }),
  z.strictObject({ command: z.literal('workspace.refresh'), workspace: customer }),
  z.strictObject({ command: z.literal('workspace.disconnect'), workspace: customer }),
] as const

export type WorkspaceCommand = z.output<(typeof workspaceCommands)[number]>

/** @throws Refusal: in words for the operator. PortError Unavailable */
export async function runWorkspaces(asked: WorkspaceCommand, { workspaces, audit }: WorkspaceParts): Promise<Record<string, unknown>> {
  if (workspaces === null) throw refusal(422, 'no_google_directory', 'directory.kind of the service document is not google')
  try {
    switch (asked.command) {
      case 'workspace.connect':
        return await connect(asked, workspaces, audit)
      case 'workspace.list':
        return { workspaces: (await viewWorkspaces(workspaces)).map(viewOf) }
      case 'workspace.probe':
        return { workspace: asked.workspace, ...(await probeWorkspaceNow(asked.workspace, workspaces)) }
      case 'workspace.refresh':
        await refreshWorkspaceNow(asked.workspace, workspaces)
        return { workspace: asked.workspace, asked: `refresh:${asked.workspace}` }
      case 'workspace.disconnect':
        await disconnectWorkspace(asked.workspace, workspaces)
        audit.record({ event: 'workspace.disconnected', workspace: asked.workspace, by: BY })
        return { workspace: asked.workspace, disconnected: true }
    }
  } catch (error) {
    throw inWords(error)
  }
}

const BY = 'operator'

async function connect(
  { key, admin, workspace, serve, sync_groups }: Extract<WorkspaceCommand, { command: 'workspace.connect' }>,
  parts: WorkspacesParts,
  audit: Pick<Audit, 'record'>,
): Promise<Record<string, unknown>> {
  const { workspace: connected, before } = await connectWorkspace({ key, admin, workspace, serve, sync_groups, by: BY }, parts)
  const { id } = connected
  audit.record({ event: before === null ? 'workspace.connected' : 'workspace.reconnected', workspace: id, by: BY })
  if (before !== null && differ(before.serve, connected.serve))
    audit.record({ event: 'workspace.domains_changed', workspace: id, by: BY, count: connected.serve.length })
  if (before !== null && differ(before.sync_groups, connected.sync_groups))
    audit.record({ event: 'workspace.groups_changed', workspace: id, by: BY, count: connected.sync_groups.length })
  return { ...recordOf(connected), outcome: before === null ? 'connected' : 'reconnected' }
}

function viewOf({ workspace, manifest, contested }: WorkspaceView): Record<string, unknown> {
  const snapshot = manifest?.snapshot ?? null
  return {
    ...recordOf(workspace),
    contested,
    read_at: snapshot === null ? null : new Date(snapshot.taken_at).toISOString(),
    people: snapshot?.people ?? null,
    groups: snapshot?.groups ?? null,
    probe: manifest === null ? null : { ok: manifest.probe.ok, reason: manifest.probe.reason },
  }
}

function recordOf({ id, admin, domains, serve, sync_groups, connected_at, connected_by, key_id }: Workspace): Record<string, unknown> {
  return {
    workspace: id,
    admin,
    domains,
    serve,
    sync_groups,
    connected_at: writeInstant(connected_at),
    connected_by,
    key_id: key_id ?? null,
  }
}

function differ(some: readonly string[], others: readonly string[]): boolean {
  return JSON.stringify(some.toSorted()) !== JSON.stringify(others.toSorted())
}

function inWords(error: unknown): unknown {
  if (error instanceof KeyError) return refusal(422, 'bad_key_file', error.message)
  if (error instanceof WorkspaceError) return refusal(STATUS[error.code], error.code, error.message)
  if (error instanceof GoogleError) return refusal(error.code === 'away' ? 503 : 422, `google_${error.code}`, error.message)
  return error
}

const STATUS: Record<WorkspaceError['code'], number> = {
  unknown_workspace: 404,
  changed_meanwhile: 409,
  tenant_mismatch: 422,
  not_verified: 422,
  too_large: 422,
}

function refusal(status: number, code: string, description: string): Refusal {
  return new Refusal(status, { code, description, title: 'Not carried out', advice: 'docs/operate.md, "Google Workspaces".' })
}
