import { expect, it } from 'vitest'
import { random } from '../../test/conformance/arrange.ts'
import { handTime } from '../../test/conformance/hand-time.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { oneAtATime } from './one-at-a-time.ts'

function arrange() {
  const store = createMemoryStore()
  const time = handTime()
  const isolate = () => {
    const state = memoryState({ store, clock: time.clock, module: 'oidc' })
    return oneAtATime({ state, clock: time.clock, random, timer: time.timer }, 'secret')
  }
  return { store, time, isolate }
}

it('lets all who come together have their turn, one after the other', async () => {
  const { time, isolate } = arrange()
  let atWork = 0
  let most = 0
  const turn = async (n: number) => {
    atWork += 1
    most = Math.max(most, atWork)
    await new Promise<void>((resolve) => {
      time.timer.after(20, resolve)
    })
    atWork -= 1
    return n
  }
  const all = Promise.all(Array.from({ length: 8 }, (_, n) => isolate()('internal/oidc/a', () => turn(n))))
  await time.advance(30_000)
  expect(await all).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(most).toBe(1)
})

it('makes nobody wait for work on something else', async () => {
  const { time, isolate } = arrange()
  void isolate()('internal/oidc/a', () => new Promise(() => {}))
  await time.advance(0)
  expect(await isolate()('internal/oidc/b', async () => 'done')).toBe('done')
})

it('is Unavailable after ten seconds of waiting, which may be one pause more', async () => {
  const { time, isolate } = arrange()
  void isolate()('internal/oidc/a', () => new Promise(() => {}))
  let failed: unknown = null
  void isolate()('internal/oidc/a', () => expect.unreachable('it is not its turn')).catch((error: unknown) => {
    failed = error
  })
  await time.advance(9_900)
  expect(failed).toBeNull()
  await time.advance(1_100)
  expect(failed).toMatchObject({ code: 'Unavailable', message: expect.stringContaining('internal/oidc/a') })
})

it('tells the work that its turn is over, so that it writes no more', async () => {
  const { store, time, isolate } = arrange()
  const outcome = isolate()('internal/oidc/a', async (stillHeld) => {
    stillHeld()
    store.table('oidc').clear()
    await time.advance(60_000)
    stillHeld()
    return 'written'
  })
  await expect(outcome).rejects.toMatchObject({ code: 'Unavailable' })
})

it('keeps its lease under the name in key spelling, whatever the name holds', async () => {
  const { store, isolate } = arrange()
  const kept = await isolate()('external/oidc/my.app', async () => [...store.table('oidc').values()].map(({ lkey }) => lkey))
  expect(kept).toEqual(['lease.secret:external~2Foidc~2Fmy~2Eapp'])
})
