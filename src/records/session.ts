import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { isPortError } from '../ports/error.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Entry, Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { askedClaims, names } from './claims.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

const live = z.looseObject({
  id: z.string().describe('the session id, the `sid` of its tokens'),
  identity: z.string().describe('the person'),
  client_id: z.string(),
  how: z.enum(['code', 'device', 'exchange']).describe('the grant it began with'),
  method: z.string().optional().describe('how the person was proved'),
  acr: z.string().optional(),
  amr: z.array(z.string()).optional(),
  ...names,
  scopes: z.array(z.string()),
  claims: askedClaims.optional(),
  resource: z.string().optional(),
  sso: z.string().optional().describe('the sign-in it began under'),
  auth_time: instant,
  issued_at: instant,
  expires_at: instant.describe('when the record lapses unless it is written again'),
  last_refreshed: instant.optional().describe('the last refresh that wrote the record; most need not'),
})

const ended = z.looseObject({ ended: z.number().describe('unix ms: the session has ended, and nothing may bring it back') })

// The live form first: nearly every session read is one, and a form that does not fit costs more than one that does.
const schema = z.union([live, ended])

export const session = {
  key: 'ses.<person>.<sid>',
  purpose: "One client's session of one person; or the mark that it has ended, which every reader treats as absent.",
  lifetime: 'min(now + 2 x refresh, auth_time + absolute)',
  schema,
} satisfies RecordType<typeof schema>

export type Session = z.output<typeof live>

const pointerSchema = z.string()

export const sessionPointer = {
  key: 'sid.<sid>',
  purpose: 'Whose session an id is: the person, as text.',
  lifetime: "the session's",
  schema: pointerSchema,
} satisfies RecordType<typeof pointerSchema>

/**
 * Seconds a session's records live: twice the idle limit, so that one ended by the absolute limit can be told from one that idled out.
 *
 * @param at unix seconds: now, and the absolute limit of the session
 */
export function sessionLifetime(at: { now: number; absoluteEnd: number }, refresh: number): number {
  return Math.min(2 * refresh, at.absoluteEnd - at.now)
}

/** @throws PortError Exists: it was opened, or ended before it could be */
export function createSession(state: State, value: Session, ttl: number): Promise<Rev> {
  return state.create(keys.session(personId(value.identity), value.id), writeRecord(session, value), ttl)
}

/** The pointer again, for as long as its session now lives. */
export function renewSessionPointer(state: State, value: Session, ttl: number): Promise<Rev> {
  return state.put(keys.sessionPointer(value.id), utf8(value.identity), ttl)
}

export function createSessionPointer(state: State, value: Session, ttl: number): Promise<Rev> {
  return state.create(keys.sessionPointer(value.id), utf8(value.identity), ttl)
}

export async function findSession(state: State, person: PersonId, sid: string, log: Log): Promise<Found<Session> | null> {
  return liveSession(await state.get(keys.session(person, sid)), log)
}

/** Whose session an id is. */
export async function findSessionPerson(state: State, sid: string): Promise<PersonId | null> {
  const entry = await state.get(keys.sessionPointer(sid))
  const text = entry === null ? null : fromUtf8(entry.value)
  return text === null || text === '' ? null : personId(text)
}

/**
 * A page of live sessions in this form: a person's, or everybody's.
 *
 * @throws PortError BadPage
 */
export async function listOurSessions(
  state: State,
  person: PersonId | null,
  page: string | undefined,
  log: Log,
): Promise<{ sessions: Session[]; next?: string }> {
  const { entries, next } = await state.list(person === null ? keys.sessions : keys.sessionsOf(person), { page })
  const sessions = entries.flatMap((entry) => liveSession(entry, log)?.value ?? [])
  return next === undefined ? { sessions } : { sessions, next }
}

/** Writes a session again over the revision read: it would lapse before its refresh token. @throws PortError Conflict, NotFound */
export function updateSession(state: State, found: Found<Session>, value: Session, ttl: number): Promise<Rev> {
  return state.update(found.entry.key, writeRecord(session, value), ttl, found.entry.rev)
}

/** Ends a session for good, whether it was opened or is about to be: the mark stands where the record would. */
export async function markSessionEnded(state: State, person: PersonId, sid: string, at: { ms: number; ttl: number }): Promise<void> {
  await state.put(keys.session(person, sid), writeRecord(session, { ended: at.ms }), at.ttl)
}

/** Takes a session away: its pointer last, by which a retry finds what a crash left. */
export async function deleteSession(state: State, person: PersonId, sid: string): Promise<void> {
  await state.delete(keys.session(person, sid))
  await state.delete(keys.sessionPointer(sid))
}

/** Takes back a session that was never handed out. An ended mark, or what somebody else wrote since, stays. */
export async function withdrawSession(state: State, person: PersonId, sid: string, rev: Rev | null, log: Log): Promise<void> {
  const key = keys.session(person, sid)
  const written = rev ?? liveSession(await state.get(key), log)?.entry.rev
  if (written === undefined) return
  try {
    await state.deleteIfRevision(key, written)
  } catch (error) {
    if (!isPortError(error, 'Conflict', 'NotFound')) throw error
  }
}

/** What an entry at a session's key says: null where it is the mark that it has ended. */
export function liveSession(entry: Entry | null, log: Log): Found<Session> | null {
  const value = readRecord(session, entry, log)
  return entry === null || value === null || isEnded(value) ? null : { value, entry }
}

function isEnded(value: z.output<typeof schema>): value is z.output<typeof ended> {
  return typeof value.ended === 'number'
}
