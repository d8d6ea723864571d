import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type BlobMemory, blobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { memorySecrets } from '../../src/adapters/memory/secrets.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { clientMaker } from '../../src/directory/google/clients.ts'
import { googleDirectory } from '../../src/directory/google/google.ts'
import { readManifest } from '../../src/directory/google/manifest.ts'
import { refreshWorkspace } from '../../src/directory/google/refresh.ts'
import { connectWorkspace } from '../../src/directory/google/workspaces.ts'
import type { Blob } from '../../src/ports/blob.ts'
import { personId } from '../../src/ports/keys.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { budgetOf } from '../../src/ticks/budget.ts'
import { fakeGoogle } from '../../test/google/fake-google.ts'
import { ADMIN, generatedTenant } from '../../test/google/tenant.ts'

export interface DirectorySize {
  people: number
  groups: number
  /** Groups that one person is a direct member of, on average. */
  each: number
  /** What one invocation may call. */
  calls: number
}

/** Of one refresh of a whole directory, and of reading people from what it wrote. Times in ms, sizes in bytes. */
export interface DirectoryFigures {
  slices: number
  calls: number
  /** The most that one slice called. */
  mostCalls: number
  /** CPU of the whole, what the fake Google takes included. */
  cpu: number
  /** The most that was alive beside the tenant and the objects, of every 25th request and write. */
  memory: number
  buckets: number
  largestBucket: number
  manifest: number
  objects: number
  /** Reads of one person by an isolate that has read nothing yet, and CPU of it. */
  reads: number
  cold: number
  /** CPU of a person whose bucket the isolate has. */
  warm: number
}

/** What the issue asks for. */
export const LARGE: DirectorySize = { people: 10_000, groups: 2_000, each: 12, calls: 800 }

/** Prints a refresh of a large Workspace, beside what the platform allows. */
export async function benchDirectory(size = LARGE): Promise<string> {
  const figures = await measureDirectory(size)
  const MIB = 1_048_576
  const lines = [
    `directory: ${size.people} people, ${size.groups} groups, slices of ${size.calls} calls`,
    `  refresh: ${figures.slices} slices, ${figures.calls} calls, at most ${figures.mostCalls} in one; ${figures.cpu.toFixed(0)} ms CPU with the fake Google's`,
    `  memory: ${(figures.memory / MIB).toFixed(1)} MiB of what is allowed, 64`,
    `  objects: ${figures.buckets} buckets, the largest ${figures.largestBucket} bytes of 65536; manifest ${figures.manifest}; all ${(figures.objects / MIB).toFixed(2)} MiB`,
    `  one person: ${figures.reads} reads, ${figures.cold.toFixed(2)} ms CPU in a new isolate, ${figures.warm.toFixed(3)} ms with the bucket kept`,
  ]
  return lines.join('\n')
}

/** Refreshes a generated Workspace on the memory adapters, in slices, and reads people from it. */
export async function measureDirectory({ people, groups, each, calls }: DirectorySize): Promise<DirectoryFigures> {
  const clock = { now: () => Date.now() }
  const tenant = generatedTenant({ people, groups, each, seed: 1 })
  const google = await fakeGoogle({ tenant, clock })
  const objects = blobMemory()
  const meter = memoryMeter(objects)
  const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
  const secrets = memorySecrets({ clock })
  const reach = { fetch: meter.sampled(google.fetch), clock, random, endpoints: google.endpoints }
  const state = memoryState({ store: createMemoryStore(), clock, module: 'google' })
  const store = memoryBlob({ memory: objects })
  const blob: Blob = { ...store, write: meter.sampled(store.write) }
  const clients = clientMaker({ secrets, ...reach })
  const parts = { ...reach, state, blob, secrets, clients, trigger: { notify: async () => {} }, log: noLog }
  await connectWorkspace({ key: google.keyFile, admin: ADMIN, by: 'operator' }, parts)

  meter.start()
  const before = process.cpuUsage()
  const spent: number[] = []
  for (let outcome = 'more'; outcome === 'more'; ) {
    const budget = budgetOf(calls)
    const { signal } = new AbortController()
    outcome = await refreshWorkspace(tenant.id, { signal, check() {}, budget, report() {}, deadline: clock.now() + 600_000 }, parts)
    spent.push(calls - budget.left())
  }
  const cpu = cpuSince(before) - meter.collecting()
  const manifest = (await readManifest(blob, tenant.id))?.manifest.snapshot
  if (!manifest) throw new Error('the refresh left no snapshot')
  const sizes = [...objects.objects].map(([name, { body }]) => ({ name, size: body.length }))
  const bucketSizes = sizes.filter(({ name }) => /\/[0-9]+$/.test(name)).map(({ size }) => size)
  return {
    slices: spent.length,
    calls: spent.reduce((sum, count) => sum + count, 0),
    mostCalls: Math.max(...spent),
    cpu,
    memory: meter.peak(),
    buckets: manifest.buckets,
    largestBucket: Math.max(...bucketSizes),
    manifest: sizes.find(({ name }) => name.endsWith('/manifest'))?.size ?? 0,
    objects: sizes.reduce((sum, { size }) => sum + size, 0),
    ...(await measureReads({ ...parts, people })),
  }
}

async function measureReads(parts: Omit<Parameters<typeof googleDirectory>[0], 'blob'> & { blob: Blob; people: number }) {
  const ISOLATES = 200
  let reads = 0
  const counted = {
    read(name: string) {
      reads += 1
      return parts.blob.read(name)
    },
  }
  const isolates = Array.from({ length: ISOLATES }, (_, n) => ({
    directory: googleDirectory({ ...parts, blob: counted }),
    person: personId(`person.${1 + ((n * 37) % (parts.people - 1))}@acme.example`),
  }))
  const pass = async () => {
    const before = process.cpuUsage()
    for (const { directory, person } of isolates) await directory.resolve(person)
    return cpuSince(before) / ISOLATES
  }
  const cold = await pass()
  return { reads: reads / ISOLATES, cold, warm: await pass() }
}

function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

/** What is alive, told by collecting all else: of every 25th call, for collecting takes its time. */
function memoryMeter({ objects }: BlobMemory) {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  let base = 0
  let peak = 0
  let took = 0
  let calls = 0
  const alive = () => {
    const before = process.cpuUsage()
    collect()
    took += cpuSince(before)
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    return heapUsed + arrayBuffers - [...objects.values()].reduce((sum, { body }) => sum + body.length, 0)
  }
  return {
    start() {
      base = alive()
      took = 0
    },
    sampled<Call extends unknown[], Answer>(call: (...asked: Call) => Promise<Answer>): (...asked: Call) => Promise<Answer> {
      return (...asked) => {
        calls += 1
        if (base > 0 && calls % 25 === 0) peak = Math.max(peak, alive() - base)
        return call(...asked)
      }
    },
    peak: () => peak,
    collecting: () => took,
  }
}
