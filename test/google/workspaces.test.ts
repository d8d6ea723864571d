import { describe, expect, it } from 'vitest'
import type { AuditEntry } from '../../src/audit/audit.ts'
import { refreshWorkspace } from '../../src/directory/google/refresh.ts'
import { connectWorkspace, disconnectWorkspace, viewWorkspaces, type WorkspacesParts } from '../../src/directory/google/workspaces.ts'
import { runWorkspaces, type WorkspaceCommand } from '../../src/ops/workspaces.ts'
import { PortError } from '../../src/ports/error.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { findWorkspace } from '../../src/records/workspace.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { connectedWorld, directoryOf, slice, type World, world } from './arrange.ts'
import { failing } from './faults.ts'
import { ADMIN, account, smallTenant } from './tenant.ts'

const ID = 'C01acme'
const KEY = `credentials/google/workspace/${ID}/key`

/** The parts, with every write noted, and the nth failing. */
function noted(parts: WorkspacesParts, failAt = 0): { parts: WorkspacesParts; writes: string[] } {
  const writes: string[] = []
  const note = <Port extends object>(port: Port, name: string): Port =>
    new Proxy(port, {
      get(target, method) {
        const member: unknown = Reflect.get(target, method)
        if (typeof member !== 'function' || !/put|create|update|delete|write/.test(String(method))) return member
        return (...all: unknown[]) => {
          writes.push(`${name} ${String(method)} ${String(all[0])}`)
          if (writes.length === failAt) return Promise.reject(new PortError('Unavailable', 'a test has it so'))
          return Reflect.apply(member, target, all)
        }
      },
    })
  return {
    writes,
    parts: { ...parts, state: note(parts.state, 'state'), secrets: note(parts.secrets, 'secrets'), blob: note(parts.blob, 'blob') },
  }
}

function connect({ google, parts }: World, more: Partial<Parameters<typeof connectWorkspace>[0]> = {}) {
  return connectWorkspace({ key: google.keyFile, admin: ADMIN, by: 'operator', ...more }, parts)
}

describe('connecting a Workspace', () => {
  it('writes the credential, then the record that names it, then has it read; it serves the admin’s own domain', async () => {
    const made = await world(smallTenant())
    const { parts, writes } = noted(made.parts)
    const { workspace } = await connect({ ...made, parts: { ...made.parts, ...parts } }, { admin: ' Root@ACME.example' })
    expect(writes).toEqual([`secrets put ${KEY}`, `state create ${keys.googleWorkspace(ID)}`])
    expect(made.hints).toEqual([`refresh:${ID}`])
    expect(workspace).toMatchObject({
      id: ID,
      admin: ADMIN,
      serve: ['acme.example'],
      domains: ['acme-labs.example', 'acme.example'],
      sync_groups: [],
    })
    expect(JSON.stringify(await viewWorkspaces(made.parts))).not.toContain('PRIVATE')
  })

  it('keeps who connected it and what it serves when it is given another key', async () => {
    const made = await connectedWorld(smallTenant(), { serve: ['acme-labs.example'], sync_groups: ['staff@acme.example'] })
    made.clock.at += 86_400_000
    const { workspace, before } = await connect(made, { by: 'ada@acme.example' })
    expect(before).not.toBeNull()
    expect(workspace).toMatchObject({
      serve: ['acme-labs.example'],
      sync_groups: ['staff@acme.example'],
      connected_by: 'operator',
      connected_at: 1_796_000_000,
    })
    expect((await connect(made, { serve: [] })).workspace.serve).toEqual([])
  })

  it.each([
    ['of another Workspace than was said', { workspace: 'C09other' }, 'tenant_mismatch'],
    ['for a domain that is not verified', { serve: ['pending.example'] }, 'not_verified'],
    ['that is too large to be kept', { key: `${' '.repeat(6_200)}{}` }, 'too_large'],
    ['as somebody who is no administrator', { admin: 'ada@acme.example' }, 'refused'],
    ['as somebody who is not there', { admin: 'nobody@acme.example' }, 'refused'],
  ])('refuses a key %s, and writes nothing', async (_, more, code) => {
    const made = await world(smallTenant())
    const { parts, writes } = noted(made.parts)
    await expect(connect({ ...made, parts: { ...made.parts, ...parts } }, more)).rejects.toMatchObject({ code })
    expect(writes).toEqual([])
  })

  it.each([
    ['another kind of credential', { type: 'external_account' }, 'type'],
    ['a token endpoint that is not Google’s', { token_uri: 'https://elsewhere.example/token' }, 'token_uri'],
    ['no private key', { private_key: 'secret words' }, 'private_key'],
    ['a private key that is none', { private_key: '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n' }, 'private_key'],
    ['no address', { client_email: 'me' }, 'client_email'],
  ])('refuses a key file with %s, naming the field and not what it holds', async (_, change, field) => {
    const made = await world(smallTenant())
    const key = JSON.stringify({ ...JSON.parse(made.google.keyFile), ...change })
    const asked: WorkspaceCommand = { command: 'workspace.connect', key, admin: ADMIN }
    const refused = runWorkspaces(asked, { workspaces: made.parts, audit: { record() {} } })
    await expect(refused).rejects.toMatchObject({ status: 422, code: 'bad_key_file', message: expect.stringContaining(field) })
    await expect(refused).rejects.not.toMatchObject({ message: expect.stringMatching(/elsewhere|secret words|AAAA/) })
    expect(made.google.requests).toEqual([])
  })

  it('refuses a file that is no JSON, and a delegation that is not granted, in words', async () => {
    const made = await world(smallTenant())
    await expect(connect(made, { key: 'not json' })).rejects.toMatchObject({ name: 'KeyError' })
    made.google.delegated = false
    await expect(connect(made)).rejects.toMatchObject({ code: 'refused', message: expect.stringContaining('delegation') })
  })
})

