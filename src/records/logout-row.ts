import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Entry, Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { endingCause } from './ending.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

/** seconds a client is tried for once its row is due: one that is down over night is back by then */
export const DELIVERY_WINDOW = 86_400

const schema = z
  .looseObject({
    sid: z.string().describe('the session, as in the ID token'),
    subject: z.string().describe('the person'),
    client_id: z.string(),
    backchannel_logout_uri: z.string().optional().describe('where the logout token is posted'),
    session_required: z.boolean().describe('whether its logout token must carry `sid`'),
    frontchannel_logout_uri: z.string().optional().describe('what the signed-out page opens in a frame'),
    frontchannel_session_required: z.boolean().describe('whether that address must carry `iss` and `sid`'),
    expires_at: instant.describe("the session's absolute limit; of a due row, when it is given up"),
    due: z
      .looseObject({ ending: z.string().describe("the ending's id"), cause: endingCause, at: instant })
      .optional()
      .describe('what ended the session: the client is to be told'),
    lease: z
      .looseObject({ id: z.string().describe("one worker's, never used again"), until: instant })
      .optional()
      .describe('who is telling the client, and until when nobody else does'),
    not_before: instant.optional().describe('when it is tried again'),
    attempts: z.int().min(0).describe('how often it was tried in vain'),
  })
  .refine(({ backchannel_logout_uri: back, frontchannel_logout_uri: front }) => back !== undefined || front !== undefined, 'has no address')

export const logoutRow = {
  key: 'logout.<person>.<sid>.<client>',
  purpose: "A client to be told of a session's end, and how; once the session has ended, how far telling it has come.",
  lifetime: "the session's absolute limit; 24 h from when it is due; gone as soon as the client was told",
  schema,
} satisfies RecordType<typeof schema>

export type LogoutRow = z.output<typeof schema>

const pointerSchema = z.string()

export const logoutOf = {
  key: 'logout-of.<sid>',
  purpose: 'Whose logout rows a session has: the person, as text.',
  lifetime: "24 h beyond the session's absolute limit, so that it leads to a row for as long as that is due",
  schema: pointerSchema,
} satisfies RecordType<typeof pointerSchema>

/** What a row begins with (seed: logout-session-store). At least one of the addresses; `expires_at` in unix seconds. */
export interface LogoutEntry {
  sid: string
  subject: string
  client_id: string
  backchannel_logout_uri?: string | null | undefined
  session_required?: boolean | undefined
  frontchannel_logout_uri?: string | null | undefined
  frontchannel_session_required?: boolean | undefined
  expires_at: number
}

/** Whether a client can be told at all: one without an address has no row. */
export function canBeTold(entry: Pick<LogoutEntry, 'backchannel_logout_uri' | 'frontchannel_logout_uri'>): boolean {
  return Boolean(entry.backchannel_logout_uri || entry.frontchannel_logout_uri)
}

/** A row nobody has worked on. */
export function newLogoutRow(entry: LogoutEntry): LogoutRow {
  return {
    sid: entry.sid,
    subject: personId(entry.subject),
    client_id: entry.client_id,
    backchannel_logout_uri: entry.backchannel_logout_uri || undefined,
    session_required: entry.session_required ?? false,
    frontchannel_logout_uri: entry.frontchannel_logout_uri || undefined,
    frontchannel_session_required: entry.frontchannel_session_required ?? false,
    expires_at: entry.expires_at,
    attempts: 0,
  }
}

/**
 * The row and the pointer to it of a session that is being opened, both sent in the turn of the call, so that they share a round with its
 * other records. When it throws, neither is under way any more: both can be deleted. `now` in unix seconds.
 *
 * @throws PortError Exists: the session has a row of this client; NoLifetime: it is over; TooLarge; Unavailable
 */
export async function createLogoutRow(state: State, entry: LogoutEntry, now: number): Promise<void> {
  const value = newLogoutRow(entry)
  const written = await Promise.allSettled([
    createRow(state, value, now),
    state.create(keys.logoutOf(value.sid), utf8(value.subject), pointerLifetime(value, now)),
  ])
  const failed = written.find((write) => write.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** @throws PortError Exists */
export function createRow(state: State, value: LogoutRow, now: number): Promise<Rev> {
  return state.create(
    keys.logout(personId(value.subject), value.sid, value.client_id),
    writeRecord(logoutRow, value),
    value.expires_at - now,
  )
}

/**
 * Writes a row over the revision read, to live until its `expires_at`; `now` in unix seconds, by the store's clock. One that ran out since it
 * was read is written for a second, and is over all the same.
 *
 * @throws PortError Conflict, NotFound
 */
export function updateRow(state: State, { entry }: Pick<Found<LogoutRow>, 'entry'>, value: LogoutRow, now: number): Promise<Rev> {
  return state.update(entry.key, writeRecord(logoutRow, value), Math.max(1, value.expires_at - now), entry.rev)
}

/** The pointer, whether there was one or not. */
export function putLogoutOf(state: State, value: LogoutRow, now: number): Promise<Rev> {
  return state.put(keys.logoutOf(value.sid), utf8(value.subject), pointerLifetime(value, now))
}

/** Whose rows a session has; null when no client is to be told of its end. */
export async function findLogoutPerson(state: State, sid: string): Promise<PersonId | null> {
  const entry = await state.get(keys.logoutOf(sid))
  const text = entry === null ? null : fromUtf8(entry.value)
  return text === null || text === '' ? null : personId(text)
}

/** The row at a key as it stands now, or null: gone, expired at `now` (unix seconds), or unreadable. */
export async function findRow(state: State, key: string, now: number, log: Log): Promise<Found<LogoutRow> | null> {
  const entry = await state.get(key)
  return entry === null ? null : liveRow(entry, now, log)
}

/** The live rows under a prefix, in key order; a page is read when the one before has been gone through. */
export async function* listRows(state: State, prefix: string, now: number, log: Log): AsyncGenerator<Found<LogoutRow>> {
  let page: string | undefined
  do {
    const { entries, next } = await state.list(prefix, { page })
    for (const entry of entries) {
      const row = liveRow(entry, now, log)
      if (row !== null) yield row
    }
    page = next
  } while (page !== undefined)
}

/** A record at another key than its own fields say is nobody's row: reported, and treated as absent. */
function liveRow(entry: Entry, now: number, log: Log): Found<LogoutRow> | null {
  const value = readRecord(logoutRow, entry, log)
  if (value === null) return null
  if (keys.logout(personId(value.subject), value.sid, value.client_id) !== entry.key) {
    log.warn('record.unreadable', { kind: logoutRow.key, reason: 'subject, sid and client_id are not those of its key' })
    return null
  }
  return value.expires_at > now ? { value, entry } : null
}

function pointerLifetime(value: LogoutRow, now: number): number {
  return value.expires_at - now + DELIVERY_WINDOW
}
