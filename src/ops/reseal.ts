import * as z from 'zod'
import type { Audit } from '../audit/audit.ts'
import type { VerifiableAlg } from '../config/public-key.ts'
import { type SigningAlg, signingAlg } from '../config/values.ts'
import type { Resealable, Resealed } from '../ports/sealer.ts'

interface KeyName {
  alg: VerifiableAlg
  kid: string
}

/** As much of a Keyring as these commands ask. */
export interface SealedKeys {
  reseal(how: {
    all: boolean
    resealed(key: KeyName): void
  }): Promise<Omit<Resealed, 'unopenable'> & { untold: number; unopenable: KeyName[] }>
  replace(alg: SigningAlg, kid: string): Promise<string | null>
}

/** What the commands of seals work on. */
export interface ResealParts {
  keyring: SealedKeys
  /** The secrets, where we seal them ourselves; null where their store does. */
  sealedSecrets: Resealable | null
  audit: Pick<Audit, 'record'>
}

/**
 * `keyring.reseal`: signing keys and secrets that an earlier key sealed are sealed under the key of now; `all` takes signing keys whose seals
 * don't say what made them too. `keyring.replace`: a key that is lost gets a successor.
 */
export const resealCommands = [
  z.strictObject({ command: z.literal('keyring.reseal'), all: z.boolean().default(false) }),
  z.strictObject({ command: z.literal('keyring.replace'), alg: signingAlg, kid: z.string().min(1).max(200) }),
] as const

export type ResealCommand = z.output<(typeof resealCommands)[number]>

/**
 * Counts, and the names of what does not open; for `keyring.replace` the new kid, null when another made it.
 *
 * @throws PortError Unsupported: no such key, or it is not lost. Unavailable: what was done stays done, and the next run does the rest
 */
export async function runReseal(asked: ResealCommand, { keyring, sealedSecrets, audit }: ResealParts): Promise<Record<string, unknown>> {
  if (asked.command === 'keyring.replace') {
    return { kid: await keyring.replace(asked.alg, asked.kid) }
  }
  const resealed = ({ alg, kid }: KeyName) => audit.record({ event: 'key.resealed', alg, kid, by: 'operator' })
  const { unopenable, ...keys } = await keyring.reseal({ all: asked.all, resealed })
  const names = unopenable.map(({ alg, kid }) => `${alg}:${kid}`)
  return { keys: { ...keys, unopenable: names }, secrets: (await sealedSecrets?.reseal()) ?? null }
}
