import { describe, expect, it } from 'vitest'
import { random } from '../../test/conformance/arrange.ts'
import { handTime } from '../../test/conformance/hand-time.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { State } from '../ports/state.ts'
import { type Held, type LeaseOutcome, withLease } from './lease.ts'

const KEY = 'lease.github-tick:acme'

type Trouble = 'lost request' | 'lost answer' | null
type Call = 'create' | 'update' | 'deleteIfRevision' | 'get'

/** Isolates over one table: each has its own clock and timers, and calls that fail when `trouble` says so. */
function arrange() {
  const store = createMemoryStore()
  const time = handTime()

  function isolate({ skew = 0, trouble = () => null }: { skew?: number; trouble?: (call: Call) => Trouble } = {}) {
    let step = skew
    const clock = { now: () => time.clock.now() + step }
    const state = shaky(memoryState({ store, clock, module: 'github' }), trouble)
    const options = { state, clock, random, timer: time.timer }
    return {
      state,
      setClock: (ms: number) => {
        step += ms
      },
      run: <T>(work: (held: Held) => Promise<T>) => withLease(options, 'github-tick', 'acme', work),
      /** Takes the lease and holds it until `done`. */
      async hold(): Promise<Holder> {
        const finished = Promise.withResolvers<void>()
        const started = Promise.withResolvers<Held | null>()
        const outcome = withLease(options, 'github-tick', 'acme', async (held) => {
          started.resolve(held)
          await finished.promise
          held.check()
        })
        void outcome.then(
          () => started.resolve(null),
          () => started.resolve(null),
        )
        const held = await started.promise
        if (held === null) throw new Error('the lease was not taken')
        return {
          held,
          async done() {
            finished.resolve()
            return await outcome
          },
        }
      },
    }
  }
  return { time, isolate }
}

interface Holder {
  held: Held
  done(): Promise<LeaseOutcome<void>>
}

function shaky(state: State, trouble: (call: Call) => Trouble): State {
  const through = async <T>(call: Call, send: () => Promise<T>): Promise<T> => {
    const what = trouble(call)
    if (what === 'lost request') throw new PortError('Unavailable', `${call}: ${what}`)
    const answer = await send()
    if (what === 'lost answer') throw new PortError('Unavailable', `${call}: ${what}`)
    return answer
  }
  return {
    ...state,
    create: (...all) => through('create', () => state.create(...all)),
    update: (...all) => through('update', () => state.update(...all)),
    deleteIfRevision: (...all) => through('deleteIfRevision', () => state.deleteIfRevision(...all)),
    get: (...all) => through('get', () => state.get(...all)),
  }
}

const isHeld = (held: Held) => {
  try {
    held.check()
    return !held.signal.aborted
  } catch {
    return false
  }
}

