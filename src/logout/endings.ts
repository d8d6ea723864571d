import { isPortError } from '../ports/error.ts'
import type { PersonId } from '../ports/keys.ts'
import { createEnding, deleteEnding, type Ending, markSwept } from '../records/ending.ts'
import { drawId } from '../records/ids.ts'
import { endLegacySession, findLegacySession } from '../records/legacy-session.ts'
import { deleteSession, findSession } from '../records/session.ts'
import { findSessionIn } from '../records/sessions.ts'
import { carryOut, type Ended } from './carry-out.ts'
import { isTold, makeRowDue } from './due.ts'
import type { EndingParts } from './ending-parts.ts'

/** What ends: a person's sessions, all or some; or everybody's at one client. */
export type EndingOf = Pick<Ending, 'cause' | 'by'> &
  ({ person: PersonId; which: Ending['which'] } | { person: PersonId | null; which: Extract<Ending['which'], { of: 'client' }> })

/**
 * Ends sessions for one cause, so that a crash at any point leaves something that knows what is still to do: 1 the ending is written down;
 * 2 the sign-ins that end are marked, so that no code of theirs opens another session; 3 the sessions are listed; 4 the row of each is due,
 * and it goes, with its pointer; 5 audit; 6 the sign-ins go; 7 the clients are told. Each step may be done again. More sessions than an
 * invocation has calls for are ended by the ticks that follow.
 *
 * @throws PortError Unavailable: the next tick takes it up
 */
export async function endSessions(of: EndingOf, parts: EndingParts): Promise<Ended> {
  return carryOut(await writeDown(of, parts), parts)
}

/** Ends one session: a single record, so unless a client is to be told nothing of it can be left. False when this person has none under the id. */
export async function endSession(
  of: { person: PersonId; sid: string; cause: Ending['cause']; by: string },
  parts: EndingParts,
): Promise<boolean> {
  const { person, sid, cause, by } = of
  const ending = await dueFor(of, parts)
  const ended = (await endIfLegacy(person, sid, parts)) ?? (await endOurs(person, sid, parts))
  if (ended) parts.audit.record({ event: 'session.ended', subject: person, session: sid, reason: cause, by })
  if (ending !== null) parts.tell(await markSwept(parts.state, ending))
  return ended
}

/**
 * Makes the row of one session due, under an ending of its own, by which the tick ends the session and tells its client if nothing after
 * this comes to it. Null: there is nobody to tell.
 */
export async function makeDue(
  of: { person: PersonId; sid: string; client: string; cause: Ending['cause']; by: string },
  parts: EndingParts,
): Promise<Ending | null> {
  const { person, sid, client, cause, by } = of
  if (!isTold(parts.policy, client)) return null
  const ending = await writeDown({ person, which: { of: 'sessions', ids: [sid] }, cause, by }, parts)
  if (await makeRowDue({ person, sid, client }, ending, parts)) return ending
  await deleteEnding(parts.state, ending.id)
  return null
}

async function writeDown({ person, which, cause, by }: EndingOf, { state, clock, random }: EndingParts): Promise<Ending> {
  const at = Math.floor(clock.now() / 1000)
  const value: Ending = { id: drawId(random), person: person ?? undefined, which, cause, by, at }
  await createEnding(state, value)
  return value
}

/** A client that revokes its own token has no need to be told. */
async function dueFor({ person, sid, cause, by }: Parameters<typeof endSession>[0], parts: EndingParts): Promise<Ending | null> {
  if (cause === 'revoked' || !isTold(parts.policy)) return null
  const session = await findSessionIn(parts.state, person, sid, parts.log)
  return session === null ? null : makeDue({ person, sid, client: session.client_id, cause, by }, parts)
}

const TRIES = 3 // a session moves when a refresh keeps it, which is once in its life

/** True for the one of several that ended it. */
async function endOurs(person: PersonId, sid: string, { state, log }: EndingParts): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const found = await findSession(state, person, sid, log)
    if (found === null) return false
    try {
      await state.deleteIfRevision(found.entry.key, found.entry.rev)
      break
    } catch (error) {
      if (isPortError(error, 'NotFound')) return false
      if (!isPortError(error, 'Conflict')) throw error
    }
  }
  await deleteSession(state, person, sid)
  return true
}

/** One that the Go service wrote, in our form by now or not; null when it wrote none. */
async function endIfLegacy(person: PersonId, sid: string, { state, clock, log }: EndingParts): Promise<boolean | null> {
  const legacy = await findLegacySession(state, sid, log)
  return legacy?.value.identity === person ? endLegacySession(state, legacy, clock.now()) : null
}
