import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { noLog } from '../telemetry/log.ts'
import { disabledGenerations, recoverySwitch, switchRecoveryOff } from './recovery-off.ts'

const KEY = 'rec.recovery.off'

function arrange() {
  let now = Date.UTC(2026, 11, 1)
  const clock = { now: () => now }
  const store = createMemoryStore()
  const state = memoryState({ store, clock, module: 'oidc' })
  const seen = { reads: 0, away: false }
  const watched = {
    async get(key: string) {
      seen.reads++
      if (seen.away) throw new PortError('Unavailable', 'away')
      return state.get(key)
    },
  }
  return {
    state,
    seen,
    switchOf: (generation: number) => recoverySwitch({ state: watched, generation, clock, log: noLog }),
    off: (generation: number) => switchRecoveryOff(state, { generation, at: Math.floor(now / 1_000), by: 'operator' }, noLog),
    pass: (ms: number) => {
      now += ms
    },
  }
}

describe('the recovery switch', () => {
  it('is on until it is thrown, and off within 3 s of that', async () => {
    const { switchOf, off, pass } = arrange()
    const one = switchOf(1)
    expect(await one.isOff()).toBe(false)
    expect(await off(1)).toBe(true)
    expect(await off(1)).toBe(false)
    pass(3_000)
    expect(await one.isOff()).toBe(true)
  })

  it('is read at most once in 3 s, and never again once it was off', async () => {
    const { switchOf, off, pass, seen } = arrange()
    const one = switchOf(1)
    for (let ms = 0; ms < 3_000; ms += 250) {
      await one.isOff()
      pass(250)
    }
    expect(seen.reads).toBe(1)
    await off(1)
    expect(await one.isOff()).toBe(true)
    seen.away = true
    pass(3_600_000)
    expect(await one.isOff()).toBe(true)
    expect(seen.reads).toBe(2)
  })

  it('thrown for one generation leaves the next on, and one that goes back to it off', async () => {
    const { switchOf, off } = arrange()
    await off(1)
    expect(await switchOf(2).isOff()).toBe(false)
    await off(2)
    expect(await switchOf(1).isOff()).toBe(true)
    expect(await switchOf(3).isOff()).toBe(false)
  })

  it('that can not be asked lets nobody in', async () => {
    const { switchOf, seen } = arrange()
    seen.away = true
    await expect(switchOf(1).isOff()).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('whose record can not be read is off, and is not written over', async () => {
    const { switchOf, state, off } = arrange()
    await state.put(KEY, utf8('{"disabled":"all"}'), 'permanent')
    expect(await switchOf(9).isOff()).toBe(true)
    await expect(off(9)).rejects.toThrow(/off already/)
    expect(fromUtf8((await state.get(KEY))?.value ?? utf8(''))).toBe('{"disabled":"all"}')
    expect(await disabledGenerations(state, noLog)).toBeNull()
  })

  it('thrown by many at once keeps every generation, and what a record holds beside', async () => {
    const { state, off } = arrange()
    await state.put(KEY, utf8('{"disabled":[{"generation":1,"at":"2026-01-01T00:00:00Z","by":"ada","why":"drill"}],"more":1}'), 'permanent')
    await Promise.all([2, 3, 4].map(off))
    expect((await disabledGenerations(state, noLog))?.map(({ generation }) => generation).sort()).toEqual([1, 2, 3, 4])
    const kept = fromUtf8((await state.get(KEY))?.value ?? utf8('')) ?? ''
    expect(kept).toContain('"why":"drill"')
    expect(kept).toContain('"more":1')
  })
})
