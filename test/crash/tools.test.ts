import { describe, expect, it } from 'vitest'
import type { Adapters } from '../../src/compose.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { testStore } from '../flows/harness.ts'
import { gaps } from './between-calls.ts'
import { countCalls } from './count-calls.ts'
import { misfortune } from './faults.ts'
import { interleaving, seeded } from './interleave.ts'
import { noteCalls, type PortCall, spelled } from './port-calls.ts'

const VALUE = utf8('v')
const memory = () => testStore('memory')

/** Two calls one after the other, then three at once: two to write, one to read. */
async function flow({ state, index }: Adapters, name: string): Promise<string> {
  await state.get(`tok.${name}`)
  await state.create(`tok.${name}`, VALUE, 60)
  await Promise.all([state.create(`sid.${name}`, VALUE, 60), index.add('issuer:sso-of:ada', name, 60), state.get('tok.other')])
  return name
}

async function written(adapters: Adapters, name: string): Promise<string[]> {
  const found = await Promise.all([`tok.${name}`, `sid.${name}`].map((key) => adapters.state.get(key)))
  return [...found.flatMap((entry) => entry?.key ?? []), ...(await adapters.index.members('issuer:sso-of:ada'))]
}

describe('the counter', () => {
  it('counts calls made together as one round, and so those of several isolates', async () => {
    const [store, counter] = [memory(), countCalls()]
    await flow(counter.wrap(store.adapters()), 'a')
    expect(counter.count()).toEqual({ writes: 3, reads: 2, rounds: 3 })

    counter.reset()
    await Promise.all([flow(counter.wrap(store.adapters()), 'b'), flow(counter.wrap(store.adapters()), 'c')])
    expect(counter.count()).toEqual({ writes: 6, reads: 4, rounds: 3 })
  })
})

describe('a misfortune at the fourth call, one of three made at once', () => {
  it.each([
    ['stops', 'stopped', ['tok.a', 'sid.a', 'a']],
    ['loses the answer', 'Unavailable', ['tok.a', 'sid.a', 'a']],
    ['fails', 'Unavailable', ['tok.a', 'sid.a']],
    ['goes down', 'Unavailable', ['tok.a', 'sid.a']],
  ] as const)('%s: it is seen as it should be, and the store holds what was applied', async (fault, seen, left) => {
    const [store, luck] = [memory(), misfortune()]
    const adapters = luck.wrap(store.adapters())
    luck.strikes(fault, 4)
    const outcome = await luck.outcome(flow(adapters, 'a').catch((error) => error.code))
    expect(outcome).toBe(seen)
    expect(await written(store.adapters(), 'a')).toEqual(left)
  })

  it('leaves the calls after it unanswered when it stops, and alone otherwise', async () => {
    const [store, luck] = [memory(), misfortune()]
    const adapters = luck.wrap(store.adapters())
    luck.strikes('stops', 1)
    expect(await luck.outcome(flow(adapters, 'a'))).toBe('stopped')
    expect(await luck.outcome(adapters.state.create('tok.b', VALUE, 60))).toBe('stopped')
    expect(await store.adapters().state.get('tok.b')).toBeNull()

    const other = misfortune()
    const others = other.wrap(store.adapters())
    other.strikes('goes down', 1)
    await expect(others.state.get('tok.c')).rejects.toMatchObject({ code: 'Unavailable' })
    other.mend()
    expect(await others.state.get('tok.c')).toBeNull()
  })
})

describe('a gap', () => {
  it('lets others in between two calls of one turn', async () => {
    const [store, between] = [memory(), gaps()]
    const seen: string[][] = []
    for (let nth = 0; nth <= 5; nth++) between.after(nth, async () => void seen.push(await written(store.adapters(), 'a')))
    await flow(between.wrap(store.adapters()), 'a')
    expect(seen).toEqual([[], [], ['tok.a'], ['tok.a', 'sid.a'], ['tok.a', 'sid.a', 'a'], ['tok.a', 'sid.a', 'a']])
    expect(spelled(between.calls).slice(0, 2)).toEqual(['get tok.a', 'create tok.a'])
  })
})

describe('an interleaving', () => {
  /** The order in which the calls of three flows took effect. */
  async function order(seed: number): Promise<string> {
    const [store, race] = [memory(), interleaving(seeded(seed))]
    const calls: PortCall[] = []
    const racers = ['a', 'b', 'c'].map((name) => ({ name, racer: race.racer() }))
    await Promise.all(racers.map(({ name, racer }) => racer.run(() => flow(racer.wrap(noteCalls(store.adapters(), calls)), name))))
    return spelled(calls).join(', ')
  }

  it('is the same for the same seed, and for a hundred seeds nearly a hundred others', async () => {
    const orders = await Promise.all(Array.from({ length: 100 }, (_, seed) => order(seed)))
    expect(await order(7)).toBe(orders[7])
    expect(new Set(orders).size).toBeGreaterThan(90)
  })
})
