import { describe, expect, it } from 'vitest'
import { probeWorkspaces } from '../../src/directory/google/probe.ts'
import { refreshWorkspace } from '../../src/directory/google/refresh.ts'
import { connectWorkspace } from '../../src/directory/google/workspaces.ts'
import { PortError } from '../../src/ports/error.ts'
import { personId } from '../../src/ports/keys.ts'
import { changeWorkspace } from '../../src/records/workspace.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { connectedWorld, directoryOf, MINUTE, slice, type World } from './arrange.ts'
import { fakeGoogle } from './fake-google.ts'
import { answering, failing, quotaExceeded } from './faults.ts'
import { account, inAccount, smallTenant } from './tenant.ts'

const ADA = personId('ada@acme.example')
const NEW = personId('new@acme.example')

async function readWorld(more: { serve?: string[]; sync_groups?: string[] } = {}): Promise<World> {
  const world = await connectedWorld(smallTenant(), more)
  expect(await refreshWorkspace(world.google.tenant.id, slice(world), world.parts)).toBe('ran')
  world.google.requests.length = 0
  return world
}

function unavailable(reason: string) {
  return { code: 'Unavailable', message: expect.stringContaining(reason) }
}

describe('the Google directory', () => {
  it('vouches for nobody until the Workspace was read', async () => {
    const world = await connectedWorld(smallTenant())
    await expect(directoryOf(world).resolve(ADA)).rejects.toMatchObject(unavailable('first_snapshot_pending'))
  })

  it('vouches while the snapshot is younger than 30 minutes, and for nobody after', async () => {
    const world = await readWorld()
    const directory = directoryOf(world)
    world.clock.at += 30 * MINUTE - 1
    expect(await directory.resolve(ADA)).toMatchObject({ state: 'live' })
    expect(await directory.resolve(personId('bob@acme.example'))).toMatchObject({ state: 'refused' })
    world.clock.at += 1
    for (const person of [ADA, personId('bob@acme.example'), NEW])
      await expect(directory.resolve(person)).rejects.toMatchObject(unavailable('snapshot_stale'))
    expect(world.google.requests).toEqual([])
  })

  it('asks Google about whom the snapshot does not have, and only then calls them unknown', async () => {
    const world = await readWorld()
    const directory = directoryOf(world)
    expect(await directory.resolve(NEW)).toEqual({ state: 'refused', reason: 'unknown' })
    const { tenant } = world.google
    const joined = account('5', NEW, { given: 'Nia' })
    tenant.accounts.push(joined)
    tenant.groups.find(({ id }) => id === 'g2')?.members.push(inAccount(joined))
    const live = { state: 'live', groups: ['engineering@acme.example', 'platform@acme.example', 'staff@acme.example'], given_name: 'Nia' }
    expect(await directory.resolve(NEW)).toMatchObject(live)

    const asked = world.google.requests.length
    expect(await directory.resolve(NEW)).toMatchObject(live)
    expect(world.google.requests).toHaveLength(asked)
    joined.suspended = true
    world.clock.at += MINUTE
    expect(await directory.resolve(NEW)).toEqual({ state: 'refused', reason: 'suspended' })
  })

  it("says that a group's address is nobody's", async () => {
    const world = await readWorld()
    expect(await directoryOf(world).resolve(personId('staff@acme.example'))).toEqual({ state: 'refused', reason: 'unknown' })
  })

  it.each([
    ['is away', failing('/users/new', 9)],
    ['has no quota left', quotaExceeded('/users/new', 9)],
    ['has a proxy in front of it that finds nothing', answering('/users/new', 'Not Found', 404)],
    ['answers garbage', answering('/users/new', { kind: 'admin#directory#user', primaryEmail: 'x@acme.example' })],
    ['does not take the key', answering('/users/new', {}, 401)],
  ])('calls nobody unknown while Google %s', async (_, fault) => {
    const world = await readWorld()
    world.google.faults.push(fault)
    await expect(directoryOf(world).resolve(NEW)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('answers for the domains that are served, and says that others are not', async () => {
    const world = await readWorld({ serve: ['acme.example'] })
    const directory = directoryOf(world)
    for (const other of ['ada@acme-labs.example', 'ada@pending.example', 'ada@elsewhere.example', 'nobody'])
      expect(await directory.resolve(personId(other))).toEqual({ state: 'refused', reason: 'unserved' })
    await changeWorkspace(world.parts.state, 'C01acme', (standing) => standing && { ...standing, serve: ['acme-labs.example'] }, noLog)
    world.clock.at += MINUTE
    expect(await directory.resolve(ADA)).toEqual({ state: 'refused', reason: 'unserved' })
  })

  it('narrows the groups at once', async () => {
    const world = await readWorld()
    await changeWorkspace(
      world.parts.state,
      'C01acme',
      (standing) => standing && { ...standing, sync_groups: ['staff@acme.example'] },
      noLog,
    )
    expect(await directoryOf(world).resolve(ADA)).toMatchObject({ groups: ['staff@acme.example'] })
  })

  it('has each of several Workspaces answer for its own domains, and nobody where two claim one', async () => {
    const world = await readWorld()
    const other = await fakeGoogle({
      tenant: {
        id: 'C02other',
        domains: [
          { name: 'other.example', verified: true },
          { name: 'acme.example', verified: true },
        ],
        accounts: [account('9', 'boss@other.example', { admin: true })],
        groups: [],
      },
      clock: world.clock,
    })
    const parts = { ...world.parts, fetch: other.fetch, endpoints: other.endpoints }
    const connected = await connectWorkspace({ key: other.keyFile, admin: 'boss@other.example', by: 'operator' }, parts)
    expect(connected.workspace.serve).toEqual(['other.example'])
    const directory = directoryOf(world)
    expect(await directory.resolve(ADA)).toMatchObject({ state: 'live' })
    await expect(directory.resolve(personId('boss@other.example'))).rejects.toMatchObject(unavailable('first_snapshot_pending'))

    await connectWorkspace({ key: other.keyFile, admin: 'boss@other.example', by: 'operator', serve: [] }, parts)
    world.clock.at += MINUTE
    await expect(directory.resolve(ADA)).rejects.toMatchObject(unavailable('contested'))
    expect(await directory.resolve(personId('boss@acme-labs.example'))).toMatchObject({ reason: 'unserved' })
  })

  it('goes by the manifest it has for a moment while the store is down, and by the snapshot that stands when its own is gone', async () => {
    const world = await readWorld()
    const { blob } = world.parts
    let down = false
    const shaky = {
      read: (name: string) => (down ? Promise.reject(new PortError('Unavailable', 'a test has it so')) : blob.read(name)),
    }
    const directory = directoryOf({ parts: { ...world.parts, blob: { ...blob, ...shaky } } })
    const other = directoryOf(world)
    expect(await directory.resolve(ADA)).toMatchObject({ state: 'live' })
    await directoryOf(world).resolve(ADA)
    down = true
    world.clock.at += 2 * MINUTE
    expect(await directory.resolve(ADA)).toMatchObject({ state: 'live' })
    world.clock.at += 4 * MINUTE
    await expect(directory.resolve(ADA)).rejects.toMatchObject({ code: 'Unavailable' })
    down = false

    expect(await other.resolve(personId('bob@acme.example'))).toMatchObject({ state: 'refused' })
    await refreshWorkspace('C01acme', slice(world), world.parts)
    expect(await other.resolve(ADA)).toMatchObject({ state: 'live' }) // its bucket was of the version before
  })

  it('takes a bucket that is not what was written for none', async () => {
    const world = await readWorld()
    const [name = ''] = [...world.objects.objects.keys()].filter((one) => one.endsWith('/0'))
    await world.parts.blob.write(name, new Uint8Array([1, 2, 3]))
    await expect(directoryOf(world).resolve(ADA)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('stops vouching when a probe finds the key gone, and vouches again when one finds it good', async () => {
    const world = await readWorld()
    world.google.delegated = false
    world.google.endTokens()
    const probing = slice(world)
    await probeWorkspaces(probing, world.parts)
    expect(probing.said).toMatchObject({ probed: [{ workspace: 'C01acme', ok: false, reason: 'refused' }] })
    await expect(directoryOf(world).resolve(ADA)).rejects.toMatchObject(unavailable('probe_failed'))
    world.google.delegated = true
    await probeWorkspaces(slice(world), world.parts)
    expect(await directoryOf(world).resolve(ADA)).toMatchObject({ state: 'live' })
    const { writes } = world.objects
    await probeWorkspaces(slice(world), world.parts)
    expect(world.objects.writes).toBe(writes)
  })
})
