import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { slotKid } from '../../src/keyring/slot.ts'
import { keys } from '../../src/ports/keys.ts'
import { claims, isolate, movingClock, seeded, settings } from './keyring-builders.ts'

const ISOLATES = 50
const RINGS = ['ES256', 'ES384'] as const
const PERIOD = 21_600 // s: four rotations in the day
const TICK = 300 // s
const DAY = 86_400 // s

describe.each([1, 2])('fifty isolates on one store, empty at the start of a day, in order %d', (seed) => {
  it('come to one schedule: one key a period and ring, which all sign with and all verify', async () => {
    const [clock, store, scheduler, draw] = [movingClock(), createMemoryStore(), seededScheduler(seed), seeded(seed)]
    const rings = settings({ rings: [...RINGS], rotate_every: PERIOD })
    const all = Array.from({ length: ISOLATES }, () =>
      isolate({ state: memoryState({ store, clock, module: 'oidc', scheduler }), clock, settings: rings }),
    )
    const start = clock.seconds()
    const signedBy = new Map<string, Set<unknown>>(RINGS.map((alg) => [alg, new Set()]))

    for (let at = start; at < start + DAY; at += TICK) {
      // Some run their tick, others serve, all at once; who it is changes every time.
      await Promise.all(
        all.map(async (one, n) => {
          if (draw(10) === 0) {
            await one.keySet()
            await one.rotate()
          }
          if (at === start || draw(20) === 0) await one.sign(RINGS[n % RINGS.length] ?? 'ES256', 'JWT', claims(clock))
        }),
      )
      clock.move(draw(TICK)) // caches are of different ages
      if ((at - start) % (18 * TICK) === 0) await expectOneSigner(all, signedBy)
      clock.move(at + TICK - clock.seconds())
    }

    const made = all.flatMap(({ lines }) => lines.filter(({ event }) => event === 'keyring.first_key' || event === 'keyring.next_key'))
    for (const alg of RINGS) {
      const kids = made.filter((line) => line.alg === alg).map(({ kid }) => kid)
      const periods = Array.from({ length: DAY / PERIOD - 1 }, (_, n) => Math.floor(start / PERIOD + n + 1) * PERIOD)
      const expected = [0, ...periods].map((period) => slotKid({ instance: 'acme', alg, period, counter: 0 }))
      expect(kids.sort()).toEqual((await Promise.all(expected)).sort())
      expect([...(signedBy.get(alg) ?? [])].sort()).toEqual(kids)
    }
    const state = memoryState({ store, clock, module: 'oidc' })
    for (const alg of RINGS) expect((await state.list(keys.signingKeys(alg))).entries.length).toBeLessThanOrEqual(2)
  })
})

async function expectOneSigner(all: ReturnType<typeof isolate>[], signedBy: Map<string, Set<unknown>>): Promise<void> {
  const clock = { now: () => 0 }
  for (const alg of RINGS) {
    const tokens = await Promise.all(all.map((one) => one.sign(alg, 'JWT', claims(clock))))
    const kids = new Set(tokens.map((token) => decodeProtectedHeader(token).kid))
    expect(kids.size, `signers of ${alg} at one moment`).toBe(1)
    for (const kid of kids) signedBy.get(alg)?.add(kid)
    const [token = ''] = tokens
    for (const one of all) expect(await one.verify(token, { typ: ['JWT'] })).not.toBeNull()
  }
}
