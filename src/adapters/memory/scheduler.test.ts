import { describe, expect, it } from 'vitest'
import { seededScheduler } from './scheduler.ts'

/** Who got how far in which order, of `racers` that pause three times each. */
async function orderUnder(seed: number, racers = 4): Promise<string> {
  const { pause } = seededScheduler(seed)
  const order: string[] = []
  const run = async (racer: number) => {
    for (let step = 0; step < 3; step++) {
      await pause()
      order.push(`${racer}.${step}`)
    }
  }
  await Promise.all(Array.from({ length: racers }, (_, racer) => run(racer)))
  return order.join(' ')
}

const seeds = Array.from({ length: 100 }, (_, seed) => seed)

describe('a seeded scheduler', () => {
  it('goes the same way under the same seed and another way under another', async () => {
    const orders = await Promise.all(seeds.map((seed) => orderUnder(seed)))
    expect(await Promise.all(seeds.map((seed) => orderUnder(seed)))).toEqual(orders)
    expect(new Set(orders).size).toBe(seeds.length)
  })

  it('lets every caller be first and every caller be last under some seed', async () => {
    const orders = await Promise.all(seeds.map((seed) => orderUnder(seed)))
    expect(new Set(orders.map((order) => order.split('.')[0]))).toEqual(new Set(['0', '1', '2', '3']))
    expect(new Set(orders.map((order) => order.split(' ').at(-1)))).toEqual(new Set(['0.2', '1.2', '2.2', '3.2']))
  })

  it('lets one caller pass another between two of its steps: a read and a write that are two steps lose one of two additions', async () => {
    const lost = async (seed: number) => {
      const { pause } = seededScheduler(seed)
      let count = 0
      const increment = async () => {
        await pause()
        const read = count
        await pause()
        count = read + 1
      }
      await Promise.all([increment(), increment()])
      return count === 1
    }
    const outcomes = await Promise.all(seeds.map(lost))
    expect(new Set(outcomes)).toEqual(new Set([true, false]))
  })

  it('waits for a caller that passes through other promises before its next pause', async () => {
    const winners = new Set<string>()
    for (const seed of seeds) {
      const { pause } = seededScheduler(seed)
      const order: string[] = []
      const straight = async () => {
        await pause()
        order.push('straight')
      }
      const roundabout = async () => {
        for (let tick = 0; tick < 12; tick++) await null
        await pause()
        order.push('roundabout')
      }
      await Promise.all([straight(), roundabout()])
      winners.add(order[0] ?? 'nobody')
    }
    expect(winners).toEqual(new Set(['straight', 'roundabout']))
  })

  it('lets a lone caller through', async () => {
    const { pause } = seededScheduler(7)
    await pause()
    await pause()
  })
})