describe('a lease', () => {
  it('is there with its holder while the work is done, and gone afterwards', async () => {
    const { isolate } = arrange()
    const one = isolate()
    const outcome = await one.run(async () => fromUtf8((await one.state.get(KEY))?.value ?? utf8('')))
    expect(outcome).toEqual({ ran: true, result: expect.stringMatching(/^edge-[0-9a-f]{32}$/) })
    expect(await one.state.get(KEY)).toBeNull()
  })

  it('of another is no error: the work is not done', async () => {
    const { isolate } = arrange()
    const holder = await isolate().hold()
    const worked: string[] = []
    expect(await isolate().run(async () => worked.push('at once'))).toEqual({ ran: false })
    await holder.done()
    expect(await isolate().run(async () => worked.push('later'))).toMatchObject({ ran: true })
    expect(worked).toEqual(['later'])
  })

  it.each([[], [0xff, 0xfe], [0x7b]])(
    'whose record is none (bytes %#) is another’s: nothing is done, and it stays as it is',
    async (...bytes) => {
      const { isolate } = arrange()
      const one = isolate()
      await one.state.put(KEY, new Uint8Array(bytes), 120)
      expect(await one.run(async () => 'done')).toEqual({ ran: false })
      expect((await one.state.get(KEY))?.value).toEqual(new Uint8Array(bytes))
    },
  )

  it('is given back when the work fails, and the failure comes out', async () => {
    const { isolate } = arrange()
    const one = isolate()
    await expect(one.run(() => Promise.reject(new Error('of the work')))).rejects.toThrow('of the work')
    expect(await one.state.get(KEY)).toBeNull()
  })

  it('is renewed for as long as the work takes', async () => {
    const { time, isolate } = arrange()
    const holder = await isolate().hold()
    for (let minute = 0; minute < 60; minute++) {
      await time.advance(60_000)
      expect(isHeld(holder.held)).toBe(true)
      expect(await isolate().run(async () => 'two at once')).toEqual({ ran: false })
    }
    expect(await holder.done()).toEqual({ ran: true, result: undefined })
  })

  it('leaves no timer behind', async () => {
    const { time, isolate } = arrange()
    const holder = await isolate().hold()
    await time.advance(100_000)
    await holder.done()
    expect(time.pending()).toBe(0)
  })

  it('given back while a renewal is on its way waits for that, and leaves no timer either', async () => {
    const { time, isolate } = arrange()
    const one = isolate()
    const { update } = one.state
    one.state.update = async (...all) => {
      const rev = await update(...all)
      await new Promise<void>((resolve) => {
        time.timer.after(1_000, resolve)
      })
      return rev
    }
    const holder = await one.hold()
    await time.advance(40_500)
    const left = holder.done().then(() => time.pending())
    await time.advance(1_000)
    expect(await left).toBe(0)
    expect(await one.state.get(KEY)).toBeNull()
  })

  it('of a holder that died is free when it has lapsed, and not before', async () => {
    const { time, isolate } = arrange()
    await isolate({ trouble: (call) => (call === 'update' ? 'lost request' : null) }).hold()
    await time.advance(119_000)
    expect(await isolate().run(async () => 'early')).toEqual({ ran: false })
    await time.advance(1_000)
    expect(await isolate().run(async () => 'in time')).toEqual({ ran: true, result: 'in time' })
  })
})

