import * as z from 'zod'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import type { Sha256Hex } from '../crypto/digest.ts'
import { equalBytes } from '../crypto/equal.ts'
import { isPortError, PortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Entry, Rev, State } from '../ports/state.ts'
import { type Log, noLog } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { legacyAcr } from './legacy-session.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

const schema = z.looseObject({
  id: z.string(),
  identity: z.string().describe('the person'),
  how: z.string().describe('how they were proved'),
  acr: z.string().optional().describe('absent, as the next two are, where the Go service wrote it'),
  amr: z.array(z.string()).optional(),
  auth_time: instant,
  expires_at: instant,
  silent_until: instant.optional().describe('until when it completes other sign-ins without a page'),
  clients: z.array(z.string()).optional().describe('the clients it has let in'),
  cookie_hash: z.string().describe('labelled hash of the cookie that stands for it'),
  previous_cookie_hash: z
    .string()
    .optional()
    .describe('of the cookie before: good until its pointer is gone, lest a lost answer lose the browser'),
  ended: z.number().optional().describe('unix ms: it has ended; kept so that what it opened can still be found'),
})

export const signIn = {
  key: 'sso.<id>',
  purpose: "A browser's sign-in and the clients it covers.",
  lifetime: 'auth_time + absolute, so that a late sign-out still ends what it opened',
  schema,
} satisfies RecordType<typeof schema>

export type SignIn = z.output<typeof schema> & { acr: string; silent_until: number; clients: string[] }

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
 * The same person again in the same browser: the sign-in keeps its id, and so what it opened stays in reach. The pointer from its new cookie
 * and its place among the person's; then the record, as it stands by then; then the old pointer goes. Until it has gone the old cookie is
 * good too, so that an answer lost on the way loses nothing.
 *
 * @param fresh what a new sign-in of theirs would be; its id is not taken
 * @returns null when it ended meanwhile
 */
export async function renewSignIn(
  stores: { state: State; index: Index },
  found: Found<SignIn>,
  fresh: SignIn,
  ttl: number,
  log: Log,
): Promise<SignIn | null> {
  const { state, index } = stores
  const { id } = found.value
  await Promise.all([createCookiePointer(state, { ...fresh, id }, ttl), index.add(keys.signInsOf(personId(fresh.identity)), id, ttl)])
  let standing: Found<SignIn> | null = found
  for (let attempt = 0; attempt < TRIES && standing !== null; attempt++) {
    const renewed = renewal(standing.value, fresh)
    if (await landed(state.update(standing.entry.key, writeRecord(signIn, renewed), ttl, standing.entry.rev))) {
      await forgetCookies(state, standing.value, log)
      return renewed
    }
    standing = await findSignIn(state, id, log)
  }
  return null
}

function renewal(standing: SignIn, fresh: SignIn): SignIn {
  const { id, clients, cookie_hash: previous_cookie_hash } = standing
  return { ...standing, ...fresh, id, previous_cookie_hash, clients: [...new Set([...clients, ...fresh.clients])] }
}

/** False when the record moved or went. */
async function landed(update: Promise<Rev>): Promise<boolean> {
  try {
    await update
    return true
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return false
    throw error
  }
}

/** What can't be taken away lapses with the sign-in, and stands for nobody else. */
async function forgetCookies(state: State, value: SignIn, log: Log): Promise<void> {
  try {
    await Promise.all(cookieHashes(value).map((hash) => state.delete(keys.signInCookie(hash))))
  } catch (error) {
    log.warn('signin.old_cookie_left', { error })
  }
}

const TRIES = 5 // a sign-in moves when it lets in another client or is renewed; five times within one ending it does not

/**
 * Marks a sign-in ended, so that no code issued under it opens a session. One that is gone, or ended already, is left as it is.
 *
 * @param at unix ms; `asked`, unix seconds, is when it was to end: one whose person was proved again since is another sign-in by now
 * @returns false when it is left, because its person was proved since
 * @throws PortError Unavailable
 */
