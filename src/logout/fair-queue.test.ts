import { describe, expect, it } from 'vitest'
import { fairQueue } from './fair-queue.ts'

function items(...clients: string[]) {
  return clients.map((client_id, n) => ({ client_id, n }))
}

describe('the queue', () => {
  it('gives each once, then nothing', () => {
    const all = items('a', 'b', 'a')
    const queue = fairQueue(all)
    const taken = all.map(() => queue.take())
    expect(new Set(taken)).toEqual(new Set(all))
    expect(queue.take()).toBeUndefined()
  })

  it('serves a client with few before one with many gets its second', () => {
    const queue = fairQueue(items('a', 'a', 'a', 'a', 'b', 'c'))
    expect([queue.take(), queue.take(), queue.take()].map((item) => item?.client_id)).toEqual(['a', 'b', 'c'])
  })

  it('passes over a client whose calls are still under way while another waits', () => {
    const queue = fairQueue(items('slow', 'slow', 'slow', 'quick', 'quick', 'quick'))
    queue.take()
    const order: (string | undefined)[] = []
    for (let turn = 0; turn < 3; turn++) {
      const item = queue.take()
      order.push(item?.client_id)
      if (item !== undefined) queue.done(item)
    }
    expect(order).toEqual(['quick', 'quick', 'quick'])
  })

  it('gives what is free to one client when no other waits', () => {
    const queue = fairQueue(items('a', 'a', 'a'))
    expect([queue.take(), queue.take(), queue.take()].map((item) => item?.n)).toEqual([0, 1, 2])
  })

  it('drops all that waits for a client, and of no other', () => {
    const queue = fairQueue(items('a', 'a', 'a', 'b'))
    queue.take()
    expect(queue.drop('a').map(({ n }) => n)).toEqual([1, 2])
    expect(queue.take()?.client_id).toBe('b')
    expect(queue.take()).toBeUndefined()
    expect(queue.drop('a')).toEqual([])
    expect(queue.drop('c')).toEqual([])
  })
})
