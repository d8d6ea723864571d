import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import type { Sha256Hex } from '../crypto/digest.ts'
import { equalBytes } from '../crypto/equal.ts'
import { isPortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import { keys, personId } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

const schema = z.looseObject({
  id: z.string(),
  identity: z.string().describe('the person'),
  how: z.string().describe('how they were proved'),
  acr: z.string(),
  amr: z.array(z.string()).optional(),
  auth_time: instant,
  expires_at: instant,
  silent_until: instant.describe('until when it completes other sign-ins without a page'),
  clients: z.array(z.string()).describe('the clients it has let in'),
  cookie_hash: z.string().describe('labelled hash of the cookie that stands for it'),
  ended: z.number().optional().describe('unix ms: it has ended; kept so that what it opened can still be found'),
})

export const signIn = {
  key: 'sso.<id>',
  purpose: "A browser's sign-in and the clients it covers.",
  lifetime: 'auth_time + absolute, so that a late sign-out still ends what it opened',
  schema,
} satisfies RecordType<typeof schema>

export type SignIn = z.output<typeof schema>

const pointerSchema = z.string()

export const signInCookie = {
  key: 'issuer:sso-cookie:<hash>',
  purpose: "The sign-in a browser's cookie stands for: its id, as text. Never the cookie.",
  lifetime: "the sign-in's",
  schema: pointerSchema,
} satisfies RecordType<typeof pointerSchema>

/** Writes a new sign-in: its record, the pointer from its cookie, its place among the person's. */
export async function createSignIn(stores: { state: State; index: Index }, value: SignIn, ttl: number): Promise<void> {
  await Promise.all([
    stores.state.create(keys.signIn(value.id), writeRecord(signIn, value), ttl),
    createCookiePointer(stores.state, value, ttl),
    stores.index.add(keys.signInsOf(personId(value.identity)), value.id, ttl),
  ])
}

/**
 * The same person again in the same browser: the sign-in keeps its id and so its sessions. New pointer, record in place, old pointer gone.
 * @throws PortError Conflict or NotFound when it moved meanwhile; the new cookie then stands for nothing
 */
export async function renewSignIn(state: State, found: Found<SignIn>, value: SignIn, ttl: number): Promise<void> {
  await createCookiePointer(state, value, ttl)
  await state.update(found.entry.key, writeRecord(signIn, value), ttl, found.entry.rev)
  await state.delete(keys.signInCookie(found.value.cookie_hash))
}

/** Marks it ended and takes its cookie's pointer away. One that moved is read again by the caller. @throws PortError Conflict */
export async function markSignInEnded(state: State, found: Found<SignIn>, at: { ms: number; ttl: number }): Promise<void> {
  try {
    await state.update(found.entry.key, writeRecord(signIn, { ...found.value, ended: at.ms }), at.ttl, found.entry.rev)
  } catch (error) {
    if (!isPortError(error, 'NotFound')) throw error
  }
  await state.delete(keys.signInCookie(found.value.cookie_hash))
}

export async function findSignIn(state: State, id: string, log: Log): Promise<Found<SignIn> | null> {
  const entry = await state.get(keys.signIn(id))
  const value = readRecord(signIn, entry, log)
  return entry === null || value === null || value.ended !== undefined ? null : { value, entry }
}

/** The live sign-in a cookie stands for. The record must name the same cookie: a pointer left behind proves nothing. */
export async function findSignInByCookie(state: State, hash: Sha256Hex, log: Log): Promise<Found<SignIn> | null> {
  const pointer = await state.get(keys.signInCookie(hash))
  const id = pointer === null ? null : fromUtf8(pointer.value)
  const found = id === null || id === '' ? null : await findSignIn(state, id, log)
  return found !== null && equalBytes(utf8(found.value.cookie_hash), utf8(hash)) ? found : null
}

function createCookiePointer(state: State, value: SignIn, ttl: number): Promise<Rev> {
  return state.create(keys.signInCookie(value.cookie_hash), utf8(value.id), ttl)
}
