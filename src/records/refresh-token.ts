import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { type Sha256Hex, sha256Hex } from '../crypto/digest.ts'
import { keys, type PersonId, parseSessionRef, sessionRef } from '../ports/keys.ts'
import type { Entry, FollowedEntry, Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import type { RecordType } from './record.ts'
import { isSpentMark, openSpentMark, type SpentMark } from './spent-mark.ts'

const schema = z.string()

export const refreshToken = {
  key: 'rt.<sha256>',
  purpose:
    'A live refresh token: `<person>.<sid>`, as text; a bare session id where the Go service wrote it. Once spent, ' +
    '`spent:<unix ms>:<sealed successor>:<session id>`. Never the token.',
  lifetime: 'live: min(now + refresh, auth_time + absolute), which is the idle limit; spent: max(auth_time + absolute - now, 30 s)',
  schema,
} satisfies RecordType<typeof schema>

/** Whose session a refresh token stands for. A bare id is of a session as the Go service wrote it. */
export type SessionRef = { person: PersonId; sid: string } | { person: null; sid: string }

/** What a presented refresh token turned out to be. */
export type RefreshToken =
  | { state: 'unknown' }
  | { state: 'live'; entry: FollowedEntry; ref: SessionRef }
  | { state: 'spent'; entry: Entry; mark: SpentMark }

/** seconds: what the mark of a token whose family is over anyway is kept for, so that a racing retry still finds it */
const LEAST_MARK_LIFETIME = 30

/** Seconds a refresh token may lie unused; `at` in unix seconds. */
export function refreshTokenLifetime(at: { now: number; absoluteEnd: number }, refresh: number): number {
  return Math.min(refresh, at.absoluteEnd - at.now)
}

/** Seconds a spent mark is kept: until the family's absolute limit, so that a theft is noticed as long as it could pay. */
export function spentMarkLifetime(at: { now: number; absoluteEnd: number }): number {
  return Math.max(at.absoluteEnd - at.now, LEAST_MARK_LIFETIME)
}

/** A mark that does not open with the token presented, or makes no sense, is an unknown token. */
export async function findRefreshToken(state: State, presented: string, log: Log): Promise<RefreshToken> {
  const entry = await state.get(keys.refreshToken(await sha256Hex(presented)), { follow: keys.sessions })
  const text = entry === null ? null : fromUtf8(entry.value)
  if (entry === null || text === null || text === '') return { state: 'unknown' }
  if (isSpentMark(text)) {
    const mark = await openSpentMark(presented, text)
    if (mark === null) log.warn('refresh_token.unreadable_mark')
    return mark === null ? { state: 'unknown' } : { state: 'spent', entry, mark }
  }
  if (!text.includes('.')) return { state: 'live', entry, ref: { person: null, sid: text } }
  const ref = parseSessionRef(text)
  if (ref === null) log.warn('record.unreadable', { kind: refreshToken.key })
  return ref === null ? { state: 'unknown' } : { state: 'live', entry, ref }
}

export function createRefreshToken(state: State, hash: Sha256Hex, of: { person: PersonId; sid: string }, ttl: number): Promise<Rev> {
  return state.create(keys.refreshToken(hash), utf8(sessionRef(of.person, of.sid)), ttl)
}

/** The successor of a token that an older version spent (`rtrot.`), for the 30 s such a record lives. */
export async function findLegacySuccessor(state: State, presented: string): Promise<string | null> {
  const entry = await state.get(keys.legacySuccessor(await sha256Hex(presented)))
  return entry === null ? null : fromUtf8(entry.value)
}
