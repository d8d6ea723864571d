import { describe, expect, it } from 'vitest'
import { isolate, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import type { State } from '../ports/state.ts'

const TICK = 300 // s
const DAY = 86_400 // s

async function revisions(state: State): Promise<string[]> {
  const { entries } = await state.list('')
  return entries.map(({ key, rev }) => `${key} ${rev}`)
}

describe('a keyring at rest', () => {
  it('is told by one read, and is one that a tick would change nothing of', async () => {
    const { state, clock, calls } = watchedState()
    const keyring = isolate({ state, clock, settings: settings({ rings: ['ES256', 'EdDSA'] }) })
    expect(await keyring.isAtRest(state)).toBe(false)
    await keyring.keySet()

    let worked = 0
    for (let second = 0; second <= 2 * DAY + 2 * 3_600; second += TICK) {
      const asked = calls()
      const atRest = await keyring.isAtRest(state)
      expect(calls() - asked).toBe(1)
      const before = await revisions(state)
      await keyring.rotate()
      if (atRest) expect(await revisions(state), `${second} s`).toEqual(before)
      else worked++
      clock.move(TICK)
    }
    // Two days: two keys made and two retired in each ring, each pair in one tick.
    expect(worked).toBeGreaterThanOrEqual(4)
    expect(worked).toBeLessThanOrEqual(8)
  })

  it('is none with a ring that was configured since and has no key', async () => {
    const { state, clock } = watchedState()
    await isolate({ state, clock }).keySet()
    expect(await isolate({ state, clock }).isAtRest(state)).toBe(true)
    expect(await isolate({ state, clock, settings: settings({ rings: ['ES256', 'ES384'] }) }).isAtRest(state)).toBe(false)
  })

  it('that can not be told is Unavailable', async () => {
    const { state, clock, down } = watchedState()
    const keyring = isolate({ state, clock })
    await keyring.keySet()
    down(true)
    await expect(keyring.isAtRest(state)).rejects.toMatchObject({ code: 'Unavailable' })
  })
})
