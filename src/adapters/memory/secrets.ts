import { PortError } from '../../ports/error.ts'
import type { Bytes, Clock } from '../../ports/platform.ts'
import { secretAddress, secretListing, secretToWrite } from '../../ports/secret-path.ts'
import type { Secret, Secrets } from '../../ports/secrets.ts'
import { atomically } from './atomically.ts'
import { type Scheduler, straight } from './scheduler.ts'

/** What several adapters over one memory share. */
export interface SecretsMemory {
  secrets: Map<string, Secret>
  writes: number
}

export function secretsMemory(): SecretsMemory {
  return { secrets: new Map(), writes: 0 }
}

export interface MemorySecretsOptions {
  clock: Clock
  memory?: SecretsMemory
  scheduler?: Scheduler
}

/** Secrets for tests, gone with the isolate. */
export function memorySecrets({ clock, memory = secretsMemory(), scheduler = straight }: MemorySecretsOptions): Secrets {
  return {
    async get(path, { previous: withPrevious = false } = {}) {
      const address = secretAddress(path)
      const kept = await atomically(scheduler, () => memory.secrets.get(address))
      if (!kept) throw new PortError('NotFound', `no secret at ${address}`)
      const secret: Secret = { value: kept.value.slice(), version: kept.version, modified: kept.modified }
      if (withPrevious && kept.previous) secret.previous = kept.previous.slice()
      return secret
    },

    async put(path, value) {
      const address = secretToWrite(path, value)
      const copy = value.slice()
      return await atomically(scheduler, () => write(address, copy))
    },

    async putIfVersion(path, value, version) {
      const address = secretToWrite(path, value)
      const copy = value.slice()
      return await atomically(scheduler, () => {
        const kept = memory.secrets.get(address)
        if (!kept && version !== null) throw new PortError('NotFound', `no secret at ${address}`)
        if (kept && kept.version !== version) throw new PortError('Conflict', `the secret at ${address} is of another version`)
        return write(address, copy)
      })
    },

    async delete(path) {
      const address = secretAddress(path)
      await atomically(scheduler, () => memory.secrets.delete(address))
    },

    async list(prefix) {
      const below = secretListing(prefix)
      // A path's grammar is ASCII, where JavaScript's order is the order of bytes.
      return await atomically(scheduler, () => [...memory.secrets.keys()].filter((path) => path.startsWith(below)).sort())
    },
  }

  function write(address: string, value: Bytes): string {
    const before = memory.secrets.get(address)
    memory.writes += 1
    const secret: Secret = { value, version: String(memory.writes), modified: clock.now() }
    if (before) secret.previous = before.value
    memory.secrets.set(address, secret)
    return secret.version
  }
}
