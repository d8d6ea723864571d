import * as z from 'zod'
import type { Audit } from '../audit/audit.ts'
import { notFound } from '../http/refusal.ts'
import { type Module, modules } from '../ports/layout5.ts'
import type { Clock } from '../ports/platform.ts'
import type { State } from '../ports/state.ts'
import { findMaintenance, liftMaintenance, setMaintenance } from '../records/maintenance.ts'
import type { Log } from '../telemetry/log.ts'

/** What the commands of the maintenance flag work on. */
export interface MaintenanceParts {
  /** Opens a module's State to write the flag, for one command; null where another role than this Worker's sets it. */
  maintenance: ((module: Module) => State) | null
  audit: Pick<Audit, 'record'>
  clock: Clock
  log: Log
}

/** `maintenance.on` (`reason` in words for whoever finds it), `maintenance.off` and `maintenance.status` of one module. */
export const maintenanceCommands = [
  z.strictObject({ command: z.literal('maintenance.on'), module: z.enum(modules), reason: z.string().max(200).optional() }),
  z.strictObject({ command: z.literal('maintenance.off'), module: z.enum(modules) }),
  z.strictObject({ command: z.literal('maintenance.status'), module: z.enum(modules) }),
] as const

export type MaintenanceCommand = z.output<(typeof maintenanceCommands)[number]>

/**
 * What the flag was found to be, and is now.
 *
 * @throws Refusal 404: this Worker does not set it. PortError Unavailable
 */
export async function runMaintenance(
  asked: MaintenanceCommand,
  { maintenance, audit, clock, log }: MaintenanceParts,
): Promise<Record<string, unknown>> {
  if (maintenance === null) throw notFound()
  const state = maintenance(asked.module)
  switch (asked.command) {
    case 'maintenance.on': {
      const { reason } = asked
      const changed = await setMaintenance(state, {
        at: Math.floor(clock.now() / 1_000),
        by: 'operator',
        ...(reason === undefined ? {} : { reason }),
      })
      if (changed) audit.record({ event: 'maintenance.set', by: 'operator', reason: `${asked.module}: ${reason ?? 'no reason given'}` })
      return { ...(await said(state, log)), changed }
    }
    case 'maintenance.off': {
      const before = await findMaintenance(state, log)
      await liftMaintenance(state)
      if (before.set) audit.record({ event: 'maintenance.lifted', by: 'operator', reason: asked.module })
      return { set: false, changed: before.set }
    }
    case 'maintenance.status':
      return said(state, log)
  }
}

async function said(state: State, log: Log): Promise<Record<string, unknown>> {
  const { set, flag } = await findMaintenance(state, log)
  return flag === null ? { set } : { set, since: new Date(flag.at * 1_000).toISOString(), by: flag.by, reason: flag.reason }
}
