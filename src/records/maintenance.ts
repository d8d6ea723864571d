import * as z from 'zod'
import { isPortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type RecordType, readRecord, writeRecord } from './record.ts'

const schema = z.looseObject({
  at: instant.describe('since when'),
  by: z.string().describe('who set it'),
  reason: z.string().optional().describe('what for, in words for whoever finds it'),
})

export const maintenance = {
  key: 'rec.maintenance',
  purpose: "A module's maintenance flag: while it stands, whatever it holds, the module writes nothing. Only the restore role writes it.",
  lifetime: 'permanent: until it is lifted',
  schema,
} satisfies RecordType<typeof schema>

export type Maintenance = z.output<typeof schema>

/**
 * Sets the flag; one that stands stays as it is.
 *
 * @param state of the module, opened to write it
 * @returns false when it stood
 * @throws PortError NotOwner, Unavailable
 */
export async function setMaintenance(state: State, flag: Maintenance): Promise<boolean> {
  try {
    await state.create(keys.maintenance, writeRecord(maintenance, flag), 'permanent')
    return true
  } catch (error) {
    if (isPortError(error, 'Exists')) return false
    throw error
  }
}

/** @throws PortError NotOwner, Unavailable */
export function liftMaintenance(state: State): Promise<void> {
  return state.delete(keys.maintenance)
}

/** Whether the flag stands, and what it says where that can be read. @throws PortError Unavailable */
export async function findMaintenance(state: State, log: Log): Promise<{ set: boolean; flag: Maintenance | null }> {
  const entry = await state.get(keys.maintenance)
  return { set: entry !== null, flag: entry === null ? null : readRecord(maintenance, entry, log) }
}
