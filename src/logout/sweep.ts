import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Ending } from '../records/ending.ts'
import { endLegacySession, findLegacySession } from '../records/legacy-session.ts'
import { findRow, type LogoutRow } from '../records/logout-row.ts'
import type { Found } from '../records/record.ts'
import { deleteSession, markSessionEnded, type Session } from '../records/session.ts'
import { findSessionIn, listSessionPage } from '../records/sessions.ts'
import { deleteSignIn, endSignIn } from '../records/sign-in.ts'
import { isTold } from './due.ts'
import type { EndingParts } from './ending-parts.ts'
import { IN_A_GROUP, inGroups } from './in-groups.ts'
import { isMeant } from './is-meant.ts'
import { logoutStore } from './store.ts'

/** What a sweep came to. */
export interface Swept {
  /** How many sessions of each person it ended. */
  ended: ReadonlyMap<PersonId, number>
  /** False: the calls ran out, and a later sweep goes on. */
  done: boolean
  /** The page of sessions it goes on with. */
  page: string | undefined
  /** Rows are due: clients are to be told. */
  due: boolean
}

/** calls that taking one session away costs at most: its row, looked for and written, the Go service's record looked for, and what stands in either form */
const A_SESSION = 6
/** of the calls that are left, the part that a sweep leaves to telling the clients: a session that stands is worse than a client that waits */
const FOR_TELLING = 0.1

/**
 * Steps 2 to 6 of an ending (endings.ts), of one person's sessions, or of everybody's at a client that is not to be told. What has been done is
 * not there to be done again: a sweep after a crash, or after the calls ran out, goes on.
 */
export async function sweep(ending: Ending, person: PersonId | null, parts: EndingParts): Promise<Swept> {
  const { state, log, calls, clock } = parts
  const tells = person !== null && isTold(parts.policy)
  const keep = tells ? Math.floor(calls.left() * FOR_TELLING) : 0

  const signIns: string[] = []
  for (const id of await signInsOf(ending, person, parts)) {
    calls.spend(2)
    if (await endSignIn(state, id, { ms: clock.now(), asked: ending.at }, log)) signIns.push(id)
  }
  const rows = tells ? await rowsOf(person, parts) : new Map<string, Found<LogoutRow>>()
  let due = [...rows.values()].some(({ value }) => value.due?.ending === ending.id)
  let done = true
  const ended = new Map<PersonId, number>()
  let page = ending.page
  for await (const { group, of } of meant(ending, person, parts)) {
    page = of
    const room = Math.max(0, Math.floor((calls.left() - keep) / A_SESSION))
    const sessions = group.slice(0, room)
    const taken = await inGroups(sessions, async (session) => {
      const row = tells ? (rows.get(session.id) ?? (await lateRow(session, parts))) : null
      await takeAway(session, row, ending, parts)
      return row !== null
    })
    due ||= taken.includes(true)
    for (const { identity } of sessions) ended.set(personId(identity), (ended.get(personId(identity)) ?? 0) + 1)
    done = room > 0 && sessions.length === group.length
    if (!done) break
  }

  auditSweep(ending, person, ended, signIns, parts)
  if (done && person !== null) for (const id of signIns) await deleteSignIn(parts, person, id)
  return { ended, done, page, due }
}

async function signInsOf({ which }: Ending, person: PersonId | null, { index, calls }: EndingParts): Promise<readonly string[]> {
  switch (which.of) {
    case 'everything':
      calls.spend(1)
      return person === null ? [] : index.members(keys.signInsOf(person))
    case 'sign_ins':
      return which.ids
    case 'client':
    case 'sessions':
      return []
  }
}

/** A person's rows by their session. */
async function rowsOf(person: PersonId, parts: EndingParts): Promise<Map<string, Found<LogoutRow>>> {
  const rows = await logoutStore(parts).rows({ subject: person })
  parts.calls.spend(1 + Math.ceil(rows.length / PAGE))
  return new Map(rows.map((row) => [row.value.sid, row]))
}

const PAGE = 100 // records in one answer of a listing

interface Meant {
  group: Session[]
  /** The page they are of; undefined is the first. */
  of: string | undefined
}

/** The sessions that are meant, a group at a time; an empty one for a page that has none, after which the calls may have run out all the same. */
async function* meant(ending: Ending, person: PersonId | null, parts: EndingParts): AsyncGenerator<Meant> {
  const { which } = ending
  if (which.of === 'sessions' && person !== null) {
    const found = await Promise.all(which.ids.map((id) => findSessionIn(parts.state, person, id, parts.log)))
    parts.calls.spend(2 * which.ids.length)
    yield { group: found.filter((session) => session !== null), of: undefined }
    return
  }
  let page = ending.page
  do {
    const { sessions, next } = await listSessionPage(parts, person, page, parts.log)
    parts.calls.spend(2)
    const wanted = sessions.filter((session) => isMeant(ending, session))
    for (let from = 0; from < Math.max(1, wanted.length); from += IN_A_GROUP)
      yield { group: wanted.slice(from, from + IN_A_GROUP), of: page }
    page = next
  } while (page !== undefined)
}

/** seconds: an exchange or a refresh that is under way is over long before */
const MARK_LIFETIME = 300

/** The row of a session that was opened, or adopted, while its person's rows were being read. */
async function lateRow({ id, identity, client_id }: Session, { state, policy, clock, calls, log }: EndingParts) {
  if (!isTold(policy, client_id)) return null
  calls.spend(1)
  return findRow(state, keys.logout(personId(identity), id, client_id), Math.floor(clock.now() / 1000), log)
}

/** The row first: a crash after it tells a client of a session that the next sweep ends; the other way round it would not be told. */
async function takeAway({ id, identity }: Session, row: Found<LogoutRow> | null, ending: Ending, parts: EndingParts): Promise<void> {
  const { state, log, clock, calls } = parts
  const person = personId(identity)
  if (row !== null) {
    calls.spend(1)
    await logoutStore(parts).markDue([row], ending, Math.floor(clock.now() / 1000))
  }
  calls.spend(3)
  const legacy = await findLegacySession(state, id, log)
  if (legacy?.value.identity === person) {
    calls.spend(1)
    await endLegacySession(state, legacy, clock.now())
    return
  }
  // A code that is replayed may be under way to open the session again: the mark is in its way.
  if (ending.cause === 'reuse') await markSessionEnded(state, person, id, { ms: clock.now(), ttl: MARK_LIFETIME })
  else await deleteSession(state, person, id)
}

/** One event a person, also for a sign-in that had nothing open. */
function auditSweep(
  { which, cause, by }: Ending,
  person: PersonId | null,
  ended: ReadonlyMap<PersonId, number>,
  signIns: readonly string[],
  { audit }: EndingParts,
): void {
  const people = new Set([...ended.keys(), ...(person !== null && signIns.length > 0 ? [person] : [])])
  const client = which.of === 'client' ? which.client : undefined
  const sign_in = signIns.length === 0 ? undefined : signIns.join(' ')
  for (const subject of people) {
    audit.record({ event: 'sessions.ended', subject, client, reason: cause, by, count: ended.get(subject) ?? 0, sign_in })
  }
}
