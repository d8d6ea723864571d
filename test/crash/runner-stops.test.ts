import { describe, expect, it } from 'vitest'
import type { State } from '../../src/ports/state.ts'
import { noLog } from '../../src/telemetry/log.ts'
import type { RunnerMemory } from '../../src/ticks/runner.ts'
import { pokeDue } from '../../src/ticks/schedule.ts'
import type { Timer } from '../../src/ticks/timer.ts'
import { arrangeRunners, type FakeObject, fakeObject, MINUTE, tickOf } from './runner-builders.ts'

const EVERY = 5 // minutes

/** A process that is gone at its nth step: what it did stays done, nobody hears of it, and its timers never fire. */
function dying(at: number, when: 'before' | 'after') {
  let step = 0
  const gone = Promise.withResolvers<'gone'>()
  const never = new Promise<never>(() => {})
  const pass = async <T>(apply: () => Promise<T>): Promise<T> => {
    step++
    if (step > at) return never
    if (step === at && when === 'before') {
      gone.resolve('gone')
      return never
    }
    const answer = await apply()
    if (step < at) return answer
    gone.resolve('gone')
    return never
  }
  return {
    gone: gone.promise,
    steps: () => step,
    pass,
    state: (state: State): State => ({
      ...state,
      get: (...all) => pass(() => state.get(...all)),
      list: (...all) => pass(() => state.list(...all)),
      create: (...all) => pass(() => state.create(...all)),
      update: (...all) => pass(() => state.update(...all)),
      deleteIfRevision: (...all) => pass(() => state.deleteIfRevision(...all)),
    }),
    memory: (memory: RunnerMemory): RunnerMemory => ({
      read: () => pass(() => memory.read()),
      update: (change) => pass(() => memory.update(change)),
    }),
    timer: (timer: Timer): Timer => ({ after: (ms, run) => timer.after(ms, () => step < at && run()) }),
  }
}

/** One process after another: each pokes what is due and lets the alarm go off. */
function arrange() {
  const { time, open, runner } = arrangeRunners()
  const object = fakeObject(time)
  const done: number[] = []
  const target = { kind: 'keyring', every: EVERY }

  async function live(minute: number, life = dying(Number.POSITIVE_INFINITY, 'before')): Promise<number> {
    const state = life.state(open())
    const work = async () => {
      await life.pass(async () => done.push(time.clock.now()))
      return 'ran' as const
    }
    const tick = tickOf(state, work, target)
    const one = runner(life.memory(object.memory), [tick], { timer: life.timer(time.timer) })
    const poke = (of: { kind: string; target: string }, due: number | null) => one.poke({ ...of, due })
    const lived = async () => {
      await pokeDue(minute, { ticks: { fixed: [tick], families: [] }, poke, log: noLog })
      await object.fire(one)
    }
    await Promise.race([lived(), life.gone])
    return life.steps()
  }
  return { time, object, done, live }
}

/** The first minute after now in which the target is due. */
function nextDue(now: number): number {
  return (Math.floor(now / (EVERY * MINUTE)) + 1) * EVERY * MINUTE
}

async function stepsOfARun(): Promise<number> {
  const { time, live } = arrange()
  await time.advance(nextDue(time.clock.now()) - time.clock.now())
  return live(time.clock.now())
}

const steps = await stepsOfARun()
const stops = Array.from({ length: steps }, (_, n) => n + 1).flatMap((at) => [
  { at, when: 'before' as const },
  { at, when: 'after' as const },
])

describe('a run', () => {
  it('has the steps that are stopped at below: hints, poke, begin, lease, work, release, end', () => {
    expect(steps).toBe(7)
  })
})

describe.each(stops)('a process that is gone $when step $at', ({ at, when }) => {
  async function stopped() {
    const world = arrange()
    const { time, live } = world
    await time.advance(nextDue(time.clock.now()) - time.clock.now())
    const due = time.clock.now()
    await live(due, dying(at, when))
    return { ...world, due }
  }

  it('leaves its target to be run at its next due minute, though the platform forgets the alarm', async () => {
    const { time, live, done, due } = await stopped()
    for (let minute = 1; minute <= EVERY; minute++) {
      await time.advance(MINUTE)
      await live(due + minute * MINUTE)
    }
    expect(done).toContain(due + EVERY * MINUTE)
  })

  it('is made up for once its lease has lapsed, when the platform runs the alarm again', async () => {
    const { time, live, done, due, object } = await stopped()
    const accepted = (await object.memory.read()) !== null
    await time.advance(2_000)
    await again(object, time.clock.now())
    for (let minute = 1; minute < EVERY; minute++) {
      await live(due + minute * MINUTE)
      await time.advance(MINUTE)
    }
    expect(done.length > 0).toBe(accepted)
  })
})

/** An alarm whose handler did not come to its end is run again. */
async function again(object: FakeObject, at: number): Promise<void> {
  await object.memory.update((kept) => (kept === null ? null : { kept, alarm: at }))
}
