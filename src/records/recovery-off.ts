import * as z from 'zod'
import { isPortError, PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Clock } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type RecordType, readRecord, writeRecord } from './record.ts'

const generation = z.int().min(1)

const schema = z.looseObject({
  disabled: z
    .array(z.looseObject({ generation, at: instant, by: z.string() }))
    .describe('the generations of the service document whose recovery sign-in was switched off, when and by whom. It only grows'),
})

export const recoveryOff = {
  key: 'rec.recovery.off',
  purpose:
    'The switch of the recovery sign-in: off while the generation of the service document is in it. Never in a backup, never restored.',
  lifetime: 'permanent',
  schema,
} satisfies RecordType<typeof schema>

export type RecoveryOff = z.output<typeof schema>

export interface RecoverySwitch {
  /**
   * Whether the recovery sign-in is off. Asks the store at most every 3 s, and never again once it was.
   *
   * @throws PortError Unavailable: it can't be told, so nobody is let in
   */
  isOff(): Promise<boolean>
}

/** ms: how long after it was thrown the switch may go unnoticed by an isolate (seed: keys) */
const GOOD_FOR = 3_000

/** The switch for one generation of the service document, as this isolate has seen it. A record that can't be read is as good as thrown. */
export function recoverySwitch(options: { state: Pick<State, 'get'>; generation: number; clock: Clock; log: Log }): RecoverySwitch {
  const { state, generation, clock, log } = options
  let off = false
  let readAt = Number.NEGATIVE_INFINITY
  return {
    async isOff() {
      const now = clock.now()
      if (off || Math.abs(now - readAt) < GOOD_FOR) return off
      const entry = await state.get(keys.recoveryOff)
      const record = readRecord(recoveryOff, entry, log)
      const found = entry !== null && (record === null || record.disabled.some((one) => one.generation === generation))
      off ||= found
      readAt = now
      return off
    },
  }
}

const TRIES = 5

/**
 * Switches a generation off for good: a new one in the service document is the only way back.
 *
 * @returns false when it was off
 * @throws PortError Unavailable: the store, or a record there that can't be read, which stays as it is
 */
export async function switchRecoveryOff(state: State, entry: RecoveryOff['disabled'][number], log: Log): Promise<boolean> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const found = await state.get(keys.recoveryOff)
    const record = readRecord(recoveryOff, found, log)
    if (found !== null && record === null)
      throw new PortError('Unavailable', 'the record of the recovery switch can not be read: recovery is off already')
    if (record?.disabled.some((one) => one.generation === entry.generation)) return false
    const value = writeRecord(recoveryOff, { ...record, disabled: [...(record?.disabled ?? []), entry] })
    try {
      if (found === null) await state.create(keys.recoveryOff, value, 'permanent')
      else await state.update(keys.recoveryOff, value, 'permanent', found.rev)
      return true
    } catch (error) {
      if (!isPortError(error, 'Exists', 'Conflict', 'NotFound')) throw error
    }
  }
  throw new PortError('Unavailable', 'the recovery switch is being thrown by several at once: try again')
}

/** Every generation that was switched off, oldest first. @throws PortError Unavailable */
export async function disabledGenerations(state: Pick<State, 'get'>, log: Log): Promise<RecoveryOff['disabled'] | null> {
  const entry = await state.get(keys.recoveryOff)
  return entry === null ? [] : (readRecord(recoveryOff, entry, log)?.disabled ?? null)
}
