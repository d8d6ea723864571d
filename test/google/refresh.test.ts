import { describe, expect, it } from 'vitest'
import { LARGEST_BUCKET } from '../../src/directory/google/bucket.ts'
import { readManifest } from '../../src/directory/google/manifest.ts'
import { refreshWorkspace } from '../../src/directory/google/refresh.ts'
import { googleTicks } from '../../src/directory/google/ticks.ts'
import { connectWorkspace } from '../../src/directory/google/workspaces.ts'
import { personId } from '../../src/ports/keys.ts'
import { connectedWorld, directoryOf, MINUTE, slice, type World } from './arrange.ts'
import { answering, failing, quotaExceeded, unreachable } from './faults.ts'
import { naiveGroups } from './naive-groups.ts'
import { ADMIN, generatedTenant, smallTenant } from './tenant.ts'

const ADA = personId('ada@acme.example')

/** Slices until it is done: how many there were. */
async function refresh(world: World, calls = 800): Promise<number> {
  for (let slices = 1; slices < 1_000; slices++) {
    const one = slice(world, calls)
    const outcome = await refreshWorkspace(world.google.tenant.id, one, world.parts)
    expect(one.budget.left()).toBeGreaterThanOrEqual(0)
    if (outcome !== 'more') {
      expect(outcome).toBe('ran')
      return slices
    }
  }
  throw new Error('the refresh comes to no end')
}

async function namesOf(world: World): Promise<string[]> {
  return world.parts.blob.list('google/cache/')
}