describe('letting a Workspace go', () => {
  it('takes the snapshot, the credential and the record away, in this order, and leaves nothing', async () => {
    const made = await connectedWorld(smallTenant())
    await refreshWorkspace(ID, slice(made), made.parts)
    const { parts, writes } = noted(made.parts)
    await disconnectWorkspace(ID, parts)
    expect(writes[0]).toBe(`blob delete google/cache/${ID}/manifest`)
    const [credential, record] = [writes.indexOf(`secrets delete ${KEY}`), writes.indexOf(`state delete ${keys.googleWorkspace(ID)}`)]
    expect(credential).toBeGreaterThan(writes.findLastIndex((write) => /\/[0-9]+$/.test(write)))
    expect(record).toBeGreaterThan(credential)
    expect([...made.objects.objects.keys()]).toEqual([])
    expect(await made.parts.secrets.list('')).toEqual([])
    expect(await directoryOf(made).resolve(personId(ADMIN))).toEqual({ state: 'refused', reason: 'unserved' })
  })

  it('is done again when it was cut short, wherever, and disowns nobody meanwhile', async () => {
    for (let failAt = 1; failAt < 20; failAt++) {
      const made = await connectedWorld(smallTenant())
      await refreshWorkspace(ID, slice(made), made.parts)
      const { parts, writes } = noted(made.parts, failAt)
      const ended = await disconnectWorkspace(ID, parts).then(
        () => true,
        () => false,
      )
      if (writes.length < failAt) return expect(ended).toBe(true)
      const said = await directoryOf(made)
        .resolve(personId(ADMIN))
        .catch(() => ({ state: 'unavailable' }))
      expect(said).not.toMatchObject({ reason: 'unknown' })
      expect(said).not.toMatchObject({ reason: 'suspended' })
      if ((await findWorkspace(made.parts.state, ID, noLog)) !== null) await disconnectWorkspace(ID, made.parts)
      expect(await made.parts.secrets.list('')).toEqual([])
      expect([...made.objects.objects.keys()]).toEqual([])
    }
    throw new Error('it writes more often than this looks for')
  })

  it('has a refresh that is under way end without a snapshot', async () => {
    const made = await connectedWorld(smallTenant())
    const { google, parts } = made
    const blob = {
      ...parts.blob,
      // everything was read; now it goes
      async write(name: string, body: Uint8Array<ArrayBuffer>) {
        if (name.endsWith('/nesting')) await disconnectWorkspace(ID, parts)
        return parts.blob.write(name, body)
      },
    }
    expect(await refreshWorkspace(google.tenant.id, slice(made), { ...parts, blob })).toBe('skipped')
    expect([...made.objects.objects.keys()].filter((name) => name.endsWith('/manifest'))).toEqual([])
  })
})

