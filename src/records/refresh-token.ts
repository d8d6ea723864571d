import * as z from 'zod'
import { utf8 } from '../crypto/bytes.ts'
import type { Sha256Hex } from '../crypto/digest.ts'
import { keys, type PersonId, sessionRef } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { RecordType } from './record.ts'

const schema = z.string()

export const refreshToken = {
  key: 'rt.<sha256>',
  purpose: 'A live refresh token: `<person>.<sid>`, as text. Never the token.',
  lifetime: 'min(now + refresh, auth_time + absolute): the idle limit',
  schema,
} satisfies RecordType<typeof schema>

/** Seconds a refresh token may lie unused; `at` in unix seconds. */
export function refreshTokenLifetime(at: { now: number; absoluteEnd: number }, refresh: number): number {
  return Math.min(refresh, at.absoluteEnd - at.now)
}

export function createRefreshToken(state: State, hash: Sha256Hex, of: { person: PersonId; sid: string }, ttl: number): Promise<Rev> {
  return state.create(keys.refreshToken(hash), utf8(sessionRef(of.person, of.sid)), ttl)
}
