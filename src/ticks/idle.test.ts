import { describe, expect, it } from 'vitest'
import { interceptState } from '../../test/crash/port-calls.ts'
import { arrangeRunners, fakeObject, LEASE, tickOf } from '../../test/crash/runner-builders.ts'
import { PortError } from '../ports/error.ts'
import type { Tick } from './tick.ts'

/** A target's runner whose calls of the store are noted; `runs` and `reports` count. */
function arrange(more: (state: Tick['state']) => Partial<Tick>) {
  const { time, state, runner } = arrangeRunners()
  const calls: string[] = []
  const noted = interceptState(state, ({ method, on }, apply) => {
    calls.push(`${method} ${on}`)
    return apply()
  })
  const seen = { runs: 0, reports: 0 }
  const run = async () => {
    seen.runs++
    return 'ran' as const
  }
  const object = fakeObject(time)
  const one = runner(object.memory, [tickOf(noted, run, more(noted))], { report: async () => void seen.reports++ })
  return {
    calls,
    seen,
    state,
    async tick() {
      await one.poke({ kind: 'logout', target: 'all', due: time.clock.now() })
      await object.fire(one)
      return (await one.status())?.last?.outcome
    },
  }
}

describe('a tick with nothing to do', () => {
  it('costs one read: no lease, no report, and it went well', async () => {
    const { tick, calls, seen } = arrange((state) => ({
      idle: async () => (await state.list('logout-due.', { limit: 1 })).entries.length === 0,
      paused: () => expect.unreachable('nobody asks for maintenance when there is nothing to do'),
    }))
    expect(await tick()).toBe('ran')
    expect(calls).toEqual(['list logout-due.'])
    expect(seen).toEqual({ runs: 0, reports: 0 })
  })

  it('that can not tell has failed, and is tried when it is due next', async () => {
    const { tick, calls, seen } = arrange(() => ({ idle: () => Promise.reject(new PortError('Unavailable', 'away')) }))
    expect(await tick()).toBe('failed')
    expect([calls, seen.runs]).toEqual([[], 0])
  })
})

describe('a module under maintenance', () => {
  it('has its tick skipped before the lease is taken', async () => {
    const { tick, calls, seen } = arrange(() => ({ idle: async () => false, paused: async () => true }))
    expect(await tick()).toBe('skipped')
    expect([calls, seen]).toEqual([[], { runs: 0, reports: 0 }])
  })

  it('that is not runs under its lease, and says so', async () => {
    const { tick, calls, seen, state } = arrange(() => ({ idle: async () => false, paused: async () => false }))
    expect(await tick()).toBe('ran')
    expect(calls[0]).toBe(`create ${LEASE}`)
    expect(seen).toEqual({ runs: 1, reports: 1 })
    expect(await state.get(LEASE)).toBeNull()
  })
})
