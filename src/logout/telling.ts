import { nowSeconds } from '../ports/expiry.ts'
import type { Random } from '../ports/platform.ts'
import { deleteEnding, type Ending, listEndings, postponeEnding } from '../records/ending.ts'
import { drawId } from '../records/ids.ts'
import type { LogoutRow } from '../records/logout-row.ts'
import type { Found } from '../records/record.ts'
import type { Budget } from '../ticks/budget.ts'
import { type DeliveryParts, deliver } from './back-channel.ts'
import { carryOut } from './carry-out.ts'
import type { EndingParts } from './ending-parts.ts'
import { logoutStore } from './store.ts'

/** Its clock goes on: what a request tells is told after its answer. */
export type TellingParts = Omit<DeliveryParts, 'store'> & Pick<EndingParts, 'state'> & { calls: Budget }

/** calls that a row costs: its lease, the client, and two of the store to take it away or release it */
const A_ROW = 4
/** s: within the 30 s that the platform lets work outlive an answer, and longer than any client may take */
const LEASE = 25

/**
 * Step 7 of an ending: tells its clients, as many as there are calls for, and takes the ending away when nobody is left to tell.
 *
 * @returns `more`: rows were left for want of calls; a row whose client did not answer waits instead, and is no reason to come back at once
 * @throws PortError Unavailable
 */
export async function tellClients(ending: Ending, parts: TellingParts): Promise<'done' | 'more'> {
  const { clock, random, calls } = parts
  const subject = ending.person
  if (subject === undefined) return 'done'
  const store = logoutStore(parts)
  const limit = Math.floor((calls.left() - MARGIN) / A_ROW)
  if (limit < 1) return 'more'

  const lease = { id: drawId(random), until: nowSeconds(clock.now()) + LEASE }
  const targets = await store.leaseTargets({ subject }, lease.id, nowSeconds(clock.now()), lease.until, { dueOnly: true, limit })
  calls.spend(targets.length * A_ROW)
  const { left } = await deliver(targets, lease, { ...parts, store })

  const rows = (await store.rows({ subject })).filter(({ value }) => value.due?.ending === ending.id)
  calls.spend(2 * (1 + Math.ceil(rows.length / PAGE)) + 1)
  if (ending.swept === true) await leave(ending, rows, parts)
  return left > 0 || targets.length === limit ? 'more' : 'done'
}

/** An ending whose clients were all told goes; one whose clients all wait is not looked at before the first of them may be tried again. */
async function leave(ending: Ending, rows: readonly Found<LogoutRow>[], { state, clock }: TellingParts): Promise<void> {
  if (rows.length === 0) return deleteEnding(state, ending.id)
  const next = Math.min(...rows.map(({ value }) => Math.max(value.not_before ?? 0, value.lease?.until ?? 0)))
  if (next > nowSeconds(clock.now())) await postponeEnding(state, ending, next)
}

/** calls kept for listing and for what ends an ending; of the 40 of the free plan enough are left to tell a few */
const MARGIN = 12
const PAGE = 100 // records in one answer of a listing

/**
 * The tick of kind `logout`: does what is left of every ending, sessions first, then clients. One that fails keeps none of the others.
 *
 * @param check called before each ending and before its clients are told: throws when the tick must stop
 */
export async function resumeEndings(
  parts: Omit<EndingParts, 'tell'> & TellingParts,
  check: () => void = () => {},
): Promise<'done' | 'more'> {
  const { state, log, calls, clock } = parts
  let outcome: 'done' | 'more' = 'done'
  const now = nowSeconds(clock.now())
  const all = (await listEndings(state, log, calls)).filter(({ not_before = 0 }) => not_before <= now)
  for (const ending of inFairOrder(all, parts.random)) {
    if (calls.left() < MARGIN) return 'more'
    try {
      check()
      const untold: Ending[] = ending.swept === true ? [ending] : []
      if (ending.swept !== true) {
        const { more } = await carryOut(ending, { ...parts, tell: (one) => void untold.push(one) })
        if (more) outcome = 'more'
      }
      for (const one of untold) {
        check()
        if ((await tellClients(one, parts)) === 'more' || one.swept !== true) outcome = 'more'
      }
    } catch (error) {
      check()
      log.error('ending.unfinished', { error })
    }
  }
  return outcome
}

/** Sessions that still stand first; and, where there are more endings than calls, begun at another one each time, so that each has its turn. */
function inFairOrder(endings: readonly Ending[], random: Random): Ending[] {
  const [drawn = 0] = random.bytes(1)
  const from = Math.floor((drawn / 256) * endings.length)
  const turned = [...endings.slice(from), ...endings.slice(0, from)]
  return [...turned.filter(({ swept }) => swept !== true), ...turned.filter(({ swept }) => swept === true)]
}
