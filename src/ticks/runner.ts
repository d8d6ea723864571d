import { PortError } from '../ports/error.ts'
import type { Clock, Random } from '../ports/platform.ts'
import { describeError } from '../telemetry/describe-error.ts'
import type { Log } from '../telemetry/log.ts'
import { type Budget, budgetOf, countedState } from './budget.ts'
import { isGood, type Journal, parseJournal, type Run } from './journal.ts'
import { type Held, withLease } from './lease.ts'
import { findTick, type Slice, type Tick, type Ticks } from './tick.ts'
import { platformTimer, type Timer } from './timer.ts'

/** What outlives a runner's process: what it remembers, and when it is to run. */
export interface RunnerMemory {
  read(): Promise<unknown>
  /** Reads and writes with nothing between. `alarm` (unix ms) is set in the same write, unless an earlier one is. null: all stays. */
  update(change: (kept: unknown) => { kept: unknown; alarm?: number } | null): Promise<void>
}

export interface RunnerOptions {
  memory: RunnerMemory
  /** Every tick of this installation. @throws when the service is not configured, which fails the run */
  ticks: () => Ticks
  /** Calls of one invocation: 800, or 40 on the free plan. */
  subrequests: () => number
  clock: Clock
  random: Random
  log: Log
  timer?: Timer
  /** Told of each run while the lease is still held. One that fails is logged and changes nothing. */
  report?: (tick: Tick, run: Run, details: Details, budget: Budget) => Promise<void>
  /** Told of every run when it is over, also of one that had no lease. */
  ended?: (ended: Ended) => void
}

export interface Ended {
  kind: string
  target: string
  run: Run
  /** null: it was not asked for, or whether it could be had is not known */
  lease: 'held' | 'contended' | 'lost' | null
}

type Details = Readonly<Record<string, unknown>>

export interface Poked {
  kind: string
  target: string
  /** unix ms: the due time; null for a hint */
  due: number | null
}

export interface Runner {
  /** Sets the alarm. A due time that was accepted before is no reason to run again; pokes during a run make one more. */
  poke(poked: Poked): Promise<void>
  /**
   * What the alarm does: one slice, under the lease. A tick that fails is written down and logged, and tried when it is due next; only
   * what fails of the memory comes out, for the platform to run the alarm again.
   */
  run(): Promise<void>
  /** null: it was never poked. */
  status(): Promise<Journal | null>
}

/** ms: a tick that answers `more` without getting on goes round once a second, not as fast as it can */
const PAUSE = 1_000
/** ms: the lease of a run that was cut short has lapsed by then */
const LEASE_LAPSED = 120_000
/** ms from its start: an alarm may run for 15 minutes, and what a slice began before this has time to end */
const SLICE = 600_000
/** ms from its start: past this the platform may stop it at any moment */
const END = 780_000
/** ms: how far the cron's clock may be ahead of the object's */
const SKEW = 60_000

/** One target's runner: between alarms it is only what it remembers (docs/design.md, "Ticks"). */
export function createRunner(options: RunnerOptions): Runner {
  const { memory, clock, random, log, timer = platformTimer, report = async () => {}, ended = () => {} } = options

  /** Answers what the journal said before: a run that is still `running` in it was cut short. */
  async function begin(startedAt: number): Promise<Journal | null> {
    let before: Journal | null = null
    await memory.update((kept) => {
      before = parseJournal(kept)
      return before === null ? null : { kept: { ...before, running: startedAt } }
    })
    return before
  }

  async function attempt({ kind, target, due }: Journal, startedAt: number, leaseWas: (lease: Ended['lease']) => void): Promise<Run> {
    const end = (outcome: Run['outcome']): Run => ({ due, startedAt, finishedAt: clock.now(), outcome })
    const failed = (error: unknown): Run => {
      log.error('tick.failed', { kind, target, error })
      const { name, code, message } = describeError(error)
      return { ...end('failed'), error: { name, code, message } }
    }
    try {
      const tick = findTick(options.ticks(), { kind, target })
      if (tick === undefined) return end('skipped') // the documents no longer name it
      const budget = budgetOf(options.subrequests())
      if (await said(tick.idle, budget)) return end('ran')
      if (await said(tick.paused, budget)) return end('skipped')
      const lease = { state: countedState(tick.state, budget), clock, random, timer }
      const leased = await withLease(lease, kind, target, async (held) => {
        const { slice, details, over } = sliceOf(held, startedAt, budget)
        try {
          const run = await tick.run(slice).then(end, failed)
          if (!held.signal.aborted) await reported(tick, run, details(), budget)
          return run
        } finally {
          over()
          leaseWas(held.signal.aborted ? 'lost' : 'held')
        }
      })
      if (leased.ran) return leased.result
      leaseWas('contended')
      return end('contended')
    } catch (error) {
      return failed(error)
    }
  }

  async function reported(tick: Tick, run: Run, details: Details, budget: Budget): Promise<void> {
    try {
      await report(tick, run, details, budget)
    } catch (error) {
      log.warn('tick.unreported', { kind: tick.kind, target: tick.target, error })
    }
  }

  function sliceOf(held: Held, startedAt: number, budget: Budget): { slice: Slice; details: () => Details; over: () => void } {
    let details: Details = {}
    const report = (said: Details) => {
      details = said
    }
    const late = new AbortController()
    const over = timer.after(END, () => late.abort(new PortError('Unavailable', 'the slice went on past its end')))
    const check = () => {
      held.check()
      late.signal.throwIfAborted()
    }
    const signal = AbortSignal.any([held.signal, late.signal])
    return { slice: { signal, check, budget, report, deadline: startedAt + SLICE }, details: () => details, over }
  }

  return {
    poke({ kind, target, due }) {
      const now = clock.now()
      return memory.update((kept) => {
        const journal = parseJournal(kept) ?? { kind, target, since: now, due: null, running: null, last: null, good: null }
        if (due === null) return { kept: journal, alarm: now }
        // A time far ahead would be newer than all that follow: of a wrong cron, or remembered from before the clock was set back.
        const asked = Math.min(due, now + SKEW)
        if (journal.due !== null && journal.due <= now + SKEW && asked <= journal.due) return null
        return { kept: { ...journal, due: asked }, alarm: now }
      })
    },

    async run() {
      const startedAt = clock.now()
      const before = await begin(startedAt)
      if (before === null) return
      let lease: Ended['lease'] = null
      const run = await attempt(before, startedAt, (was) => {
        lease = was
      })
      ended({ kind: before.kind, target: before.target, run, lease })
      const wait = waitAfter(run, before)
      await memory.update((kept) => {
        const journal = parseJournal(kept) ?? before
        // What holds the lease against a run that was cut short is most likely its own: it is still to be made up for.
        const running = run.outcome === 'contended' ? before.running : null
        const now = { ...journal, running, last: run, good: isGood(run) ? run : journal.good }
        return { kept: now, ...(wait === null ? {} : { alarm: clock.now() + wait }) }
      })
    },

    async status() {
      return parseJournal(await memory.read())
    },
  }
}

async function said(question: (() => Promise<boolean>) | undefined, budget: Budget): Promise<boolean> {
  if (question === undefined) return false
  budget.spend(1)
  return question()
}

/** ms until the alarm is to come again by itself; null when it need not. */
function waitAfter({ outcome }: Run, before: Journal): number | null {
  switch (outcome) {
    case 'more':
      return PAUSE
    case 'contended':
      return before.running === null ? null : LEASE_LAPSED
    case 'ran':
    case 'failed':
    case 'skipped':
      return null
  }
}
