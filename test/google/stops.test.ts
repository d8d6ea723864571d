import { describe, expect, it } from 'vitest'
import { type BlobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { clientMaker } from '../../src/directory/google/clients.ts'
import { refreshWorkspace } from '../../src/directory/google/refresh.ts'
import type { RefreshSlice } from '../../src/directory/google/refresh-slice.ts'
import type { Blob } from '../../src/ports/blob.ts'
import { PortError } from '../../src/ports/error.ts'
import { personId } from '../../src/ports/keys.ts'
import { connectedWorld, directoryOf, MINUTE, slice, type World } from './arrange.ts'
import { generatedTenant, inAccount, type Tenant } from './tenant.ts'

const CALLS = 26 // a slice: the refresh takes several
const PEOPLE = ['person.1', 'person.2', 'person.3', 'person.202'].map((name) => personId(`${name}@acme.example`))

/** Read once; then one group more that everybody is in, which the next refresh finds. */
async function readOnce(): Promise<{ world: World; start: BlobMemory }> {
  const world = await connectedWorld(generatedTenant({ people: 203, groups: 5, seed: 11, each: 2 }))
  while ((await refreshWorkspace(world.google.tenant.id, slice(world, CALLS), world.parts)) === 'more');
  world.clock.at += MINUTE
  grow(world.google.tenant)
  return { world, start: { objects: new Map(world.objects.objects), writes: world.objects.writes } }
}

function grow(tenant: Tenant): void {
  tenant.groups.push({ id: 'new', address: 'new@acme.example', members: tenant.accounts.map(inAccount) })
}

/** Whose answers a new isolate has: those of before the refresh, or of after. Between the two there is nothing. */
async function seen(world: World): Promise<'old' | 'new'> {
  const directory = directoryOf(world)
  const answers = await Promise.all(PEOPLE.map((person) => directory.resolve(person)))
  const isNew = answers.map((answer) => answer.state === 'live' && answer.groups.includes('new@acme.example'))
  expect(answers.every(({ state }) => state === 'live')).toBe(true)
  expect(new Set(isNew).size).toBe(1)
  return isNew[0] ? 'new' : 'old'
}

type Fault = 'stops' | 'fails' | 'loses the answer'

/** A slice whose nth call, of the store or of Google, has the fault; the calls it came to. */
async function struck(world: World, memory: BlobMemory, fault: Fault, nth: number): Promise<number> {
  let calls = 0
  const { promise: stopped, resolve: stop } = Promise.withResolvers<'stopped'>()
  const never = () => new Promise<never>(() => {})
  let dead = false
  async function call<T>(apply: () => Promise<T>): Promise<T> {
    if (dead) return never()
    calls += 1
    if (calls !== nth) return apply()
    if (fault === 'fails') throw new PortError('Unavailable', 'a test has it that this call fails')
    const answer = await apply()
    if (fault === 'loses the answer') throw new PortError('Unavailable', 'a test has it that this answer is lost')
    void answer
    dead = true
    stop('stopped')
    return never()
  }
  const store = memoryBlob({ memory })
  const blob: Blob = {
    ...store,
    read: (name) => call(() => store.read(name)),
    write: (name, body) => call(() => store.write(name, body)),
    writeIfVersion: (name, body, version) => call(() => store.writeIfVersion(name, body, version)),
    delete: (name) => call(() => store.delete(name)),
    list: (prefix) => call(() => store.list(prefix)),
  }
  const { parts, google } = world
  const clients = clientMaker({ ...parts, endpoints: google.endpoints, fetch: (...asked) => call(() => google.fetch(...asked)) })
  const refresh = async () => {
    for (let outcome = 'more'; outcome === 'more'; )
      outcome = await refreshWorkspace(google.tenant.id, slice(world, CALLS), { ...parts, blob, clients })
  }
  await Promise.race([refresh().catch(() => undefined), stopped])
  return calls
}

describe('a refresh that is cut short', () => {
  it.each<Fault>(['stops', 'fails', 'loses the answer'])(
    'leaves the old snapshot or the new one when any of its calls %s, and the next makes it new',
    async (fault) => {
      const { world, start } = await readOnce()
      const copy = (): BlobMemory => ({ objects: new Map(start.objects), writes: start.writes })
      const total = await struck(world, copy(), fault, 0)
      expect(total).toBeGreaterThan(30)
      const outcomes = new Set<string>()
      for (let nth = 1; nth <= total; nth++) {
        const memory = copy()
        await struck(world, memory, fault, nth)
        const after = { ...world, parts: { ...world.parts, blob: memoryBlob({ memory }) } }
        outcomes.add(await seen(after))
        while ((await refreshWorkspace(world.google.tenant.id, slice(world), after.parts)) === 'more');
        expect(await seen(after)).toBe('new')
        checkWhole(memory)
        expect([...memory.objects.keys()].filter((name) => name.includes('/work/'))).toEqual([])
      }
      expect([...outcomes].sort()).toEqual(['new', 'old'])
    },
  )

  it('writes nothing more once its lease is lost', async () => {
    const { world } = await readOnce()
    let checks = 0
    const lost: RefreshSlice = {
      ...slice(world),
      check() {
        checks += 1
        if (checks > 1) throw new PortError('Unavailable', 'the lease was lost')
      },
    }
    await expect(refreshWorkspace(world.google.tenant.id, lost, world.parts)).rejects.toMatchObject({ code: 'Unavailable' })
    const { writes } = world.objects
    expect(writes).toBeGreaterThan(0)
    expect(await seen(world)).toBe('old')
  })
})

describe('two refreshes of one Workspace at once', () => {
  it.each(Array.from({ length: 6 }, (_, seed) => seed))(
    'never have the manifest name an object that is not there (order %i)',
    async (seed) => {
      const { world, start } = await readOnce()
      const memory: BlobMemory = { objects: new Map(start.objects), writes: start.writes }
      const scheduler = seededScheduler(seed)
      const store = memoryBlob({ memory, scheduler })
      const checked = async <T>(done: Promise<T>): Promise<T> => {
        const answer = await done
        checkWhole(memory)
        return answer
      }
      const blob: Blob = {
        ...store,
        write: (name, body) => checked(store.write(name, body)),
        writeIfVersion: (name, body, version) => checked(store.writeIfVersion(name, body, version)),
        delete: (name) => checked(store.delete(name)),
      }
      const parts = { ...world.parts, blob }
      const { id } = world.google.tenant
      // In half of the orders both go on with a reading that was begun before.
      if (seed % 2 === 0) expect(await refreshWorkspace(id, slice(world, CALLS), parts)).toBe('more')
      const run = async () => {
        for (let outcome = 'more'; outcome === 'more'; ) outcome = await refreshWorkspace(id, slice(world, CALLS), parts)
      }
      const ran = await Promise.allSettled([run(), run()])
      expect(ran.some(({ status }) => status === 'fulfilled')).toBe(true)
      expect(await seen({ ...world, parts: { ...world.parts, blob: memoryBlob({ memory }) } })).toBe('new')
    },
  )
})

/** Whatever else lies about: what the manifest names is there. */
function checkWhole({ objects }: BlobMemory): void {
  const [manifest] = [...objects].filter(([name]) => name.endsWith('/manifest'))
  if (manifest === undefined) return
  const { snapshot } = JSON.parse(new TextDecoder().decode(manifest[1].body))
  if (snapshot === null) return
  const folder = manifest[0].replace('manifest', snapshot.version)
  const wanted = [...Array.from({ length: snapshot.buckets }, (_, bucket) => `${folder}/${bucket}`), `${folder}/nesting`]
  expect(wanted.filter((name) => !objects.has(name))).toEqual([])
}
