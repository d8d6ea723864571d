import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import type { SealedSecretsNamespace } from '../../src/adapters/sealed/secrets.ts'

export interface Trouble {
  /** Waits before a call reaches the object and after it has answered. */
  delay(): Promise<void>
  /** Asked after each call was applied: true throws its answer away. */
  loses(): boolean
  /** Tears the object down after a lost answer, so that what follows is answered from its storage alone. */
  evicts: boolean
}

/** The tests' binding, with a network between that is slow and loses answers after the call was applied. */
export function unreliableObjects({ delay, loses, evicts }: Trouble): SealedSecretsNamespace {
  return {
    getByName(name) {
      const stub = env.SEALED_SECRETS.getByName(name)
      const troubled = async <T>(call: () => Promise<T>): Promise<T> => {
        await delay()
        const answer = await call()
        await delay()
        if (!loses()) return answer
        // Another racer's eviction may be under way: then there is nothing left to evict.
        if (evicts) await evictDurableObject(stub).catch(() => undefined)
        throw new Error('Network connection lost.')
      }
      return {
        read: (path, withPrevious) => troubled(() => stub.read(path, withPrevious)),
        put: (write) => troubled(() => stub.put(write)),
        putIfVersion: (write, expected) => troubled(() => stub.putIfVersion(write, expected)),
        remove: (path) => troubled(() => stub.remove(path)),
        list: (prefix) => troubled(() => stub.list(prefix)),
        stale: (header, after, limit) => troubled(() => stub.stale(header, after, limit)),
        countStale: (header) => troubled(() => stub.countStale(header)),
        reseal: (seals) => troubled(() => stub.reseal(seals)),
      }
    },
  }
}

/** Loses the answer of every second call, the first one first: of a call and its repeat, one gets through. */
export function everySecond(): () => boolean {
  let calls = 0
  return () => calls++ % 2 === 0
}

/** 0 to 5 ms, another order of arrival every time. */
export function someDelay(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 5))
}