describe('the refresh of a Workspace', () => {
  it('has everybody in the groups they are in, nested ones too, and says who is suspended', async () => {
    const world = await connectedWorld(smallTenant())
    expect(await refresh(world)).toBe(1)
    const directory = directoryOf(world)
    expect(await directory.resolve(ADA)).toEqual({
      state: 'live',
      groups: ['engineering@acme.example', 'platform@acme.example', 'staff@acme.example'],
      given_name: 'Ada',
      family_name: 'Lovelace',
    })
    expect(await directory.resolve(personId('bob@acme.example'))).toEqual({ state: 'refused', reason: 'suspended' })
    expect(await directory.resolve(personId('eve@acme.example'))).toEqual({ state: 'refused', reason: 'suspended' })
  })

  it('goes on in slices of few calls, leaves nothing but the snapshot, and has the right groups for each', async () => {
    const tenant = generatedTenant({ people: 700, groups: 90, seed: 3 })
    const world = await connectedWorld(tenant)
    expect(await refresh(world, 40)).toBeGreaterThan(3)
    const manifest = await readManifest(world.parts.blob, tenant.id)
    const { version, buckets = 0 } = manifest?.manifest.snapshot ?? {}
    const kept = Array.from({ length: buckets }, (_, bucket) => `google/cache/${tenant.id}/${version}/${bucket}`)
    expect(await namesOf(world)).toEqual(
      [...kept, `google/cache/${tenant.id}/${version}/nesting`, `google/cache/${tenant.id}/manifest`].sort(),
    )

    const directory = directoryOf(world)
    for (const { address, suspended, archived } of tenant.accounts.filter((_, n) => n % 9 === 0)) {
      const said = await directory.resolve(personId(address))
      if (suspended || archived) expect(said).toEqual({ state: 'refused', reason: 'suspended' })
      else expect(said).toMatchObject({ state: 'live', groups: naiveGroups(tenant, address) })
    }
  })

  it('has the right groups for 10,000 people in 2,000 groups, and reads one of them from two objects of under 64 KB', async () => {
    const tenant = generatedTenant({ people: 10_000, groups: 2_000, seed: 5 })
    const world = await connectedWorld(tenant)
    await refresh(world)
    for (const { address, suspended, archived } of tenant.accounts.filter((_, n) => n % 200 === 0)) {
      const said = await directoryOf(world).resolve(personId(address))
      if (suspended || archived) expect(said).toEqual({ state: 'refused', reason: 'suspended' })
      else expect(said).toMatchObject({ state: 'live', groups: naiveGroups(tenant, address) })
    }
    const read: string[] = []
    const { blob } = world.parts
    const directory = directoryOf({
      parts: {
        ...world.parts,
        blob: {
          ...blob,
          read(name) {
            read.push(name)
            return blob.read(name)
          },
        },
      },
    })
    await directory.resolve(personId('person.77@acme.example'))
    expect(read).toHaveLength(2)
    for (const { body } of world.objects.objects.values()) expect(body.length).toBeLessThan(LARGEST_BUCKET)
    await directory.resolve(personId('person.77@acme.example'))
    expect(read).toHaveLength(2)
  })

  it('waits where Google says that a quota is used up, as long as it says', async () => {
    const world = await connectedWorld(smallTenant())
    world.google.faults.push(
      quotaExceeded('/groups?', 2, 'userRateLimitExceeded'),
      quotaExceeded('/members', 1, 'quotaExceeded', { 'retry-after': '7' }),
    )
    world.google.faults.push(failing('/domains', 1), unreachable('/users?', 1), answering('/users?', '', 429, 1))
    world.waits.length = 0
    await refresh(world)
    expect(world.waits).toHaveLength(6)
    expect(world.waits).toContain(7_000)
  })

  it.each([
    ['fails to the end', failing('/groups/g2/members', 100), 'away'],
    ['answers a page of something else', answering('/groups?', { kind: 'admin#directory#users', users: [] }), 'garbage'],
    ['answers no JSON', answering('/users?', '<html>'), 'garbage'],
    [
      'answers an account that does not say whether it is suspended',
      answering('/users?', {
        kind: 'admin#directory#users',
        users: [{ kind: 'admin#directory#user', id: '1', primaryEmail: 'ada@acme.example' }],
      }),
      'garbage',
    ],
    ['has no account at all', answering('/users?', { kind: 'admin#directory#users' }), 'garbage'],
    [
      'names a page as its own next',
      answering('/groups?', { kind: 'admin#directory#groups', groups: [], nextPageToken: 'again' }),
      'garbage',
    ],
    ['redirects', answering('/domains', '', 302), 'garbage'],
    ['has no domain at all', answering('/domains', { kind: 'admin#directory#domains' }), 'garbage'],
    ['says no', answering('/groups?', { error: { code: 403, errors: [{ reason: 'forbidden' }] } }, 403), 'refused'],
  ])('keeps the snapshot before when Google %s', async (_, fault, code) => {
    const world = await connectedWorld(smallTenant())
    await refresh(world)
    const before = await namesOf(world)
    world.clock.at += MINUTE
    world.google.faults.push(fault)
    await expect(refresh(world)).rejects.toMatchObject({ name: 'GoogleError', code })
    expect(await namesOf(world)).toEqual(before)
    if (code !== 'refused') expect(await directoryOf(world).resolve(ADA)).toMatchObject({ state: 'live' })

    world.google.faults.length = 0
    world.google.tenant.groups.push({
      id: 'g9',
      address: 'new@acme.example',
      members: [{ type: 'USER', id: '1', address: 'ada@acme.example' }],
    })
    await refresh(world)
    expect(await directoryOf(world).resolve(ADA)).toMatchObject({ groups: expect.arrayContaining(['new@acme.example']) })
  })

  it('trusts nothing more once the key is revoked, and all again when it has another', async () => {
    const world = await connectedWorld(smallTenant())
    await refresh(world)
    world.google.revokeKey()
    await expect(refresh(world)).rejects.toMatchObject({ code: 'refused' })
    await expect(directoryOf(world).resolve(ADA)).rejects.toMatchObject({
      code: 'Unavailable',
      message: expect.stringContaining('probe_failed'),
    })
  })

  it('refuses a key that opens another Workspace than the one it is kept for', async () => {
    const world = await connectedWorld(smallTenant())
    const { id } = world.google.tenant
    world.google.tenant = { ...world.google.tenant, id: 'C09other' }
    await expect(refreshWorkspace(id, slice(world), world.parts)).rejects.toMatchObject({ code: 'tenant' })
    await expect(directoryOf(world).resolve(ADA)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('has a new token drawn when the one it has ends before its time', async () => {
    const world = await connectedWorld(smallTenant())
    await refresh(world)
    world.google.endTokens()
    world.clock.at += MINUTE
    await refresh(world)
    expect(world.google.requests.filter((request) => request === 'POST /token')).toHaveLength(3) // of connecting, and two
  })

  it('reads the groups that are synced and what is nested in them, and no others', async () => {
    const world = await connectedWorld(smallTenant(), { sync_groups: ['engineering@acme.example'] })
    await refresh(world)
    expect(world.google.requests.filter((request) => request.includes('/members')).map((request) => request.split('/').at(-2))).toEqual([
      'g1',
      'g2',
    ])
    expect(await directoryOf(world).resolve(ADA)).toMatchObject({ groups: ['engineering@acme.example'] })
  })

  it('takes pages of members that go round in a circle for garbage', async () => {
    const world = await connectedWorld(smallTenant())
    const naming = (on: string, nextPageToken: string) => answering(on, { kind: 'admin#directory#members', members: [], nextPageToken })
    world.google.faults.push(naming('pageToken=a', 'b'), naming('pageToken=b', 'a'), naming('/groups/g2/members', 'a'))
    await expect(refreshWorkspace('C01acme', slice(world), world.parts)).rejects.toMatchObject({ name: 'GoogleError', code: 'garbage' })
  })

  it('begins anew what was begun for other groups or domains than are wanted now', async () => {
    const world = await connectedWorld(generatedTenant({ people: 900, groups: 60, seed: 3 }), { sync_groups: ['team-1@acme.example'] })
    const { id } = world.google.tenant
    expect(await refreshWorkspace(id, slice(world, 20), world.parts)).toBe('more')
    world.clock.at += 1_000
    await connectWorkspace({ key: world.google.keyFile, admin: ADMIN, by: 'operator', sync_groups: [] }, world.parts)
    await refresh(world)
    expect(await directoryOf(world).resolve(personId('person.9@acme.example'))).toMatchObject({
      groups: naiveGroups(world.google.tenant, 'person.9@acme.example'),
    })
  })

  it('begins anew what was begun too long ago, and takes what was given up away', async () => {
    const world = await connectedWorld(generatedTenant({ people: 700, groups: 90, seed: 3 }))
    const { id } = world.google.tenant
    expect(await refreshWorkspace(id, slice(world, 60), world.parts)).toBe('more')
    const first = await namesOf(world)
    expect(first.length).toBeGreaterThan(2)
    world.clock.at += 26 * MINUTE
    expect(await refreshWorkspace(id, slice(world, 60), world.parts)).toBe('more')
    await refresh(world)
    world.clock.at += 70 * MINUTE
    await refresh(world)
    expect((await namesOf(world)).filter((name) => first.includes(name))).toEqual([`google/cache/${id}/manifest`])
  })

  it('comes to an end however many slices it takes, and says so where one may make too few calls to get on', async () => {
    const world = await connectedWorld(generatedTenant({ people: 230, groups: 260, seed: 8, each: 3 }))
    expect(await refresh(world, 36)).toBeGreaterThan(15)
    expect(await directoryOf(world).resolve(personId('person.9@acme.example'))).toMatchObject({
      groups: naiveGroups(world.google.tenant, 'person.9@acme.example'),
    })
    world.clock.at += MINUTE
    await expect(refresh(world, 16)).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining('too few calls') })
  })

  it('reads a group of more members than one slice has calls for', async () => {
    const tenant = smallTenant()
    const [, , staff] = tenant.groups
    for (let n = 0; n < 4_000; n++) staff?.members.push({ type: 'EXTERNAL', id: `x${n}`, address: `x${n}@elsewhere.example` })
    const world = await connectedWorld(tenant)
    expect(await refresh(world, 36)).toBeGreaterThan(1)
    expect(await directoryOf(world).resolve(ADA)).toMatchObject({ groups: naiveGroups(tenant, ADA) })
  })

  it('is a tick of each connected Workspace, and skips one that is not connected any more', async () => {
    const world = await connectedWorld(smallTenant())
    const ticks = googleTicks(world.parts)
    expect((await ticks.refreshes()).map(({ kind, target, every }) => ({ kind, target, every }))).toEqual([
      { kind: 'refresh', target: 'C01acme', every: 15 },
    ])
    expect(await ticks.refresh('C00none').run(slice(world))).toBe('skipped')
    expect(await ticks.probe.idle?.()).toBe(false)
    expect(await refreshWorkspace('C00none', slice(world), world.parts)).toBe('skipped')
  })
})
