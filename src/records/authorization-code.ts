import * as z from 'zod'
import type { Sha256Hex } from '../crypto/digest.ts'
import { isPortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { askedClaims, names } from './claims.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

/** seconds (seed: keys). RFC 6749 section 4.1.2 recommends 10 minutes at the most */
export const CODE_LIFETIME = 300

const codeSchema = z.looseObject({
  client_id: z.string(),
  redirect_uri: z.string(),
  code_challenge: z.string().optional().describe('PKCE challenge, S256'),
  identity: z.string().describe('the person'),
  ...names,
  groups: z.array(z.string()).describe('the groups of the policy held when the code was made'),
  scopes: z.array(z.string()),
  nonce: z.string().optional(),
  claims: askedClaims.optional(),
  resource: z.string().optional(),
  sso: z.string().describe('the sign-in it was issued under'),
  method: z.string().describe('how the person was proved'),
  acr: z.string(),
  amr: z.array(z.string()).optional(),
  auth_time: instant,
  expires_at: instant.describe('until when it can be exchanged'),
})

export const authorizationCode = {
  key: 'code.<sha256>',
  purpose: 'An authorization code: everything the token endpoint needs, so that an exchange reads one record.',
  lifetime: '5 min',
  schema: codeSchema,
} satisfies RecordType<typeof codeSchema>

export type AuthorizationCode = z.output<typeof codeSchema>

const spentSchema = z.looseObject({
  client_id: z.string(),
  redirect_uri: z.string().optional().describe('absent for the code of a device'),
  code_challenge: z.string().optional(),
  identity: z.string(),
  jti: z.string().describe('the access token it was exchanged for'),
  session: z.string().describe('the session it opened'),
  token_expires: instant.describe('when that access token expires'),
  code_expires: instant.describe('until when the code could be exchanged'),
  replayed: z.boolean().optional().describe('it was presented again: whatever it opened has ended'),
})

export const spentCode = {
  key: 'issuer:code-spent:<sha256>',
  purpose: 'The tombstone of a redeemed code, of a device too: what a second presentation revokes. Never the code or a token.',
  lifetime: 'until the access token issued for it expires, at least 5 min',
  schema: spentSchema,
} satisfies RecordType<typeof spentSchema>

export type SpentCode = z.output<typeof spentSchema>

export function createCode(state: State, hash: Sha256Hex, code: AuthorizationCode): Promise<Rev> {
  return state.create(keys.code(hash), writeRecord(authorizationCode, code), CODE_LIFETIME)
}

export async function findCode(state: State, hash: Sha256Hex, log: Log): Promise<AuthorizationCode | null> {
  return readRecord(authorizationCode, await state.get(keys.code(hash)), log)
}

/** Seconds a tombstone stands: as long as the token it names and the code it is of, whatever clock each was made by, and five minutes at least. */
export function spentCodeLifetime(spent: Pick<SpentCode, 'token_expires' | 'code_expires'>, now: number): number {
  return Math.max(spent.token_expires - now, spent.code_expires - now, CODE_LIFETIME)
}

/** The gate of the exchange: of N racers one creates it. @throws PortError Exists for the others */
export function createSpentCode(state: State, hash: Sha256Hex, spent: SpentCode, ttl: number): Promise<Rev> {
  return state.create(keys.codeSpent(hash), writeRecord(spentCode, spent), ttl)
}

export async function findSpentCode(state: State, hash: Sha256Hex, log: Log): Promise<Found<SpentCode> | null> {
  const entry = await state.get(keys.codeSpent(hash))
  const value = readRecord(spentCode, entry, log)
  return entry === null || value === null ? null : { value, entry }
}

/** Marks a tombstone as presented again, so that no undo brings its code back. @throws PortError Conflict, NotFound */
export async function markReplayed(state: State, spent: Found<SpentCode>, ttl: number): Promise<void> {
  await state.update(spent.entry.key, writeRecord(spentCode, { ...spent.value, replayed: true }), ttl, spent.entry.rev)
}

/**
 * Takes back the tombstone of an exchange that handed nothing out, so that the code is good again.
 *
 * @param own its access token's id and, when known, the revision it was created at
 * @returns false when it was presented again meanwhile: then it stays
 */
export async function withdrawSpentCode(state: State, hash: Sha256Hex, own: { jti: string; rev: Rev | null }, log: Log): Promise<boolean> {
  let rev = own.rev
  if (rev === null) {
    const standing = await findSpentCode(state, hash, log)
    if (standing === null) return true
    if (standing.value.jti !== own.jti || standing.value.replayed === true) return false
    rev = standing.entry.rev
  }
  try {
    await state.deleteIfRevision(keys.codeSpent(hash), rev)
    return true
  } catch (error) {
    if (isPortError(error, 'NotFound', 'Conflict')) return false
    throw error
  }
}
