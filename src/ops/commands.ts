import * as z from 'zod'
import { decodeBase64url } from '../crypto/base64url.ts'
import type { Bytes } from '../crypto/bytes.ts'
import { Refusal } from '../http/refusal.ts'
import { isPortError } from '../ports/error.ts'
import type { Secrets } from '../ports/secrets.ts'
import type { Trigger } from '../ports/trigger.ts'
import { findTick, type Tick, type Ticks } from '../ticks/tick.ts'
import { type ClientParts, clientCommands, runClients, type SealAnswer } from './client-secrets.ts'
import { type MaintenanceParts, maintenanceCommands, runMaintenance } from './maintenance.ts'
import { type RecoveryParts, recoveryCommands, runRecovery } from './recovery.ts'
import { type ResealParts, resealCommands, runReseal } from './reseal.ts'
import { runStateSecret, type StateSecretCommanded, stateSecretCommands } from './state-secret.ts'
import { runWorkspaces, type WorkspaceParts, workspaceCommands } from './workspaces.ts'

const base64url = z.string().transform((text, context): Bytes => {
  const bytes = decodeBase64url(text)
  if (bytes !== null && bytes.length > 0) return bytes
  context.addIssue({ code: 'custom', message: 'must be base64url of at least one byte' })
  return z.NEVER
})

const command = z.discriminatedUnion('command', [
  z.strictObject({ command: z.literal('secret.put'), path: z.string(), value: base64url }),
  z.strictObject({ command: z.literal('secret.list'), prefix: z.string() }),
  z.strictObject({ command: z.literal('tick.run'), kind: z.string(), target: z.string() }),
  ...clientCommands,
  ...maintenanceCommands,
  ...recoveryCommands,
  ...workspaceCommands,
  ...resealCommands,
  ...stateSecretCommands,
])

/** What commands work on. */
export interface Commanded extends ClientParts, MaintenanceParts, RecoveryParts, ResealParts, StateSecretCommanded, WorkspaceParts {
  /** Of the request that is answered. */
  sealAnswer: SealAnswer
  secrets: Secrets
  ticks: Ticks
  trigger: Trigger
}

/** Every answer to an operator: what was done, never a secret but one sealed for who asked. */
export type CommandResult = { ok: true } & Record<string, unknown>

/**
 * Carries out one command of an operator: `secret.put` writes a secret at its address, `secret.list` names the addresses below a prefix,
 * `tick.run` has a target run at once; `client.*`: client-secrets.ts; `maintenance.*`: maintenance.ts; `recovery.*`: recovery.ts;
 * `keyring.*`: reseal.ts; `state-secret.*`: state-secret.ts;
 * `workspace.*`: workspaces.ts.
 *
 * @throws Refusal 400: no such command, or one of its fields is wrong. PortError Unavailable
 */
export async function runCommand(body: unknown, parts: Commanded): Promise<CommandResult> {
  const parsed = command.safeParse(body)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    throw badCommand(`${issue?.path.join('.') || 'the body'}: ${issue?.message}`)
  }
  const { data } = parsed
  const said = { event: 'ops.command', command: data.command, by: 'operator' } as const
  try {
    const result = await carryOut(data, parts)
    parts.audit.record(said)
    return { ok: true, ...result }
  } catch (error) {
    const refused = isPortError(error, 'Unsupported', 'TooLarge', 'NotOwner') ? badCommand(error.message) : error
    parts.audit.record({ ...said, reason: refused instanceof Refusal || isPortError(refused) ? refused.code : 'it failed' })
    throw refused
  }
}

async function carryOut(asked: z.output<typeof command>, parts: Commanded): Promise<Record<string, unknown>> {
  const { secrets } = parts
  switch (asked.command) {
    case 'secret.put':
      return { version: await secrets.put(asked.path, asked.value) }
    case 'secret.list':
      return { paths: await secrets.list(asked.prefix) }
    case 'tick.run':
      return runTick(asked, parts)
    case 'client.list':
    case 'client.rotate':
    case 'client.show':
    case 'client.purge':
      return runClients(asked, parts, parts.sealAnswer)
    case 'maintenance.on':
    case 'maintenance.off':
    case 'maintenance.status':
      return runMaintenance(asked, parts)
    case 'recovery.off':
    case 'recovery.status':
      return runRecovery(asked, parts)
    case 'keyring.reseal':
    case 'keyring.replace':
      return runReseal(asked, parts)
    case 'state-secret.status':
    case 'state-secret.accept':
      return runStateSecret(asked, parts)
    case 'workspace.connect':
    case 'workspace.list':
    case 'workspace.probe':
    case 'workspace.refresh':
    case 'workspace.disconnect':
      return runWorkspaces(asked, parts)
  }
}

async function runTick({ kind, target }: Pick<Tick, 'kind' | 'target'>, { ticks, trigger }: Commanded): Promise<Record<string, unknown>> {
  const known = [...ticks.fixed.map((tick) => `${tick.kind}:${tick.target}`), ...ticks.families.map((family) => `${family.kind}:<target>`)]
  if (!/^[\w.-]{1,64}$/.test(target) || findTick(ticks, { kind, target }) === undefined)
    throw badCommand(`there is no tick ${kind}:${target}, only ${known.join(', ')}`)
  await trigger.notify(`${kind}:${target}`)
  return { asked: `${kind}:${target}` }
}

function badCommand(description: string): Refusal {
  return new Refusal(400, {
    code: 'invalid_request',
    description,
    title: 'Not carried out',
    advice: 'docs/operate.md lists the commands and their fields.',
  })
}
