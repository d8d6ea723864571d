import { PortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { findLegacySession, listLegacySessions, listLegacySessionsOf } from './legacy-session.ts'
import type { Found } from './record.ts'
import type { SessionRef } from './refresh-token.ts'
import { findSession, findSessionPerson, listOurSessions, liveSession, type Session } from './session.ts'

// Sessions in whichever form they stand: ours, or the Go service's, which stands for as long as nothing stands at its `ses.` key.

/** The live session a refresh token names. */
export async function findSessionOf(state: State, { person, sid }: SessionRef, log: Log): Promise<Session | null> {
  if (person !== null) return (await findSession(state, person, sid, log))?.value ?? null
  const legacy = await findLegacySession(state, sid, log)
  return legacy === null ? null : inEitherForm(state, legacy, log)
}

/** A person's live session. */
export async function findSessionIn(state: State, person: PersonId, sid: string, log: Log): Promise<Session | null> {
  const [entry, legacy] = await Promise.all([state.get(keys.session(person, sid)), findLegacySession(state, sid, log)])
  if (entry !== null) return liveSession(entry, log)?.value ?? null
  return legacy?.value.identity === person ? legacy.value : null
}

/** The live session of an id, whosever it is. */
export async function findSessionById(state: State, sid: string, log: Log): Promise<Session | null> {
  const person = await findSessionPerson(state, sid)
  return person === null ? findSessionOf(state, { person, sid }, log) : findSessionIn(state, person, sid, log)
}

/** A person's live sessions, all pages. */
export async function listSessions(stores: { state: State; index: Index }, person: PersonId, log: Log): Promise<Session[]> {
  const sessions: Session[] = []
  let token: string | undefined
  do {
    const page = await listSessionPage(stores, person, token, log)
    sessions.push(...page.sessions)
    token = page.next
  } while (token !== undefined)
  return sessions
}

/** What tells the token of a page of the Go service's sessions from one of ours, which holds no dot. */
const LEGACY_PAGE = 'go.'

/**
 * A page of live sessions: a person's, or everybody's. Those of the Go service come last.
 *
 * @throws PortError BadPage
 */
export async function listSessionPage(
  stores: { state: State; index: Index },
  person: PersonId | null,
  page: string | undefined,
  log: Log,
): Promise<{ sessions: Session[]; next?: string }> {
  const { state } = stores
  if (page?.startsWith(LEGACY_PAGE) === true) {
    if (person !== null) throw new PortError('BadPage', 'the page is of everybody’s sessions')
    return legacyPage(state, page.slice(LEGACY_PAGE.length), log)
  }
  const ours = await listOurSessions(state, person, page, log)
  if (ours.next !== undefined) return ours
  const { sessions, ...next } =
    person === null
      ? await legacyPage(state, undefined, log)
      : { sessions: await standing(state, await listLegacySessionsOf(stores, person, log), log) }
  return { sessions: [...ours.sessions, ...sessions], ...next }
}

async function legacyPage(state: State, page: string | undefined, log: Log): Promise<{ sessions: Session[]; next?: string }> {
  const { found, next } = await listLegacySessions(state, page, log)
  const sessions = await standing(state, found, log)
  return next === undefined ? { sessions } : { sessions, next: LEGACY_PAGE + next }
}

/** Those that stand in no other form: one that does is listed there, or has ended. */
async function standing(state: State, found: readonly Found<Session>[], log: Log): Promise<Session[]> {
  const now = await Promise.all(found.map((legacy) => inEitherForm(state, legacy, log)))
  return found.flatMap(({ value }, at) => (now[at] === value ? value : []))
}

async function inEitherForm(state: State, { value }: Found<Session>, log: Log): Promise<Session | null> {
  const entry = await state.get(keys.session(personId(value.identity), value.id))
  return entry === null ? value : (liveSession(entry, log)?.value ?? null)
}
