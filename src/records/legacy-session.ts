import * as z from 'zod'
import { isPortError } from '../ports/error.ts'
import type { Index } from '../ports/index-set.ts'
import { keys, type PersonId, personId } from '../ports/keys.ts'
import type { Entry, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord } from './record.ts'
import { markSessionEnded, type Session } from './session.ts'

const schema = z.looseObject({
  id: z.string().optional(),
  identity: z.string().min(1),
  client_id: z.string(),
  how: z.enum(['code', 'device', 'exchange']).catch('code'),
  method: z.string().optional(),
  scopes: z.array(z.string()).nullish(),
  resource: z.string().optional(),
  sso: z.string().optional(),
  auth_time: instant.optional(),
  issued_at: instant,
  expires_at: instant,
})

/** A session as the Go service wrote it. Never written: the next rotation of its refresh token writes the form of `ses.` beside it. */
export const legacySession = {
  key: 'issuer:session:<sid>',
  purpose: 'A session as the Go service wrote it. Read and ended, never written. What stands at its `ses.` key takes its place.',
  lifetime: "that service's refresh lifetime",
  schema,
} satisfies RecordType<typeof schema>

/** The record, as a session of ours: what it left empty is absent, and one without auth_time was proved when it was issued. */
export async function findLegacySession(state: State, sid: string, log: Log): Promise<Found<Session> | null> {
  // With a slash it would name what stands at a `ses.` key: the two spellings share a kind.
  return sid.includes('/') ? null : readLegacySession(await state.get(keys.legacySession(sid)), log)
}

/** Those of a person, by the set that service kept. They may stand in the form of `ses.` too. */
export async function listLegacySessionsOf(stores: { state: State; index: Index }, person: PersonId, log: Log): Promise<Found<Session>[]> {
  const ids = await stores.index.members(keys.legacySessionsOf(person))
  const found = await Promise.all(ids.map((sid) => findLegacySession(stores.state, sid, log)))
  return found.flatMap((session) => (session?.value.identity === person ? session : []))
}

/** A page of everybody's. @throws PortError BadPage */
export async function listLegacySessions(
  state: State,
  page: string | undefined,
  log: Log,
): Promise<{ found: Found<Session>[]; next: string | undefined }> {
  const { entries, next } = await state.list(keys.legacySessions, { page })
  return { found: entries.flatMap((entry) => readLegacySession(entry, log) ?? []), next }
}

/** seconds: a refresh that has found the record is over long before */
const LEAST_MARK_LIFETIME = 300

/**
 * Ends it for good. The mark where its `ses.` record stands or would stand comes first: it keeps a refresh under way from writing it there,
 * and takes the place of one that was written. Then the record goes, then the pointer of a `ses.` record.
 *
 * @param ms unix ms
 * @returns true for the one of several that ended it
 */
export async function endLegacySession(state: State, { value, entry }: Found<Session>, ms: number): Promise<boolean> {
  const { id: sid, identity, expires_at } = value
  const ttl = Math.max(expires_at - Math.floor(ms / 1000), LEAST_MARK_LIFETIME)
  await markSessionEnded(state, personId(identity), sid, { ms, ttl })
  const ended = await taken(state, entry)
  await state.delete(keys.sessionPointer(sid))
  return ended
}

async function taken(state: State, { key, rev }: Entry): Promise<boolean> {
  try {
    await state.deleteIfRevision(key, rev)
    return true
  } catch (error) {
    if (isPortError(error, 'NotFound')) return false
    if (!isPortError(error, 'Conflict')) throw error
    // That service runs still, and has just refreshed it.
    await state.delete(key)
    return true
  }
}

function readLegacySession(entry: Entry | null, log: Log): Found<Session> | null {
  const found = readRecord(legacySession, entry, log)
  if (entry === null || found === null) return null
  const { auth_time, scopes, method, resource, sso, ...rest } = found
  const value = {
    ...rest,
    id: entry.key.slice(keys.legacySessions.length),
    identity: personId(found.identity),
    scopes: scopes ?? [],
    auth_time: auth_time !== undefined && auth_time > 0 ? auth_time : found.issued_at,
    acr: legacyAcr(method),
    method: method || undefined,
    resource: resource || undefined,
    sso: sso || undefined,
  }
  return { value, entry }
}

/** What that service asserted and did not record: its recovery sign-in reaches another acr than the directory's. */
export function legacyAcr(method: string | undefined): string {
  return method === 'recovery' ? 'urn:sluis:acr:recovery' : 'urn:sluis:acr:directory'
}
