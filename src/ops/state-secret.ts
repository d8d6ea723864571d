import * as z from 'zod'
import type { StateSecretGuard } from '../keyring/state-secret.ts'

/** What the commands of the state secret work on. */
export interface StateSecretCommanded {
  stateSecret: {
    /** What the fingerprint says of the secret. */
    guard(): Promise<StateSecretGuard>
    /** Makes the present secret the instance's; what was found before. */
    accept(): Promise<StateSecretGuard>
  }
}

export const stateSecretCommands = [
  z.strictObject({ command: z.literal('state-secret.status') }),
  z.strictObject({ command: z.literal('state-secret.accept') }),
] as const

export type StateSecretCommand = z.output<(typeof stateSecretCommands)[number]>

/**
 * `found` is what the fingerprint said before; only a `changed` one is `accepted`.
 *
 * @throws PortError Unavailable, NotFound: there is no state secret
 */
export async function runStateSecret(
  { command }: StateSecretCommand,
  { stateSecret }: StateSecretCommanded,
): Promise<Record<string, unknown>> {
  if (command === 'state-secret.status') return { found: await stateSecret.guard() }
  const found = await stateSecret.accept()
  return { found, accepted: found === 'changed' }
}
