import * as z from 'zod'
import { keys } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

/** seconds: from typing a password to its proof; a slow phone takes a few */
export const SRP_LIFETIME = 120

const schema = z.looseObject({
  account: z.string().describe('whose password is to be proved, whether there is such an account or not'),
  A: z.base64url().describe("the browser's public value, padded"),
  B: z.base64url().describe('ours'),
  b: z.base64().describe('the secret of it, sealed'),
  request: z.string().describe('the authorization request it is for'),
  browser: z.string().describe('labelled hash of the browser cookie it is bound to'),
})

export const srpExchange = {
  key: 'srp.<handle>',
  purpose: 'A password sign-in between its two steps. It is gone before the proof is looked at. Never in a backup.',
  lifetime: '2 min',
  schema,
} satisfies RecordType<typeof schema>

export type SrpExchange = z.output<typeof schema>

/** @throws PortError Unavailable, Exists (a handle drawn twice) */
export function createSrpExchange(state: State, handle: string, exchange: SrpExchange): Promise<Rev> {
  return state.create(keys.srp(handle), writeRecord(srpExchange, exchange), SRP_LIFETIME)
}

export async function findSrpExchange(state: State, handle: string, log: Log): Promise<Found<SrpExchange> | null> {
  const entry = await state.get(keys.srp(handle))
  const value = readRecord(srpExchange, entry, log)
  return entry === null || value === null ? null : { value, entry }
}

/**
 * Takes the exchange away: of several who finish it at once, one gets to prove anything.
 * @throws PortError NotFound or Conflict for the others, Unavailable
 */
export function consumeSrpExchange(state: State, exchange: Found<SrpExchange>): Promise<void> {
  return state.deleteIfRevision(exchange.entry.key, exchange.entry.rev)
}
