import { isPortError, PortError } from '../ports/error.ts'
import type { Random } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import { findRow, type LogoutRow, updateRow } from '../records/logout-row.ts'
import type { Found } from '../records/record.ts'
import type { Log } from '../telemetry/log.ts'
import { backoff } from './backoff.ts'
import { rowKeyOf } from './delivery-id.ts'
import { inGroups } from './in-groups.ts'

export interface LeaseParts {
  state: State
  random: Random
  log: Log
}

/** One worker's hold on rows, in unix seconds. Its id is drawn for it and never used again. */
export type Lease = Pick<NonNullable<LogoutRow['lease']>, 'id' | 'until'>

/** tries over a row that moves: it is written when it is recorded, due, leased and tried, so no row moves often */
const TRIES = 5

/** Whether a worker may take the row at `now`: no lease holds it, and what was tried in vain has waited long enough. */
export function isFree({ value }: Found<LogoutRow>, now: number): boolean {
  const { lease, not_before } = value
  return (lease === undefined || lease.until <= now) && (not_before === undefined || not_before <= now)
}

/**
 * Leases rows at the revision they were read with, and so only those that nobody wrote since: of several workers that read a row free, one
 * gets it. A write whose answer was lost may have landed: its row is not among those returned and comes back when the lease ends. `now` is
 * the store's, for the rows' lifetimes.
 *
 * @throws PortError Unavailable: no row was leased, and some could not be written
 */
export async function leaseRows(
  rows: readonly Found<LogoutRow>[],
  lease: Lease,
  now: number,
  { state, log }: LeaseParts,
): Promise<Found<LogoutRow>[]> {
  const failures: PortError[] = []
  const leased = await inGroups(rows, async ({ value, entry }) => {
    const held = { ...value, lease }
    try {
      return [{ value: held, entry: { ...entry, rev: await updateRow(state, { entry }, held, now) } }]
    } catch (error) {
      if (isPortError(error, 'Unavailable')) failures.push(error)
      else if (!isPortError(error, 'Conflict', 'NotFound')) throw error
      return []
    }
  })
  const [failure] = failures
  if (failure === undefined) return leased.flat()
  if (leased.every((row) => row.length === 0)) throw failure
  log.warn('logout.lease_unconfirmed', { count: failures.length, error: failure })
  return leased.flat()
}

/** Deletes the rows that the lease still holds. */
export async function acknowledge(leaseId: string, deliveryIds: readonly string[], now: number, parts: LeaseParts): Promise<void> {
  await ofLease(leaseId, deliveryIds, now, parts, ({ entry }) => parts.state.deleteIfRevision(entry.key, entry.rev))
}

/** Gives back the rows that the lease still holds, to be tried again later. */
export async function release(leaseId: string, deliveryIds: readonly string[], now: number, parts: LeaseParts): Promise<void> {
  await ofLease(leaseId, deliveryIds, now, parts, async ({ value: { lease: _, ...row }, entry }) => {
    const attempts = row.attempts + 1
    await updateRow(parts.state, { entry }, { ...row, attempts, not_before: now + backoff(attempts, parts.random) }, now)
  })
}

/** Does `write` to each row that the lease holds, at the revision at which it held it. All other ids are passed over. */
async function ofLease(
  leaseId: string,
  deliveryIds: readonly string[],
  now: number,
  parts: LeaseParts,
  write: (row: Found<LogoutRow>) => Promise<void>,
): Promise<void> {
  await inGroups([...new Set(deliveryIds)], async (id) => {
    const key = rowKeyOf(id)
    if (key === null) return parts.log.warn('logout.delivery_id_unknown')
    const holds = ({ value }: Found<LogoutRow>) => value.lease?.id === leaseId
    const row = await findRow(parts.state, key, now, parts.log)
    await writeRow(row, now, parts, (current) => (holds(current) ? write(current) : Promise.resolve()))
  })
}

/**
 * Does `write` to a row at the revision it was read with; to one that moved meanwhile, as it stands then. One that has gone is left.
 *
 * @throws PortError Conflict: it moved as often as it was tried; Unavailable
 */
export async function writeRow<Result>(
  row: Found<LogoutRow> | null,
  now: number,
  { state, log }: Pick<LeaseParts, 'state' | 'log'>,
  write: (row: Found<LogoutRow>) => Promise<Result>,
): Promise<Result | null> {
  let current = row
  for (let tried = 0; tried < TRIES; tried++) {
    if (current === null) return null
    try {
      return await write(current)
    } catch (error) {
      if (isPortError(error, 'NotFound')) return null
      if (!isPortError(error, 'Conflict')) throw error
    }
    current = await findRow(state, current.entry.key, now, log)
  }
  throw new PortError('Conflict', `a logout row moved ${TRIES} times`)
}
