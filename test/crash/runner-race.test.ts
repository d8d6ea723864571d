import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { seededScheduler } from '../../src/adapters/memory/scheduler.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import type { State } from '../../src/ports/state.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { createRunner } from '../../src/ticks/runner.ts'
import { clock, random } from '../conformance/arrange.ts'
import { handTime } from '../conformance/hand-time.ts'
import { freshInstance } from '../conformance/shard-network.ts'
import { fakeObject, LEASE, tickOf } from './runner-builders.ts'

const RACERS = 100

describe.each([1, 2, 3])('a hundred isolates that run one target at once, in order %d', (seed) => {
  it('do it one at a time, and those that find it done by another succeed', async () => {
    const [store, scheduler] = [createMemoryStore(), seededScheduler(seed)]
    await expectOneAtATime(() => memoryState({ store, clock, module: 'oidc', scheduler }))
  })
})

describe('a hundred isolates that run one target at once on a Durable Object', () => {
  it('do it one at a time, and those that find it done by another succeed', async () => {
    const instance = freshInstance()
    await expectOneAtATime(() => durableObjectState({ namespace: env.STATE_SHARD, instance, module: 'oidc', clock, random }))
  })
})

/** Each racer has a State, an object and a runner of its own; what they share is the store. */
async function expectOneAtATime(open: () => State): Promise<void> {
  const most = { atOnce: 0 }
  let atOnce = 0
  const racers = Array.from({ length: RACERS }, () => {
    const [state, object] = [open(), fakeObject(handTime())]
    const tick = tickOf(state, async ({ check }) => {
      most.atOnce = Math.max(most.atOnce, ++atOnce)
      for (let write = 0; write < 3; write++) {
        check()
        await state.put('gate.any.thing', utf8(String(write)), 60)
      }
      atOnce--
      return 'ran'
    })
    const options = { ticks: () => ({ fixed: [tick], families: [] }), subrequests: () => 800, clock, random, log: noLog }
    return createRunner({ ...options, memory: object.memory })
  })
  await Promise.all(
    racers.map(async (runner) => {
      await runner.poke({ kind: 'logout', target: 'all', due: 60_000 })
      await runner.run()
    }),
  )
  const outcomes = await Promise.all(racers.map(async (runner) => (await runner.status())?.last?.outcome))
  expect(most.atOnce).toBe(1)
  expect(new Set(outcomes)).toEqual(new Set(['ran', 'contended']))
  expect(await open().get(LEASE)).toBeNull()
}
