import { describe, expect, it } from 'vitest'
import { arrangeRunners, fakeObject, LEASE, MINUTE, notingLog, tickOf } from '../../test/crash/runner-builders.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { Run } from './journal.ts'
import type { Poked, RunnerOptions } from './runner.ts'
import type { Slice, Tick } from './tick.ts'

/** One target's runner on an object of its own. */
function arrange(run: Tick['run'] = async () => 'ran', more: Partial<RunnerOptions> = {}) {
  const { time, state, runner } = arrangeRunners()
  const object = fakeObject(time)
  const events: string[] = []
  const ticks = [tickOf(state, run)]
  const one = runner(object.memory, ticks, { log: notingLog(events), ...more })
  const poke = (due: Poked['due'] = time.clock.now()) => one.poke({ kind: 'logout', target: 'all', due })
  return { time, state, object, events, ticks, runner: one, poke, fire: () => object.fire(one), status: () => one.status() }
}

describe('a poke', () => {
  it('for a due time that was accepted before runs nothing', async () => {
    const { time, poke, fire } = arrange()
    const due = time.clock.now()
    await poke(due)
    expect(await fire()).toBe(1)
    await poke(due)
    await poke(due - MINUTE)
    expect(await fire()).toBe(0)
    await time.advance(MINUTE)
    await poke(due + MINUTE)
    expect(await fire()).toBe(1)
  })

  it('by a hint always runs', async () => {
    const { poke, fire } = arrange()
    await poke()
    await fire()
    await poke(null)
    expect(await fire()).toBe(1)
  })

  it('is one run with those that come before the alarm', async () => {
    const { poke, fire } = arrange()
    for (let n = 0; n < 10; n++) await poke(null)
    expect(await fire()).toBe(1)
  })

  it('during a run makes one run more, however many come', async () => {
    let runs = 0
    const { poke, fire } = arrange(async () => {
      if (++runs === 1) for (let n = 0; n < 10; n++) await poke(null)
      return 'ran'
    })
    await poke()
    expect(await fire()).toBe(2)
    expect(runs).toBe(2)
  })

  it('during a run is remembered when that ends', async () => {
    let runs = 0
    const { time, poke, fire, status } = arrange(async () => {
      if (++runs === 1) {
        await time.advance(MINUTE)
        await poke()
      }
      return 'ran'
    })
    const due = time.clock.now()
    await poke()
    await fire()
    expect(await status()).toMatchObject({ due: due + MINUTE, last: { due: due + MINUTE } })
  })

  it('for a time far ahead, or by a clock that was set back since, keeps nothing from running', async () => {
    const { time, poke, fire } = arrange()
    await poke(time.clock.now() + 1_000 * MINUTE)
    expect(await fire()).toBe(1)
    await time.advance(2 * MINUTE)
    await poke()
    expect(await fire()).toBe(1)
  })

  it('alone does not begin the work: the alarm does', async () => {
    const { poke, status, object, time } = arrange(() => expect.unreachable('it runs in the alarm'))
    await poke()
    expect(object.alarm()).toBe(time.clock.now())
    expect(await status()).toMatchObject({ last: null, running: null })
  })
})

