import { utf8 } from '../../crypto/bytes.ts'
import type { Blob } from '../../ports/blob.ts'
import { isPortError } from '../../ports/error.ts'
import { secretAddress } from '../../ports/keys.ts'
import type { Clock, Fetch, Random } from '../../ports/platform.ts'
import { SECRET_VALUE_LIMIT, type Secrets } from '../../ports/secrets.ts'
import type { State } from '../../ports/state.ts'
import type { Trigger } from '../../ports/trigger.ts'
import { changeWorkspace, deleteWorkspace, findWorkspace, KEY_REF, listWorkspaces, type Workspace } from '../../records/workspace.ts'
import type { Log } from '../../telemetry/log.ts'
import { googleClient } from './client.ts'
import type { ClientMaker } from './clients.ts'
import { type Endpoints, GOOGLE } from './endpoints.ts'
import type { Patience } from './exchange.ts'
import { GoogleError } from './google-error.ts'
import { cacheOf, type Manifest, manifestName, readManifest, updateManifest } from './manifest.ts'
import { probeOutcome } from './probe.ts'
import { parseServiceAccount } from './service-account.ts'
import { domainOf, routeOf, servedDomains } from './serving.ts'
import { sameTenant } from './tenant.ts'
import { WorkspaceError } from './workspace-error.ts'

/** What connecting, and everything after, works with. The console and the command call the same functions. */
export interface WorkspacesParts {
  /** Of module google. */
  state: State
  secrets: Secrets
  blob: Blob
  clients: ClientMaker
  fetch: Fetch
  clock: Clock
  random: Random
  trigger: Trigger
  log: Log
  endpoints?: Endpoints
  wait?: (ms: number) => Promise<void>
}

export interface Connecting {
  /** The service account's key file. */
  key: string
  /** The administrator it is to act as. */
  admin: string
  /** Who connects it. */
  by: string
  /** The Workspace it has to be, where that is known. */
  workspace?: string | undefined
  /** The domains to answer for; empty: all that are verified. What stands is kept when absent, and is the admin's own domain at first. */
  serve?: readonly string[] | undefined
  /** The groups to read; empty: all. What stands is kept when absent. */
  sync_groups?: readonly string[] | undefined
}

/** Somebody waits, and can try again. */
const ATTENTIVE: Patience = { attempts: 2, timeout: 5_000, longestWait: 2_000 }

/**
 * Connects a Workspace, or gives one another key, admin, or other domains and groups. Nothing is written before Google has taken the key and
 * said whose it is. Then: the credential, in its place; the record that names it; the hint to read it. Whatever is cut short is made whole by
 * connecting again.
 *
 * @returns `before`: what stood, null where it was not connected
 * @throws KeyError, GoogleError, WorkspaceError: nothing was written. PortError Unavailable
 */
export async function connectWorkspace(
  asked: Connecting,
  parts: WorkspacesParts,
): Promise<{ workspace: Workspace; before: Workspace | null }> {
  const { state, secrets, clock, trigger, log, endpoints = GOOGLE } = parts
  const admin = asked.admin.trim().toLowerCase()
  const value = utf8(asked.key)
  if (value.length > SECRET_VALUE_LIMIT) throw new WorkspaceError('too_large', `the key file is over ${SECRET_VALUE_LIMIT} bytes`)
  const account = await parseServiceAccount(asked.key, endpoints)
  const tenant = await googleClient({
    ...parts,
    endpoints,
    spend() {},
    patience: ATTENTIVE,
    tokens: new Map(),
    identity: { account, admin },
  }).tenant()
  const { id, domains } = tenant
  if (asked.workspace !== undefined && asked.workspace !== id)
    throw new WorkspaceError('tenant_mismatch', `the key and the admin are of Workspace ${id}, and not of ${asked.workspace}`)
  const serve = asked.serve?.map(lower)
  checkDomains(serve ?? [], domains)
  const before = (await findWorkspace(state, id, log))?.value ?? null
  const ref = before?.ref ?? KEY_REF

  await secrets.put(secretAddress.workspaceKey({ id, ref }), value)
  const workspace = await changed(id, parts, (standing) => {
    const own = domains.includes(domainOf(admin)) ? [domainOf(admin)] : []
    return {
      ...(standing ?? { connected_at: Math.floor(clock.now() / 1_000), connected_by: asked.by }),
      ...{ id, admin, domains, ref, key_id: account.keyId },
      serve: serve ?? standing?.serve ?? own,
      sync_groups: asked.sync_groups?.map(lower) ?? standing?.sync_groups ?? [],
    }
  })
  // What was known of the key before is of another key.
  await updateManifest(parts.blob, id, (manifest) => probeOutcome(manifest, null, clock.now()))
  await trigger.notify(refreshHint(id))
  return { workspace, before }
}

