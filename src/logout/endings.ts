import type { Audit } from '../audit/audit.ts'
import type { Index } from '../ports/index-set.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import { createEnding, deleteEnding, type Ending, listEndings } from '../records/ending.ts'
import { drawId } from '../records/ids.ts'
import { deleteSession, findLegacySession, findSession, listSessions, markSessionEnded, type Session } from '../records/session.ts'
import { deleteSignIn, endSignIn } from '../records/sign-in.ts'
import type { Log } from '../telemetry/log.ts'

/** What an ending works with: the issuer has all of it. */
export interface EndingParts {
  state: State
  index: Index
  clock: Clock
  random: Random
  audit: Audit
  log: Log
}

/** How many records go at once: as many as a Worker has connections, twice. */
const AT_ONCE = 12

/**
 * Ends sessions of a person for one cause, so that a crash at any point leaves something that knows what is still to do: 1 the ending is
 * written down; 2 the sign-ins that end are marked, so that no code of theirs opens another session; 3 the person's sessions are listed;
 * 4 each goes, with its pointer; 5 audit; 6 the sign-ins go. Each step may be done again.
 *
 * @returns how many sessions ended
 * @throws PortError Unavailable: the next tick takes it up
 */
export async function endSessions(of: Pick<Ending, 'which' | 'cause' | 'by'> & { person: PersonId }, parts: EndingParts): Promise<number> {
  const value: Ending = { ...of, id: drawId(parts.random), at: Math.floor(parts.clock.now() / 1000) }
  await createEnding(parts.state, value)
  return carryOut(value, parts)
}

/** seconds: a refresh that found a session of the Go service is over long before */
const ENDED_MARK_LIFETIME = 300

/** Ends one session: a single record, so nothing of it can be left. False when this person has none, or no more, under the id. */
export async function endSession(
  of: { person: PersonId; sid: string; cause: Ending['cause']; by: string },
  parts: EndingParts,
): Promise<boolean> {
  const { person, sid, cause, by } = of
  const { state, audit, log } = parts
  if ((await findSession(state, person, sid, log)) !== null) await deleteSession(state, person, sid)
  else if (!(await endLegacySession(person, sid, parts))) return false
  audit.record({ event: 'session.ended', subject: person, session: sid, reason: cause, by })
  return true
}

/** One that the Go service wrote: the mark keeps a refresh under way from writing it in our form. */
async function endLegacySession(person: PersonId, sid: string, { state, clock, log }: EndingParts): Promise<boolean> {
  const legacy = await findLegacySession(state, sid, log)
  if (legacy?.identity !== person) return false
  await markSessionEnded(state, person, sid, { ms: clock.now(), ttl: ENDED_MARK_LIFETIME })
  await state.delete(keys.legacySession(sid))
  return true
}

/** Does what is left of endings that something cut short. */
export async function resumeEndings(parts: EndingParts): Promise<void> {
  for (const ending of await listEndings(parts.state, parts.log)) await carryOut(ending, parts)
}

async function carryOut(ending: Ending, parts: EndingParts): Promise<number> {
  const person = personId(ending.person)
  const signIns = await signInsOf(ending, parts)
  const at = { ms: parts.clock.now() }
  for (const id of signIns) await endSignIn(parts.state, id, at, parts.log)

  const sessions = (await listSessions(parts.state, person, parts.log)).filter((session) => isMeant(ending, session))
  for (let from = 0; from < sessions.length; from += AT_ONCE) {
    await Promise.all(sessions.slice(from, from + AT_ONCE).map(({ id }) => deleteSession(parts.state, person, id)))
  }
  const { cause, by } = ending
  if (sessions.length > 0 || signIns.length > 0) {
    parts.audit.record({
      event: 'sessions.ended',
      subject: person,
      reason: cause,
      by,
      count: sessions.length,
      sign_in: signIns.join(' ') || undefined,
    })
  }
  for (const id of signIns) await deleteSignIn(parts, person, id)
  await deleteEnding(parts.state, ending.id)
  return sessions.length
}

async function signInsOf({ which, person }: Ending, { index }: EndingParts): Promise<string[]> {
  switch (which.of) {
    case 'everything':
      return index.members(keys.signInsOf(personId(person)))
    case 'sign_ins':
      return which.ids
    case 'client':
      return []
  }
}

/** A device's session rests on no sign-in: signing a browser out leaves it, and only its person or an operator ends it. */
function isMeant({ which }: Ending, session: Session): boolean {
  switch (which.of) {
    case 'everything':
      return true
    case 'sign_ins':
      return session.sso !== undefined && which.ids.includes(session.sso)
    case 'client':
      return session.client_id === which.client
  }
}
