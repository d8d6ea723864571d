import * as z from 'zod'
import type { StateSecretGuard } from '../keyring/state-secret.ts'
import { isPortError } from '../ports/error.ts'

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
 * `found` is what the fingerprint said before; only a `changed` one is `accepted`. `unreadable`, with the reason, is one that can't be read now or
 * is none: nothing is accepted unseen.
 */
export async function runStateSecret(
  { command }: StateSecretCommand,
  { stateSecret }: StateSecretCommanded,
): Promise<Record<string, unknown>> {
  const accepts = command === 'state-secret.accept'
  try {
    const found = accepts ? await stateSecret.accept() : await stateSecret.guard()
    return accepts ? { found, accepted: found === 'changed' } : { found }
  } catch (error) {
    if (!isPortError(error, 'Unavailable', 'NotFound')) throw error
    return { found: 'unreadable', reason: error.message, ...(accepts ? { accepted: false } : {}) }
  }
}
