import { type LogoutStore, logoutStore } from '../../../src/logout/store.ts'
import type { State } from '../../../src/ports/state.ts'
import type { LogoutEntry } from '../../../src/records/logout-row.ts'
import { noLog } from '../../../src/telemetry/log.ts'
import { random } from '../arrange.ts'
import type { Case } from '../cases.ts'
import type { TestClock } from '../state/subject.ts'

/** One table, empty at first, and a clock that all its adapters go by. */
export interface LogoutStoreUnderTest {
  /** A fresh adapter of module oidc: racers are separate adapters. */
  state(): State
  clock: TestClock
}

export interface LogoutCase extends Case<LogoutStoreUnderTest> {
  /** Run again and again, on a store of its own each time. */
  race?: true
}

/** seconds a session lasts in these cases, when they do not say */
export const SESSION = 3_600

export const WORKERS = 6

/** A store as one isolate has it. */
export function open({ state, clock }: LogoutStoreUnderTest): LogoutStore {
  return logoutStore({ state: state(), clock, random, log: noLog })
}

/** unix seconds */
export function nowOf({ clock }: LogoutStoreUnderTest): number {
  return Math.floor(clock.now() / 1_000)
}

/** `wait(subject, n)`: n seconds pass. */
export function wait({ clock }: LogoutStoreUnderTest, seconds: number): void {
  clock.advance(seconds * 1_000)
}

export const ADA = 'ada@acme.example'
export const BOB = 'bob@acme.example'

/** What the client `web` of Ada's session s1 is recorded with, less what the case says. */
export function entry(subject: LogoutStoreUnderTest, fields: Partial<LogoutEntry> = {}): LogoutEntry {
  const client_id = fields.client_id ?? 'web'
  return {
    sid: 's1',
    subject: ADA,
    client_id,
    backchannel_logout_uri: `https://${client_id}.example/out`,
    expires_at: nowOf(subject) + SESSION,
    ...fields,
  }
}

/** Records one row for each of the pairs `<sid> <client>`, of Ada. */
export async function recordAll(subject: LogoutStoreUnderTest, pairs: readonly string[], fields: Partial<LogoutEntry> = {}): Promise<void> {
  const store = open(subject)
  await Promise.all(
    pairs.map((pair) => {
      const [sid = '', client_id = ''] = pair.split(' ')
      return store.record(entry(subject, { ...fields, sid, client_id }))
    }),
  )
}

/** `<sid> <client>` of each, in order. */
export function pairsOf(targets: readonly { sid: string; client_id: string }[]): string[] {
  return targets.map(({ sid, client_id }) => `${sid} ${client_id}`).sort()
}

export function idsOf(targets: readonly { delivery_id: string }[]): string[] {
  return targets.map(({ delivery_id }) => delivery_id)
}

/** The rows of these criteria are ended by one ending. */
export async function end(subject: LogoutStoreUnderTest, criteria = { subject: ADA }, id = 'e1'): Promise<void> {
  const store = open(subject)
  await store.markDue(await store.rows(criteria), { id, cause: 'sign_out' }, nowOf(subject))
}