describe('a run', () => {
  it('is written down with its due time, its begin, its end and its outcome', async () => {
    const { time, poke, fire, status } = arrange(async () => {
      await time.advance(5_000)
      return 'ran'
    })
    const due = time.clock.now()
    await poke(due)
    await time.advance(1_000)
    await fire()
    const run = { due, startedAt: due + 1_000, finishedAt: due + 6_000, outcome: 'ran' }
    expect(await status()).toEqual({ kind: 'logout', target: 'all', since: due, due, running: null, last: run, good: run })
  })

  it('holds the lease for as long as it works and reports, and not longer', async () => {
    const leased: string[] = []
    const holds = async (when: string) => {
      if ((await state.get(LEASE)) !== null) leased.push(when)
    }
    const { poke, fire, state } = arrange(
      async () => {
        await holds('works')
        return 'ran'
      },
      { report: () => holds('reports') },
    )
    await poke()
    await fire()
    await holds('after')
    expect(leased).toEqual(['works', 'reports'])
  })

  it('that fails is logged and waits for its next due time, and the last good one stays known', async () => {
    let fails = false
    const { time, poke, fire, status, events, object } = arrange(async () => {
      if (fails) throw new PortError('Unavailable', 'the store is down')
      return 'ran'
    })
    await poke()
    await fire()
    const good = (await status())?.good
    fails = true
    await time.advance(MINUTE)
    await poke()
    expect(await fire()).toBe(1)
    expect(object.alarm()).toBeNull()
    expect(events).toEqual(['tick.failed'])
    const error = { name: 'PortError', code: 'Unavailable', message: 'the store is down' }
    expect(await status()).toMatchObject({ good, last: { outcome: 'failed', error }, running: null })
    fails = false
    await time.advance(MINUTE)
    await poke()
    await fire()
    expect((await status())?.good).not.toEqual(good)
  })

  it('quotes nothing of a foreign error', async () => {
    const { poke, fire, status } = arrange(() => Promise.reject(new TypeError('token slr_secret')))
    await poke()
    await fire()
    expect(JSON.stringify(await status())).not.toContain('slr_secret')
    expect(await status()).toMatchObject({ last: { error: { name: 'TypeError' } } })
  })

  it('is contended while another holds the lease: no failure, no line, no second try', async () => {
    const { poke, fire, status, state, events, object } = arrange(() => expect.unreachable('it is the other that works'))
    await state.create(LEASE, utf8('another'), 120)
    await poke()
    await fire()
    expect(await status()).toMatchObject({ last: { outcome: 'contended' }, good: null, running: null })
    expect(events).toEqual([])
    expect(object.alarm()).toBeNull()
  })

  it('fails when it cannot be known whose the lease is', async () => {
    const { poke, fire, status, state } = arrange(() => expect.unreachable('the lease was not taken'))
    state.create = () => Promise.reject(new PortError('Unavailable', 'down'))
    await poke()
    await fire()
    expect(await status()).toMatchObject({ last: { outcome: 'failed' } })
  })

  it('of a target that is no longer named is skipped', async () => {
    const { poke, fire, status, ticks, events } = arrange()
    await poke()
    ticks.length = 0
    await fire()
    expect(await status()).toMatchObject({ last: { outcome: 'skipped' }, good: null })
    expect(events).toEqual([])
  })

  it('of a service that is not configured fails', async () => {
    const misconfigured = () => {
      throw new PortError('Unavailable', 'this service is not configured')
    }
    const { poke, fire, status } = arrange(undefined, { ticks: misconfigured })
    await poke()
    await fire()
    expect(await status()).toMatchObject({ last: { outcome: 'failed' } })
  })

  it('is as good as it was when its report cannot be written', async () => {
    const { poke, fire, status, events } = arrange(undefined, { report: () => Promise.reject(new Error('no bucket')) })
    await poke()
    await fire()
    expect(await status()).toMatchObject({ last: { outcome: 'ran' } })
    expect(events).toEqual(['tick.unreported'])
  })

  it('whose own memory fails throws, so that the platform runs the alarm again', async () => {
    const { poke, runner, object } = arrange()
    await poke()
    object.memory.update = () => Promise.reject(new Error('storage'))
    await expect(runner.run()).rejects.toThrow('storage')
  })

  it('of an object that remembers nothing does nothing', async () => {
    const { runner, status } = arrange(() => expect.unreachable('of which target?'))
    await runner.run()
    expect(await status()).toBeNull()
  })
})

describe('a slice', () => {
  it('knows what it may spend, with what its lease took of it', async () => {
    const left: number[] = []
    const { poke, fire } = arrange(
      async ({ budget }) => {
        left.push(budget.left())
        return 'ran'
      },
      { subrequests: () => 40 },
    )
    await poke()
    await fire()
    expect(left).toEqual([39])
  })

  it('that leaves work is followed by another, until all is done, each with a budget of its own', async () => {
    let work = 100
    const runs: Run[] = []
    const { time, poke, fire, object } = arrange(
      async ({ budget }) => {
        while (work > 0 && budget.left() > 5) {
          work--
          budget.spend(1)
        }
        return work > 0 ? 'more' : 'ran'
      },
      { subrequests: () => 40, report: async (_tick, run) => void runs.push(run) },
    )
    await poke()
    for (let n = 0; n < 5; n++) {
      await fire()
      await time.advance(1_000)
    }
    expect(work).toBe(0)
    expect(runs.map(({ outcome }) => outcome)).toEqual(['more', 'more', 'ran'])
    expect(object.alarm()).toBeNull()
  })

  it('that never gets on goes round once a second', async () => {
    const { time, poke, fire } = arrange(async () => 'more')
    await poke()
    let runs = 0
    for (let n = 0; n < 10; n++) {
      runs += await fire()
      await time.advance(500)
    }
    expect(runs).toBe(5)
  })

  it('has ten minutes to begin things in, and is stopped after thirteen', async () => {
    const seen: Slice[] = []
    const { time, poke, fire, status } = arrange(async (slice) => {
      seen.push(slice)
      await time.advance(779_000)
      slice.check()
      expect(slice.signal.aborted).toBe(false)
      await time.advance(1_000)
      expect(slice.signal.aborted).toBe(true)
      slice.check()
      return 'ran'
    })
    const start = time.clock.now()
    await poke()
    await fire()
    expect(seen.map(({ deadline }) => deadline)).toEqual([start + 600_000])
    expect(await status()).toMatchObject({ last: { outcome: 'failed', error: { code: 'Unavailable' } } })
    expect(time.pending()).toBe(0)
  })

  it('whose lease is lost stops before its next external write, and reports nothing', async () => {
    const written: string[] = []
    const { time, state, poke, fire, status } = arrange(
      async ({ check, signal }) => {
        check()
        written.push('before')
        await state.delete(LEASE)
        await state.create(LEASE, utf8('another'), 600)
        await time.advance(40_000)
        expect(signal.aborted).toBe(true)
        check()
        written.push('after')
        return 'ran'
      },
      { report: async () => void written.push('report') },
    )
    await poke()
    await fire()
    expect(written).toEqual(['before'])
    expect(await status()).toMatchObject({ last: { outcome: 'failed', error: { code: 'Unavailable' } }, good: null })
    expect(await state.get(LEASE)).toMatchObject({ value: utf8('another') })
  })
})
