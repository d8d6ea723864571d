import * as z from 'zod'
import { keys, type PersonId } from '../ports/keys.ts'
import type { Rev, State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type Found, type RecordType, readRecord, writeRecord } from './record.ts'

const schema = z.looseObject({
  groups: z.array(z.string()),
  at: instant.describe('when the directory said so'),
})

export const held = {
  key: 'issuer:held:<identity>',
  purpose: "A person's groups as the directory last said them, for while it can't be asked.",
  lifetime: 'the hold window, lifetimes.hold',
  schema,
} satisfies RecordType<typeof schema>

export type Held = z.output<typeof schema>

export async function findHeld(state: Pick<State, 'get'>, person: PersonId, log: Log): Promise<Found<Held> | null> {
  const entry = await state.get(keys.held(person))
  const value = readRecord(held, entry, log)
  return entry === null || value === null ? null : { value, entry }
}

/** Over the record that was read, or where there was none: what another wrote meanwhile is newer. @throws PortError Exists, Conflict, NotFound */
export function writeHeld(state: State, person: PersonId, found: Found<Held> | null, value: Held, ttl: number): Promise<Rev> {
  const bytes = writeRecord(held, value)
  return found === null ? state.create(keys.held(person), bytes, ttl) : state.update(keys.held(person), bytes, ttl, found.entry.rev)
}

export function deleteHeld(state: Pick<State, 'delete'>, person: PersonId): Promise<void> {
  return state.delete(keys.held(person))
}
