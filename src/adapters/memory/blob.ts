import { type Bytes, compareUtf8, concat } from '../../crypto/bytes.ts'
import type { Blob, BlobObject } from '../../ports/blob.ts'
import { PortError, toPortError } from '../../ports/error.ts'
import { atomically } from './atomically.ts'
import { type Scheduler, straight } from './scheduler.ts'

/** What several adapters over one memory share. */
export interface BlobMemory {
  objects: Map<string, BlobObject>
  writes: number
}

export function blobMemory(): BlobMemory {
  return { objects: new Map(), writes: 0 }
}

export interface MemoryBlobOptions {
  memory?: BlobMemory
  scheduler?: Scheduler
}

/** Objects for tests, gone with the isolate. An object without a name is Unsupported, as in every adapter. */
export function memoryBlob({ memory = blobMemory(), scheduler = straight }: MemoryBlobOptions = {}): Blob {
  return {
    async read(name) {
      const { body, version } = await atomically(scheduler, () => find(name))
      return { body: body.slice(), version }
    },

    async write(name, body) {
      const copy = body.slice()
      return await atomically(scheduler, () => replace(name, copy))
    },

    async writeIfVersion(name, body, version) {
      const copy = body.slice()
      return await atomically(scheduler, () => {
        if (find(name).version !== version) throw new PortError('Conflict', `${name} is of another version`)
        return replace(name, copy)
      })
    },

    async delete(name) {
      await atomically(scheduler, () => memory.objects.delete(named(name)))
    },

    async list(prefix) {
      return await atomically(scheduler, () => [...memory.objects.keys()].filter((name) => name.startsWith(prefix)).sort(compareUtf8))
    },

    async readStream(name) {
      const { body, version } = await atomically(scheduler, () => find(name))
      const chunks = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(body.slice())
          controller.close()
        },
      })
      return { body: chunks, version }
    },

    async writeStream(name, body) {
      named(name)
      const whole = await readAll(body)
      return await atomically(scheduler, () => replace(name, whole))
    },
  }

  function find(name: string): BlobObject {
    const object = memory.objects.get(named(name))
    if (!object) throw new PortError('NotFound', `no object ${name}`)
    return object
  }

  function replace(name: string, body: Bytes): string {
    memory.writes += 1
    const version = String(memory.writes)
    memory.objects.set(named(name), { body, version })
    return version
  }
}

function named(name: string): string {
  if (name === '') throw new PortError('Unsupported', 'an object has a name')
  return name
}

async function readAll(stream: ReadableStream<Uint8Array>): Promise<Bytes> {
  const chunks: Bytes[] = []
  try {
    for await (const chunk of stream) chunks.push(new Uint8Array(chunk))
  } catch (error) {
    throw toPortError(error, 'reading the stream to write')
  }
  return concat(...chunks)
}
