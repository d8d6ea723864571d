import * as z from 'zod'
import { publicKey, type VerifiableAlg, verifiableAlg } from '../config/public-key.ts'
import { utf8 } from '../crypto/bytes.ts'
import { keys } from '../ports/keys.ts'
import type { Entry, Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'
import { renewRecords } from './renew.ts'

/** seconds: 30 days (seed: keys), renewed long before a key of a rotating ring gets that old */
export const SIGNING_KEY_LIFETIME = 2_592_000
/** seconds: 20 days; a record that nobody renews for a third of its life is noticed long before it lapses */
const RENEW_UNDER = 1_728_000

const schema = z
  .looseObject({
    id: z.string().min(1).describe('the kid, as in its key'),
    jwk: publicKey.describe('the public key, with kid, alg and use'),
    alg: verifiableAlg,
    seenAt: instant.describe('when it was first recorded'),
    activateAt: instant.describe('when it begins to sign'),
    wrapped: z.base64().optional().describe('the private key as PKCS#8, sealed. Absent: published, and signs nowhere'),
    context: z
      .record(z.string(), z.string())
      .optional()
      .describe('what it was sealed under; absent where an older Go service wrote it, whose contexts follow from the key'),
  })
  .refine(({ id, jwk }) => jwk.kid === undefined || jwk.kid === id, { path: ['jwk', 'kid'] })
  .refine(({ alg, jwk }) => jwk.alg === undefined || jwk.alg === alg, { path: ['jwk', 'alg'] })

export const signingKey = {
  key: 'keyring.<alg>:<kid>',
  purpose: 'A signing key: its public half, its schedule and, sealed, its private half. Never plaintext.',
  lifetime: '30 days, renewed while the key is published',
  schema,
} satisfies RecordType<typeof schema>

export type SigningKey = z.output<typeof schema>

/** The gate of a key's slot: of all who make a key for one kid, one creates it. @throws PortError Exists for the others */
export function createSigningKey(state: State, value: SigningKey): Promise<Rev> {
  return state.create(keys.signingKey(value.alg, value.id), writeRecord(signingKey, value), SIGNING_KEY_LIFETIME)
}

/** Renews the keys of one ring that have less than 20 days left, each in its own spelling, so that a key lives as long as its schedule says. */
export async function renewSigningKeys(state: State, alg: VerifiableAlg): Promise<void> {
  for (const prefix of [keys.signingKeys(alg), keys.legacySigningKeys(alg)])
    await renewRecords(state, prefix, { lifetime: SIGNING_KEY_LIFETIME, under: RENEW_UNDER })
}

/** Writes a key over the record it was read from, with its whole lifetime. @throws PortError Conflict, NotFound: it is another by now, or gone */
export function updateSigningKey(state: State, { value, entry }: Found<SigningKey>): Promise<Rev> {
  return state.update(entry.key, writeRecord(signingKey, value), SIGNING_KEY_LIFETIME, entry.rev)
}

/** The key whose record stands there now, in the spelling it was read in. */
export async function rereadSigningKey(state: State, key: string, log: Log): Promise<Found<SigningKey> | null> {
  const entry = await state.get(key)
  return entry === null ? null : readSigningKey(entry, log)
}

export async function findSigningKey(state: State, alg: VerifiableAlg, kid: string, log: Log): Promise<Found<SigningKey> | null> {
  return rereadSigningKey(state, keys.signingKey(alg, kid), log)
}

/** The first hundred keys under our spelling, of every ring: one read. */
export async function listOwnSigningKeys(state: Pick<State, 'list'>, log: Log): Promise<Found<SigningKey>[]> {
  const { entries } = await state.list(keys.allSigningKeys)
  return entries.flatMap((entry) => readSigningKey(entry, log) ?? [])
}

/** The keys of every ring: those under our spelling in key order, then those under the Go service's, which a listing of ours leaves out. */
export async function listSigningKeys(state: State, log: Log): Promise<Found<SigningKey>[]> {
  const spellings = await Promise.all([keys.allSigningKeys, keys.allLegacySigningKeys].map((prefix) => listAll(state, prefix)))
  return spellings.flat().flatMap((entry) => readSigningKey(entry, log) ?? [])
}

/** seconds: 365 days (seed: keys); by then nobody remembers a kid */
const TOMBSTONE_LIFETIME = 31_536_000

/**
 * Takes a key out of its ring for good: first the tombstone, by which its kid is never taken again, then the record, in the spelling it stands
 * in. A crash between them leaves a key that the next retirement takes.
 *
 * @throws PortError Unavailable
 */
export async function retireSigningKey(state: State, { alg, id }: Pick<SigningKey, 'alg' | 'id'>): Promise<void> {
  await state.put(keys.retiredSigningKey(alg, id), utf8('1'), TOMBSTONE_LIFETIME)
  for (const key of [keys.signingKey(alg, id), keys.legacySigningKey(alg, id)]) await state.delete(key)
}

/** The kids that were retired from a ring: none of them is ever taken again. */
export async function listRetiredKids(state: State, alg: VerifiableAlg): Promise<Set<string>> {
  const prefix = keys.retiredSigningKeys(alg)
  const entries = await listAll(state, prefix)
  return new Set(entries.map(({ key }) => key.slice(prefix.length)))
}

/** A record that stands at another key than its own alg and kid say is no key of that ring: reported, and treated as absent. */
function readSigningKey(entry: Entry, log: Log): Found<SigningKey> | null {
  const value = readRecord(signingKey, entry, log)
  if (value === null) return null
  const { alg, id } = value
  if (keys.signingKey(alg, id) === entry.key || keys.legacySigningKey(alg, id) === entry.key) return { value, entry }
  log.warn('record.unreadable', { kind: signingKey.key, reason: 'alg and id are not those of its key', alg: value.alg, kid: value.id })
  return null
}

async function listAll(state: State, prefix: string): Promise<Entry[]> {
  const entries: Entry[] = []
  let page: string | undefined
  do {
    const part = await state.list(prefix, { page })
    entries.push(...part.entries)
    page = part.next
  } while (page !== undefined)
  return entries
}
