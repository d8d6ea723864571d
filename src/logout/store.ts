import { isPortError } from '../ports/error.ts'
import { nowSeconds } from '../ports/expiry.ts'
import { keys, personId } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import type { Ending } from '../records/ending.ts'
import { DELIVERY_WINDOW, findLogoutPerson, type LogoutEntry, type LogoutRow, listRows, updateRow } from '../records/logout-row.ts'
import type { Found } from '../records/record.ts'
import type { Log } from '../telemetry/log.ts'
import { deliveryIdOf } from './delivery-id.ts'
import { inGroups } from './in-groups.ts'
import { acknowledge, isFree, leaseRows, release, writeRow } from './leases.ts'
import { recordRow } from './record-row.ts'

export interface LogoutStoreParts {
  state: State
  /** For what the seed gives no time: recording, listing, taking, and when a released row is tried again. */
  clock: Clock
  /** Spreads the retries. */
  random: Random
  log: Log
}

/** Which sessions: one, or all of a person's. At least one is given, and `sid` decides where both are. */
export interface LogoutCriteria {
  sid?: string | undefined
  subject?: string | undefined
}

/** A client to be told. At least one of the addresses is not null. */
export interface LogoutTarget {
  client_id: string
  sid: string
  /** The `sub` of its tokens. */
  subject: string
  backchannel_logout_uri: string | null
  session_required: boolean
  frontchannel_logout_uri: string | null
  frontchannel_session_required: boolean
}

export interface LeasedTarget extends LogoutTarget {
  /** Opaque: what to acknowledge or release it by. */
  delivery_id: string
  /** How often it was tried in vain before. */
  attempts: number
}

export interface LeaseOptions {
  /** Only rows that were marked due: what a deliverer asks for. A session that goes on has rows too. */
  dueOnly?: boolean
  /** At most so many rows are tried, each of which is a write: an invocation has only so many calls. All when absent. */
  limit?: number | undefined
}

/**
 * Who is to be told when a session ends (seed: logout-session-store), and how far that has come. Delivery is at least once: leased, told,
 * then acknowledged or released. Criteria that name nobody are refused with a RangeError. Each method may throw PortError Unavailable, and
 * may then be called again. Times are unix seconds.
 */
export interface LogoutStore {
  /**
   * Notes that a client holds a session. Again for the same session and client: addresses and expiry are renewed, while a row that is due
   * stays due until it would have been given up, and a lease stays. One without an address, or over already, is not kept.
   *
   * @throws RangeError the session is another person's
   */
  record(entry: LogoutEntry): Promise<void>
  /** The clients to tell of these sessions. Changes nothing. */
  targets(criteria: LogoutCriteria): Promise<LogoutTarget[]>
  /**
   * The clients to tell, taken out of the store, leased or not: of several that take, each row goes to one. What is recorded meanwhile is
   * taken or stays. A row whose removal got no answer counts as taken: better told twice than never.
   */
  takeTargets(criteria: LogoutCriteria): Promise<LogoutTarget[]>
  /**
   * Takes rows for one worker until `until`: each that no live lease holds, and that does not wait after a release. Two leases never hold
   * one row at once. What a worker leaves behind comes back when its lease ends.
   *
   * @throws RangeError `until` is not after `now`
   */
  leaseTargets(criteria: LogoutCriteria, leaseId: string, now: number, until: number, options?: LeaseOptions): Promise<LeasedTarget[]>
  /** These clients were told: their rows go. Ids that are gone, of another lease or no ids at all are passed over. */
  acknowledgeTargets(leaseId: string, deliveryIds: readonly string[]): Promise<void>
  /** These were not: their rows are free again after a wait that doubles with each attempt (backoff.ts). Passes over what the above does. */
  releaseTargets(leaseId: string, deliveryIds: readonly string[]): Promise<void>
  /** Removes the rows, told or not. */
  delete(criteria: LogoutCriteria): Promise<void>

  /** The rows themselves, due ones too: what an ending marks, and by which it knows whether it is done. */
  rows(criteria: LogoutCriteria): Promise<Found<LogoutRow>[]>
  /**
   * Rows as `rows` read them become due at `now`, and are tried for a day. One that is due already stays as it is: the first ending counts.
   * It is idempotent, and a write a row: a caller with a limited number of calls marks as many as it may.
   */
  markDue(rows: readonly Found<LogoutRow>[], ending: Pick<Ending, 'id' | 'cause'>, now: number): Promise<void>
  /** The clients that `leaseTargets` with `dueOnly` would take at `now`. */
  dueTargets(criteria: LogoutCriteria, now: number): Promise<LogoutTarget[]>
}

