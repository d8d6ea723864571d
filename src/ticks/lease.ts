import { PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Rev, State } from '../ports/state.ts'
import { type LeaseRecord, leaseRecord } from './lease-record.ts'
import { atMost, platformTimer, type Timer } from './timer.ts'

export interface LeaseOptions {
  /** Of the module whose work the lease guards. */
  state: State
  clock: Clock
  random: Random
  timer?: Timer
  /** s: how long a lease outlives its holder's last renewal; at least 60, two minutes by default. */
  ttl?: number
}

/** What a holder knows of its lease. */
export interface Held {
  /** To be called before each write to anything outside. @throws PortError Unavailable: the lease is lost */
  check(): void
  /** Aborted when the lease is lost, with what `check` throws. */
  signal: AbortSignal
}

export type LeaseOutcome<T> = { ran: true; result: T } | { ran: false }

/** s: long enough that a tick of a few slow calls renews it, short enough that a dead holder's work waits for nobody */
const TTL = 120
/**
 * ms: a lease ends this much earlier for its holder than for others. A write that was checked may take 15 s to land (the longest a call of
 * the signed fetch goes on), and two clocks differ by a few more.
 */
const MARGIN = 20_000
/** ms: how long a release may keep its caller; the lease lapses anyway */
const RELEASE = 5_000

/**
 * Does the work while `lease.<kind>:<target>` is this caller's and nobody else's; `{ ran: false }` when it is another's, which is no
 * error. Renewed every third of its life, released at the end whatever the work did. Work that checks before each write stops before the
 * next one after a loss; what it throws then comes out here.
 *
 * @param target as a key takes it: no `/`
 * @throws PortError Unavailable: whether it could be taken is unknown; else what the work throws
 */
export async function withLease<T>(
  options: LeaseOptions,
  kind: string,
  target: string,
  work: (held: Held) => Promise<T>,
): Promise<LeaseOutcome<T>> {
  const { state, random, clock, ttl = TTL } = options
  const record = leaseRecord({ state, random, ttl }, keys.lease(kind, target))
  const takenAt = clock.now()
  const rev = await record.take()
  if (rev === null) return { ran: false }
  const { held, release } = keep(record, { ...options, ttl }, { rev, takenAt })
  try {
    return { ran: true, result: await work(held) }
  } finally {
    await release()
  }
}

/** Keeps a lease that was taken: renews it, says when it is lost, and gives it back. */
function keep(
  record: LeaseRecord,
  { clock, timer = platformTimer, ttl }: LeaseOptions & { ttl: number },
  taken: { rev: Rev; takenAt: number },
): { held: Held; release: () => Promise<void> } {
  const term = ttl * 1_000 - MARGIN
  const third = (ttl * 1_000) / 3
  const soon = third / 4 // so that a store that is down for a moment is asked a few times more before the end
  const lost = new AbortController()
  let { rev, takenAt: renewedAt } = taken
  let released = false
  let renewal = Promise.resolve()
  let cancelEnd = endAfter(term - (clock.now() - taken.takenAt))
  let cancelNext = renewAfter(third)

  function lose(): void {
    lost.abort(new PortError('Unavailable', `${record.key} was lost: another may hold it`))
  }

  // A second measure beside the clock, which may be set back: whichever says first that the term is over is believed.
  function endAfter(ms: number): () => void {
    return timer.after(ms, lose)
  }

  function renewAfter(ms: number): () => void {
    return timer.after(ms, () => {
      renewal = renew()
    })
  }

  async function renew(): Promise<void> {
    const at = clock.now()
    const cancel = endAfter(term)
    const outcome = await record.renew(rev)
    if ('rev' in outcome) rev = outcome.rev
    if (outcome.state === 'renewed') {
      cancelEnd()
      cancelEnd = cancel
      renewedAt = at
    } else cancel()
    if (outcome.state === 'lost') lose()
    if (released) cancelEnd()
    else if (!lost.signal.aborted) cancelNext = renewAfter(outcome.state === 'renewed' ? third : soon)
  }

  return {
    held: {
      signal: lost.signal,
      check() {
        // A clock set back by a whole term says as little as one that is past it.
        if (Math.abs(clock.now() - renewedAt) >= term) lose()
        lost.signal.throwIfAborted()
      },
    },
    async release() {
      released = true
      cancelNext()
      cancelEnd()
      const giveBack = async () => {
        await renewal
        await record.release(rev)
      }
      await atMost(timer, RELEASE, giveBack())
    },
  }
}