export async function endSignIn(state: State, id: string, at: { ms: number; asked?: number }, log: Log): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const entry = await state.get(keys.signIn(id))
    const value = readSignIn(entry, log)
    if (entry === null || value === null || value.ended !== undefined) return true
    if (at.asked !== undefined && value.auth_time > at.asked) return false
    const left = value.expires_at - Math.floor(at.ms / 1000)
    const ended = { ...value, ended: at.ms }
    if (await landed(state.update(entry.key, writeRecord(signIn, ended), Math.max(left, 1), entry.rev))) return true
  }
  throw new PortError('Unavailable', 'the sign-in moved each time it was to be ended')
}

/** Takes an ended sign-in away: first what its cookie points by, then the record, then its place among the person's. */
export async function deleteSignIn(stores: { state: State; index: Index }, person: PersonId, id: string): Promise<void> {
  const { state, index } = stores
  const entry = await state.get(keys.signIn(id))
  const value = entry === null ? null : readSignIn(entry, noLog)
  if (value !== null) await Promise.all(cookieHashes(value).map((hash) => state.delete(keys.signInCookie(hash))))
  await state.delete(keys.signIn(id))
  await index.remove(keys.signInsOf(person), id)
}

/** Adds a client to those a sign-in has let in. @throws PortError Conflict, NotFound: it moved meanwhile */
export async function coverClient(state: State, found: Found<SignIn>, clientId: string, ttl: number): Promise<void> {
  const value = { ...found.value, clients: [...found.value.clients, clientId] }
  await state.update(found.entry.key, writeRecord(signIn, value), ttl, found.entry.rev)
}

/** A person's live sign-ins. */
export async function listSignIns(stores: { state: State; index: Index }, person: PersonId, log: Log): Promise<SignIn[]> {
  const ids = await stores.index.members(keys.signInsOf(person))
  const found = await Promise.all(ids.map((id) => findSignIn(stores.state, id, log)))
  return found.flatMap((signIn) => signIn?.value ?? [])
}

export async function findSignIn(state: State, id: string, log: Log): Promise<Found<SignIn> | null> {
  const entry = await state.get(keys.signIn(id))
  const value = readSignIn(entry, log)
  return entry === null || value === null || value.ended !== undefined ? null : { value, entry }
}

/** The live sign-in a cookie stands for. The record must name the same cookie: a pointer left behind proves nothing. */
export async function findSignInByCookie(state: State, hash: Sha256Hex, log: Log): Promise<Found<SignIn> | null> {
  const pointer = await state.get(keys.signInCookie(hash))
  const id = pointer === null ? null : fromUtf8(pointer.value)
  const found = id === null || id === '' ? null : await findSignIn(state, id, log)
  return found !== null && standsFor(found.value, hash) ? found : null
}

/** One of the Go service completes others for all of its life, and no client is known to be covered by it. */
function readSignIn(entry: Entry | null, log: Log): SignIn | null {
  const value = readRecord(signIn, entry, log)
  if (value === null) return null
  const { identity, acr = legacyAcr(value.how), silent_until = value.expires_at, clients = [] } = value
  return { ...value, identity: personId(identity), acr, silent_until, clients }
}

function cookieHashes({ cookie_hash, previous_cookie_hash }: SignIn): string[] {
  return previous_cookie_hash === undefined ? [cookie_hash] : [cookie_hash, previous_cookie_hash]
}

function standsFor({ cookie_hash, previous_cookie_hash = '' }: SignIn, hash: Sha256Hex): boolean {
  const [current, previous] = [cookie_hash, previous_cookie_hash].map((kept) => equalBytes(utf8(kept), utf8(hash)))
  return current === true || previous === true
}

function createCookiePointer(state: State, value: SignIn, ttl: number): Promise<Rev> {
  return state.create(keys.signInCookie(value.cookie_hash), utf8(value.id), ttl)
}
