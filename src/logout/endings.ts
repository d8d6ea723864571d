import type { Audit } from '../audit/audit.ts'
import { isPortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import { createEnding, deleteEnding, type Ending, listEndings } from '../records/ending.ts'
import { drawId } from '../records/ids.ts'
import { endLegacySession, findLegacySession } from '../records/legacy-session.ts'
import { deleteSession, findSession, type Session } from '../records/session.ts'
import { listSessionPage } from '../records/sessions.ts'
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

/** What ends: a person's sessions, all or some; or everybody's at one client. */
export type EndingOf = Pick<Ending, 'cause' | 'by'> &
  ({ person: PersonId; which: Ending['which'] } | { person: PersonId | null; which: Extract<Ending['which'], { of: 'client' }> })

/**
 * Ends sessions for one cause, so that a crash at any point leaves something that knows what is still to do: 1 the ending is written down;
 * 2 the sign-ins that end are marked, so that no code of theirs opens another session; 3 the sessions are listed; 4 each goes, with its
 * pointer; 5 audit; 6 the sign-ins go. Each step may be done again.
 *
 * @returns how many sessions ended
 * @throws PortError Unavailable: the next tick takes it up
 */
export async function endSessions({ person, which, cause, by }: EndingOf, parts: EndingParts): Promise<number> {
  const at = Math.floor(parts.clock.now() / 1000)
  const value: Ending = { id: drawId(parts.random), person: person ?? undefined, which, cause, by, at }
  await createEnding(parts.state, value)
  return carryOut(value, parts)
}

/** Ends one session: a single record, so nothing of it can be left. False when this person has none, or no more, under the id. */
export async function endSession(
  of: { person: PersonId; sid: string; cause: Ending['cause']; by: string },
  parts: EndingParts,
): Promise<boolean> {
  const { person, sid, cause, by } = of
  const { audit } = parts
  if (!((await endIfLegacy(person, sid, parts)) ?? (await endOurs(person, sid, parts)))) return false
  audit.record({ event: 'session.ended', subject: person, session: sid, reason: cause, by })
  return true
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

/** Endings an invocation takes up: a person's sessions are tens of calls, and an invocation has hundreds. */
const ENDINGS_A_TICK = 10

/** Does what is left of endings that something cut short. One that fails again keeps none of the others. */
export async function resumeEndings(parts: EndingParts): Promise<void> {
  for (const ending of (await listEndings(parts.state, parts.log)).slice(0, ENDINGS_A_TICK)) {
    try {
      await carryOut(ending, parts)
    } catch (error) {
      parts.log.error('ending.unfinished', { error })
    }
  }
}

async function carryOut(ending: Ending, parts: EndingParts): Promise<number> {
  const { state, log } = parts
  const signIns: string[] = []
  for (const id of await signInsOf(ending, parts)) {
    if (await endSignIn(state, id, { ms: parts.clock.now(), asked: ending.at }, log)) signIns.push(id)
  }
  const ended = await endListed(ending, parts)
  auditEnding(ending, ended, signIns, parts)

  const { person = '' } = ending
  for (const id of signIns) await deleteSignIn(parts, personId(person), id)
  await deleteEnding(state, ending.id)
  return [...ended.values()].reduce((sum, count) => sum + count, 0)
}

/** One event a person, also for a sign-in that had nothing open. */
function auditEnding(
  { person, which, cause, by }: Ending,
  ended: ReadonlyMap<PersonId, number>,
  signIns: readonly string[],
  { audit }: EndingParts,
): void {
  const people = new Set([...ended.keys(), ...(person !== undefined && signIns.length > 0 ? [personId(person)] : [])])
  const client = which.of === 'client' ? which.client : undefined
  const sign_in = signIns.length === 0 ? undefined : signIns.join(' ')
  for (const subject of people) {
    audit.record({ event: 'sessions.ended', subject, client, reason: cause, by, count: ended.get(subject) ?? 0, sign_in })
  }
}

/** Lists whose sessions these are, a page at a time, and takes away those that are meant: how many of each person's. */
async function endListed(ending: Ending, parts: EndingParts): Promise<Map<PersonId, number>> {
  const person = ending.person === undefined ? null : personId(ending.person)
  const ended = new Map<PersonId, number>()
  let token: string | undefined
  do {
    const page = await listSessionPage(parts, person, token, parts.log)
    const meant = page.sessions.filter((session) => isMeant(ending, session))
    for (let from = 0; from < meant.length; from += AT_ONCE) {
      await Promise.all(meant.slice(from, from + AT_ONCE).map((session) => takeAway(session, parts)))
    }
    for (const { identity } of meant) ended.set(personId(identity), (ended.get(personId(identity)) ?? 0) + 1)
    token = page.next
  } while (token !== undefined)
  return ended
}

async function takeAway({ id, identity }: Session, parts: EndingParts): Promise<void> {
  const person = personId(identity)
  if ((await endIfLegacy(person, id, parts)) === null) await deleteSession(parts.state, person, id)
}

async function signInsOf({ which, person = '' }: Ending, { index }: EndingParts): Promise<string[]> {
  switch (which.of) {
    case 'everything':
      return index.members(keys.signInsOf(personId(person)))
    case 'sign_ins':
      return which.ids
    case 'client':
      return []
  }
}

/**
 * What was opened after the ending was asked for is not meant: a tick that takes it up late signs nobody out of what they began since. A
 * device's session rests on no sign-in: signing a browser out leaves it, and only its person or an operator ends it.
 */
function isMeant({ which, at }: Ending, session: Session): boolean {
  if (session.auth_time > at) return false
  switch (which.of) {
    case 'everything':
      return true
    case 'sign_ins':
      return session.sso !== undefined && which.ids.includes(session.sso)
    case 'client':
      return session.client_id === which.client
  }
}