describe('a Workspace that is let go while it is read', () => {
  it('leaves nothing, whichever step of the refresh that comes before, and whoever is then looked up is nobody’s', async () => {
    let steps = 0
    for (let nth = 1; nth === 1 || nth <= steps; nth++) {
      const made = await connectedWorld(smallTenant())
      const { parts } = made
      steps = 0
      const step = async () => {
        steps += 1
        if (steps === nth) await disconnectWorkspace(ID, parts)
      }
      const { read, write, writeIfVersion, list } = parts.blob
      const blob = {
        ...parts.blob,
        read: async (name: string) => step().then(() => read(name)),
        write: async (name: string, body: Uint8Array<ArrayBuffer>) => step().then(() => write(name, body)),
        writeIfVersion: async (...all: Parameters<typeof writeIfVersion>) => step().then(() => writeIfVersion(...all)),
        list: async (prefix: string) => step().then(() => list(prefix)),
      }
      await refreshWorkspace(ID, slice(made), { ...parts, blob }).catch(() => 'failed')
      if (steps < nth) break
      expect([...made.objects.objects.keys()], `step ${nth}`).toEqual([])
      expect(await directoryOf(made).resolve(personId(ADMIN))).toEqual({ state: 'refused', reason: 'unserved' })
    }
    expect(steps).toBeGreaterThan(8)
  })
})

describe("an operator's commands", () => {
  async function run(made: World, asked: WorkspaceCommand) {
    const audited: AuditEntry[] = []
    const answer = await runWorkspaces(asked, { workspaces: made.parts, audit: { record: (entry) => audited.push(entry) } })
    return { answer, audited }
  }

  it('connect, list, probe, refresh and disconnect, each audited where something changed', async () => {
    const made = await world(smallTenant())
    const asked: WorkspaceCommand = { command: 'workspace.connect', key: made.google.keyFile, admin: ADMIN }
    const connected = await run(made, asked)
    expect(connected.answer).toMatchObject({ workspace: ID, outcome: 'connected', key_id: 'f00dfeed' })
    expect(connected.audited).toEqual([{ event: 'workspace.connected', workspace: ID, by: 'operator' }])
    const again = await run(made, { ...asked, serve: [], sync_groups: ['staff@acme.example'] })
    expect(again.audited.map(({ event }) => event)).toEqual([
      'workspace.reconnected',
      'workspace.domains_changed',
      'workspace.groups_changed',
    ])

    await refreshWorkspace(ID, slice(made), made.parts)
    const { answer } = await run(made, { command: 'workspace.list' })
    expect(answer.workspaces).toMatchObject([{ workspace: ID, people: 4, groups: 3, contested: [], probe: { ok: true, reason: null } }])
    expect((await run(made, { command: 'workspace.probe', workspace: ID })).answer).toMatchObject({
      domains: ['acme-labs.example', 'acme.example'],
    })
    made.hints.length = 0
    await run(made, { command: 'workspace.refresh', workspace: ID })
    expect(made.hints).toEqual([`refresh:${ID}`])
    expect((await run(made, { command: 'workspace.disconnect', workspace: ID })).audited).toHaveLength(1)
    expect((await run(made, { command: 'workspace.list' })).answer).toEqual({ workspaces: [] })
  })

  it('say that Google is away, and that a Workspace is not there', async () => {
    const made = await connectedWorld(smallTenant())
    made.google.tenant.accounts.push(account('7', 'x@acme.example'))
    made.google.faults.push(failing('/users/', 9))
    await expect(run(made, { command: 'workspace.probe', workspace: ID })).rejects.toMatchObject({ status: 503, code: 'google_away' })
    for (const command of ['workspace.probe', 'workspace.refresh', 'workspace.disconnect'] as const)
      await expect(run(made, { command, workspace: 'C0none' })).rejects.toMatchObject({ status: 404, code: 'unknown_workspace' })
  })

  it('are for an installation whose directory is Google', async () => {
    const refused = runWorkspaces({ command: 'workspace.list' }, { workspaces: null, audit: { record() {} } })
    await expect(refused).rejects.toMatchObject({ code: 'no_google_directory' })
  })
})
