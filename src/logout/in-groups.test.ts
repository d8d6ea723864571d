import { describe, expect, it } from 'vitest'
import { inGroups } from './in-groups.ts'

const items = Array.from({ length: 30 }, (_, n) => n)

describe('work in groups', () => {
  it('is done on each item, twelve at once, and answered in their order', async () => {
    let underWay = 0
    let most = 0
    const done = await inGroups(items, async (n) => {
      most = Math.max(most, ++underWay)
      await scheduler.wait(n % 3)
      underWay--
      return 2 * n
    })
    expect(done).toEqual(items.map((n) => 2 * n))
    expect(most).toBe(12)
  })

  it('is tried on all of them before the first failure is thrown', async () => {
    const tried: number[] = []
    const work = inGroups(items, async (n) => {
      tried.push(n)
      if (n === 3 || n === 20) throw new Error(`failed at ${n}`)
    })
    await expect(work).rejects.toThrow('failed at 3')
    expect(tried).toEqual(items)
  })
})