describe('a holder that cannot renew its lease', () => {
  const cutOff = () => {
    let off = false
    return {
      cut: () => {
        off = true
      },
      mend: () => {
        off = false
      },
      trouble: (call: Call): Trouble => (off && call === 'update' ? 'lost request' : null),
    }
  }

  it('has lost it before another can take it: its signal says so, and its next check throws', async () => {
    const { time, isolate } = arrange()
    const { cut, trouble } = cutOff()
    const holder = await isolate({ trouble }).hold()
    cut()
    await time.advance(99_000)
    expect(isHeld(holder.held)).toBe(true)
    await time.advance(1_000)
    expect(holder.held.signal.aborted).toBe(true)
    expect(() => holder.held.check()).toThrow(expect.objectContaining({ code: 'Unavailable', message: expect.stringContaining(KEY) }))
    expect(await isolate().run(async () => 'early')).toEqual({ ran: false })
    await expect(holder.done()).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('tries again within its term, and keeps what it then renews', async () => {
    const { time, isolate } = arrange()
    const { cut, mend, trouble } = cutOff()
    const holder = await isolate({ trouble }).hold()
    cut()
    await time.advance(89_000)
    mend()
    await time.advance(11_000)
    await time.advance(60_000)
    expect(isHeld(holder.held)).toBe(true)
    expect(await isolate().run(async () => 'two at once')).toEqual({ ran: false })
    await holder.done()
  })

  it('does not get it back by a renewal that comes too late', async () => {
    const { time, isolate } = arrange()
    const { cut, mend, trouble } = cutOff()
    const holder = await isolate({ trouble }).hold()
    cut()
    await time.advance(101_000)
    mend()
    await time.advance(60_000)
    expect(isHeld(holder.held)).toBe(false)
    expect(await isolate().run(async () => 'taken over')).toMatchObject({ ran: true })
  })

  it('notices at its next renewal that another has taken it, and gives back nothing of the other', async () => {
    const { time, isolate } = arrange()
    const holder = await isolate().hold()
    const operator = isolate()
    await operator.state.delete(KEY)
    const other = await operator.hold()
    await time.advance(40_000)
    expect(holder.held.signal.aborted).toBe(true)
    await expect(holder.done()).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await isolate().run(async () => 'two at once')).toEqual({ ran: false })
    expect(isHeld(other.held)).toBe(true)
    expect(await other.done()).toMatchObject({ ran: true })
  })

  it('notices that it was deleted', async () => {
    const { time, isolate } = arrange()
    const one = isolate()
    const holder = await one.hold()
    await one.state.delete(KEY)
    await time.advance(40_000)
    expect(isHeld(holder.held)).toBe(false)
    await expect(holder.done()).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

describe('a lease behind a network that loses answers', () => {
  const once = (call: Call, what: Trouble) => {
    let left = 1
    return (made: Call) => (made === call && left-- > 0 ? what : null)
  }

  it('is taken by whom the lost answer had let pass', async () => {
    const { isolate } = arrange()
    expect(await isolate({ trouble: once('create', 'lost answer') }).run(async () => 'done')).toEqual({ ran: true, result: 'done' })
    expect(await isolate({ trouble: once('create', 'lost request') }).run(async () => 'done')).toEqual({ ran: true, result: 'done' })
  })

  it("is not taken when the second try finds another's", async () => {
    const { isolate } = arrange()
    await isolate().hold()
    expect(await isolate({ trouble: once('create', 'lost answer') }).run(async () => 'done')).toEqual({ ran: false })
  })

  it('is Unavailable when it cannot be known, and the work is not done', async () => {
    const { isolate } = arrange()
    const down = isolate({ trouble: (call) => (call === 'create' ? 'lost request' : null) })
    await expect(down.run(() => expect.unreachable('the work is not to be done'))).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('is kept when a renewal landed and its answer was lost', async () => {
    const { time, isolate } = arrange()
    const one = isolate({ trouble: once('update', 'lost answer') })
    const holder = await one.hold()
    await time.advance(300_000)
    expect(isHeld(holder.held)).toBe(true)
    expect(await isolate().run(async () => 'two at once')).toEqual({ ran: false })
    await holder.done()
    expect(await one.state.get(KEY)).toBeNull()
  })

  it('is given back when the last renewal landed and its answer was lost', async () => {
    const { time, isolate } = arrange()
    const one = isolate({ trouble: once('update', 'lost answer') })
    const holder = await one.hold()
    await time.advance(41_000)
    await holder.done()
    expect(await one.state.get(KEY)).toBeNull()
  })

  it('that cannot be given back keeps nobody waiting: it lapses', async () => {
    const { time, isolate } = arrange()
    const one = isolate({ trouble: (call) => (call === 'deleteIfRevision' ? 'lost request' : null) })
    expect(await one.run(async () => 'done')).toEqual({ ran: true, result: 'done' })
    expect(await isolate().run(async () => 'early')).toEqual({ ran: false })
    await time.advance(120_000)
    expect(await isolate().run(async () => 'next')).toMatchObject({ ran: true })
  })

  it('keeps its caller at most five seconds with a release that is not answered', async () => {
    const { time, isolate } = arrange()
    const one = isolate()
    one.state.deleteIfRevision = () => new Promise(() => {})
    let answered = false
    const run = one.run(async () => 'done').then(() => (answered = true))
    await time.advance(4_900)
    expect(answered).toBe(false)
    await time.advance(100)
    await run
    expect(answered).toBe(true)
  })
})

describe('a clock that is changed', () => {
  it('forward past the term: the lease is lost at the next check', async () => {
    const { isolate } = arrange()
    const one = isolate()
    const holder = await one.hold()
    one.setClock(100_000)
    expect(isHeld(holder.held)).toBe(false)
  })

  it('back, while renewals fail: the lease ends with its term all the same', async () => {
    const { time, isolate } = arrange()
    const one = isolate({ trouble: (call) => (call === 'update' ? 'lost request' : null) })
    const holder = await one.hold()
    one.setClock(-60_000)
    await time.advance(100_000)
    expect(isHeld(holder.held)).toBe(false)
  })

  it.each([-15_000, 15_000])('and differs between two isolates by %i ms: they never hold at once', async (skew) => {
    const { time, isolate } = arrange()
    const holders: Holder[] = [await isolate({ trouble: (call) => (call === 'update' ? 'lost request' : null) }).hold()]
    for (let second = 0; second < 140; second++) {
      await time.advance(1_000)
      const other = await isolate({ skew })
        .hold()
        .catch(() => null)
      if (other !== null) holders.push(other)
      expect(holders.filter(({ held }) => isHeld(held)).length).toBeLessThanOrEqual(1)
    }
    expect(holders).toHaveLength(2)
  })
})