/** A connected Workspace, and what is known of its directory. */
export interface WorkspaceView {
  workspace: Workspace
  /** null: it was not read yet. */
  manifest: Manifest | null
  /** Domains that it is to serve and another does too: nobody answers for these. */
  contested: string[]
}

/** All of them, with when each was last read. @throws PortError Unavailable */
export async function viewWorkspaces({ state, blob, log }: Pick<WorkspacesParts, 'state' | 'blob' | 'log'>): Promise<WorkspaceView[]> {
  const all = await listWorkspaces(state, log)
  return Promise.all(
    all.map(async (workspace) => {
      const contested = servedDomains(workspace).filter((domain) => routeOf(domain, all).state === 'contested')
      return { workspace, manifest: (await readManifest(blob, workspace.id))?.manifest ?? null, contested }
    }),
  )
}

/**
 * Asks Google whether it takes the key, and whose it is; readers go by the outcome from then on.
 *
 * @throws GoogleError: it does not. WorkspaceError unknown_workspace. PortError Unavailable
 */
export async function probeWorkspaceNow(id: string, parts: WorkspacesParts): Promise<{ domains: string[] }> {
  const { clients, blob, clock } = parts
  const workspace = await known(id, parts)
  try {
    const { domains } = await sameTenant(id, await clients(workspace, { spend() {}, patience: ATTENTIVE }))
    await updateManifest(blob, id, (manifest) => probeOutcome(manifest, null, clock.now()))
    return { domains }
  } catch (error) {
    if (error instanceof GoogleError) await updateManifest(blob, id, (manifest) => probeOutcome(manifest, error, clock.now()))
    throw error
  }
}

/** Has the directory read at once. What comes of it is in its report. @throws WorkspaceError unknown_workspace. PortError Unavailable */
export async function refreshWorkspaceNow(id: string, parts: WorkspacesParts): Promise<void> {
  await known(id, parts)
  await parts.trigger.notify(refreshHint(id))
}

/**
 * Lets a Workspace go: its snapshot (the manifest first, so that nothing is read of it any more and no refresh can put one in its place), its
 * credential, its record. Cut short, it is still listed, and is let go again. Google's side of the key is for its administrator to delete.
 *
 * @throws WorkspaceError unknown_workspace. PortError Unavailable
 */
export async function disconnectWorkspace(id: string, parts: WorkspacesParts): Promise<void> {
  const { state, secrets, blob } = parts
  const workspace = await known(id, parts)
  await blob.delete(manifestName(id))
  await removeCache(id, blob)
  await secrets.delete(secretAddress.workspaceKey(workspace))
  await deleteWorkspace(state, id)
  // What a refresh that was under way wrote until it saw the record gone.
  await blob.delete(manifestName(id))
  await removeCache(id, blob)
}

async function removeCache(id: string, blob: Blob): Promise<void> {
  const names = await blob.list(cacheOf(id))
  for (let at = 0; at < names.length; at += 6) await Promise.all(names.slice(at, at + 6).map((name) => blob.delete(name)))
}

async function known(id: string, { state, log }: WorkspacesParts): Promise<Workspace> {
  const found = await findWorkspace(state, id, log)
  if (found === null) throw new WorkspaceError('unknown_workspace', `no Workspace ${id.slice(0, 64)} is connected`)
  return found.value
}

async function changed(id: string, { state, log }: WorkspacesParts, change: (standing: Workspace | null) => Workspace): Promise<Workspace> {
  try {
    const written = await changeWorkspace(state, id, change, log)
    if (written !== null) return written
  } catch (error) {
    if (!isPortError(error, 'Conflict')) throw error
  }
  throw new WorkspaceError('changed_meanwhile', `the record of Workspace ${id} is being written by others: try again`)
}

function checkDomains(serve: readonly string[], verified: readonly string[]): void {
  const wrong = serve.find((domain) => !verified.includes(domain))
  if (wrong !== undefined)
    throw new WorkspaceError('not_verified', `${wrong} is no verified domain of this Workspace, which has ${verified.join(', ')}`)
}

function refreshHint(id: string): string {
  return `refresh:${id}`
}

function lower(text: string): string {
  return text.trim().toLowerCase()
}
