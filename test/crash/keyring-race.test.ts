import { env } from 'cloudflare:workers'
import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import type { SigningAlg } from '../../src/config/values.ts'
import { generateKeyPair } from '../../src/keyring/key-pair.ts'
import type { Keyring } from '../../src/keyring/keyring.ts'
import { keys } from '../../src/ports/keys.ts'
import type { State } from '../../src/ports/state.ts'
import { claims, copyOf, isolate, type MovingClock, movingClock, random, settings } from './keyring-builders.ts'

const RACERS = 100
const RINGS = ['ES256', 'RS256'] as const

// An RSA pair takes a tenth of a second: racers draw from a few, each still another than its neighbour's.
const rsa = await Promise.all([1, 2, 3].map(() => generateKeyPair('RS256')))

describe.each([1, 2, 3])('a hundred isolates on an empty store, in order %d', (seed) => {
  it('make one key a ring, and all sign with it and verify each other', async () => {
    const [clock, store, scheduler] = [movingClock(), createMemoryStore(), seededScheduler(seed)]
    const racers = isolates(clock, () => memoryState({ store, clock, module: 'oidc', scheduler }))

    await expectOneKeyARing(racers, clock, memoryState({ store, clock, module: 'oidc' }))
  })
})

describe('a hundred isolates on an empty Durable Object', () => {
  it('make one key a ring, and all sign with it and verify each other', async () => {
    const clock = movingClock()
    const open = () => durableObjectState({ namespace: env.STATE_SHARD, instance: 'keyring-race', module: 'oidc', clock, random })

    await expectOneKeyARing(isolates(clock, open), clock, open())
  })
})

function isolates(clock: MovingClock, open: () => State): Keyring[] {
  return Array.from({ length: RACERS }, (_, n) => {
    const generate = async (alg: SigningAlg) => (alg === 'RS256' ? copyOf(rsa[n % rsa.length]) : generateKeyPair(alg))
    return isolate({ state: open(), clock, settings: settings({ rings: [...RINGS] }), generate })
  })
}

/** First calls of every kind at once: a third publish, the others sign. */
async function expectOneKeyARing(racers: Keyring[], clock: MovingClock, state: State): Promise<void> {
  const tokens = await Promise.all(
    racers.map(async (keyring, n) => {
      if (n % 3 === 0) await keyring.keySet()
      return keyring.sign(RINGS[n % RINGS.length] ?? 'ES256', 'at+jwt', claims(clock))
    }),
  )

  for (const alg of RINGS) {
    const { entries } = await state.list(keys.signingKeys(alg))
    expect(entries).toHaveLength(1)
    const signed = tokens.filter((_, n) => RINGS[n % RINGS.length] === alg).map((token) => decodeProtectedHeader(token).kid)
    expect(new Set(signed.map((kid) => keys.signingKey(alg, String(kid))))).toEqual(new Set(entries.map(({ key }) => key)))
  }
  for (const keyring of racers) {
    const verified = await Promise.all(tokens.map((token) => keyring.verify(token, { typ: ['at+jwt'] })))
    expect(verified.filter((one) => one === null)).toEqual([])
  }
  const published = await Promise.all(racers.map((keyring) => keyring.keySet()))
  expect(new Set(published.map((set) => JSON.stringify(set))).size).toBe(1)
}
