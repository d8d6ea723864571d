import * as z from 'zod'
import type { Audit } from '../audit/audit.ts'
import { Refusal } from '../http/refusal.ts'
import type { Clock } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import { disabledGenerations, type RecoveryOff, switchRecoveryOff } from '../records/recovery-off.ts'
import type { Log } from '../telemetry/log.ts'

/** What the commands of the recovery switch work on. */
export interface RecoveryParts {
  state: State
  /** `recovery.generation` of the service document; null: it has no recovery sign-in. */
  recoveryGeneration: number | null
  audit: Pick<Audit, 'record'>
  clock: Clock
  log: Log
}

export const recoveryCommands = [
  z.strictObject({ command: z.literal('recovery.off') }),
  z.strictObject({ command: z.literal('recovery.status') }),
] as const

export type RecoveryCommand = z.output<(typeof recoveryCommands)[number]>

/**
 * `recovery.off` switches the recovery sign-in off for the generation that is deployed; `recovery.status` says whether it is on.
 *
 * @throws Refusal 400: there is no recovery sign-in. PortError Unavailable
 */
export async function runRecovery({ command }: RecoveryCommand, parts: RecoveryParts): Promise<Record<string, unknown>> {
  const { state, recoveryGeneration: generation, audit, clock, log } = parts
  if (generation === null) throw noRecovery()
  if (command === 'recovery.status') return said(await disabledGenerations(state, log), generation)
  const changed = await switchRecoveryOff(state, { generation, at: Math.floor(clock.now() / 1_000), by: 'operator' }, log)
  if (changed) audit.record({ event: 'recovery.switched_off', by: 'operator', reason: `generation ${generation}` })
  return { ...said(await disabledGenerations(state, log), generation), changed }
}

function said(disabled: RecoveryOff['disabled'] | null, generation: number): Record<string, unknown> {
  if (disabled === null) return { generation, off: true, reason: 'the record of the switch can not be read' }
  const written = disabled.map((one) => ({ generation: one.generation, at: new Date(one.at * 1_000).toISOString(), by: one.by }))
  return { generation, off: disabled.some((one) => one.generation === generation), disabled: written }
}

function noRecovery(): Refusal {
  return new Refusal(400, {
    code: 'invalid_request',
    description: 'recovery.generation: the service document has none, so there is no recovery sign-in to switch off',
    title: 'Not carried out',
    advice: 'docs/operate.md, "The recovery sign-in".',
  })
}