/** The logout session store on State. Single-key writes at the revision read are all it needs: docs/design.md, "Logout". */
export function logoutStore(parts: LogoutStoreParts): LogoutStore {
  const { state, clock, log } = parts
  const now = () => nowSeconds(clock.now())

  async function* rowsAt(criteria: LogoutCriteria, at: number): AsyncGenerator<Found<LogoutRow>> {
    const prefix = await prefixOf(criteria, state)
    if (prefix !== null) yield* listRows(state, prefix, at, log)
  }

  const rows = (criteria: LogoutCriteria) => collect(rowsAt(criteria, now()))
  const workable = (criteria: LogoutCriteria, at: number, { dueOnly = false, limit }: LeaseOptions) =>
    collect(rowsAt(criteria, at), (row) => isFree(row, at) && (!dueOnly || row.value.due !== undefined), limit)

  return {
    record: (entry) => recordRow(entry, now(), parts),

    async targets(criteria) {
      return (await rows(criteria)).map(targetOf)
    },

    async takeTargets(criteria) {
      const taken = await inGroups(await rows(criteria), (row) => take(row, now(), parts))
      return taken.filter((row) => row !== null).map(targetOf)
    },

    async leaseTargets(criteria, leaseId, at, until, options = {}) {
      if (!(until > at)) throw new RangeError('a lease ends after it begins')
      const leased = await leaseRows(await workable(criteria, at, options), { id: leaseId, until }, now(), parts)
      return leased.map(leasedTargetOf)
    },

    acknowledgeTargets: (leaseId, deliveryIds) => acknowledge(leaseId, deliveryIds, now(), parts),

    releaseTargets: (leaseId, deliveryIds) => release(leaseId, deliveryIds, now(), parts),

    async delete(criteria) {
      await inGroups(await rows(criteria), ({ entry }) => state.delete(entry.key))
    },

    rows,

    async markDue(found, { id, cause }, at) {
      const due = { ending: id, cause, at }
      await inGroups(found, (row) =>
        writeRow(row, at, parts, async ({ value, entry }) => {
          if (value.due === undefined) await updateRow(state, { entry }, { ...value, due, expires_at: at + DELIVERY_WINDOW }, now())
        }),
      )
    },

    async dueTargets(criteria, at) {
      return (await workable(criteria, at, { dueOnly: true })).map(targetOf)
    },
  }
}

/** What the rows of these sessions start with; null when the session has none. */
async function prefixOf({ sid, subject }: LogoutCriteria, state: State): Promise<string | null> {
  const person = subject ? personId(subject) : null
  if (!sid) {
    if (person === null) throw new RangeError('logout criteria name a session or a subject')
    return keys.logoutsOf(person)
  }
  const holder = (await findLogoutPerson(state, sid)) ?? person
  return holder === null ? null : keys.logoutsOfSession(holder, sid)
}

/** The row as it was when we took it away; null when another did, or when it could not be taken and so is still there. */
async function take(row: Found<LogoutRow>, now: number, parts: LogoutStoreParts): Promise<Found<LogoutRow> | null> {
  try {
    return await writeRow(row, now, parts, async (current) => {
      try {
        await parts.state.deleteIfRevision(current.entry.key, current.entry.rev)
      } catch (error) {
        if (!isPortError(error, 'Unavailable')) throw error
        parts.log.warn('logout.take_unconfirmed', { client: current.value.client_id, error })
      }
      return current
    })
  } catch (error) {
    // Others of the same call were taken, and nobody but its caller knows of them: they must reach it.
    parts.log.warn('logout.not_taken', { client: row.value.client_id, error })
    return null
  }
}

async function collect<Item>(items: AsyncIterable<Item>, isWanted: (item: Item) => boolean = () => true, limit?: number): Promise<Item[]> {
  const wanted: Item[] = []
  if (limit !== undefined && limit <= 0) return wanted
  for await (const item of items) {
    if (isWanted(item)) wanted.push(item)
    if (wanted.length === limit) break
  }
  return wanted
}

function targetOf({ value }: Found<LogoutRow>): LogoutTarget {
  return {
    client_id: value.client_id,
    sid: value.sid,
    subject: value.subject,
    backchannel_logout_uri: value.backchannel_logout_uri ?? null,
    session_required: value.session_required,
    frontchannel_logout_uri: value.frontchannel_logout_uri ?? null,
    frontchannel_session_required: value.frontchannel_session_required,
  }
}

function leasedTargetOf(row: Found<LogoutRow>): LeasedTarget {
  return { ...targetOf(row), delivery_id: deliveryIdOf(row.entry.key), attempts: row.value.attempts }
}
