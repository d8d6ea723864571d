import { isPortError } from '../ports/error.ts'
import { secretAddress } from '../ports/keys.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { Secret, Secrets } from '../ports/secrets.ts'
import { type AcceptedSecrets, createClientSecret, DEFAULT_OVERLAP, drawClientSecret, putOwn, readClientSecret } from './client-secret.ts'

export interface RotationParts {
  secrets: Secrets
  clock: Clock
  random: Random
}

export interface RotationWish {
  /** ms for which the secret of now stays good; 0: from the write on it is refused */
  overlap: number
  /** Also while the secret before is still good, which no more than one can be. */
  force: boolean
}

export type Rotation =
  | { outcome: 'rotated'; previousUntil: number }
  /** There was none. */
  | { outcome: 'made' }
  /** The secret before this one is good for a while still, and would not be. Times in unix ms. */
  | { outcome: 'overlapping'; rotatedAt: number; previousUntil: number }
  /** What stands is no secret of this client, and is never replaced. */
  | { outcome: 'unreadable'; problem: string }
  /** Somebody else wrote meanwhile. */
  | { outcome: 'overtaken' }

/**
 * Gives a generated client a new secret, beside which the one of now stays good for a while. One write decides both (docs/decisions/0027), so
 * whatever is cut short leaves the old state or the new one.
 *
 * @throws PortError Unavailable: it may have been written, or not
 */
export async function rotateClientSecret(id: string, { overlap, force }: RotationWish, parts: RotationParts): Promise<Rotation> {
  const { secrets, clock, random } = parts
  const path = secretAddress.generatedClient(id)
  const kept = await standing(secrets, path)
  if (kept === null) return { outcome: (await createClientSecret(id, parts)) === 'made' ? 'made' : 'overtaken' }
  const accepted = readClientSecret(id, path, kept)
  if ('problem' in accepted) return { outcome: 'unreadable', problem: accepted.problem }
  if (!force && overlapEnd(accepted, clock) !== null)
    return { outcome: 'overlapping', rotatedAt: kept.modified, previousUntil: accepted.previousUntil }

  const previousUntil = clock.now() + overlap
  try {
    // Without the field the document has the bytes that every reader of oidc/v1 knows.
    const value = drawClientSecret(id, random, overlap === DEFAULT_OVERLAP ? undefined : previousUntil)
    await putOwn(secrets, path, value, kept.version)
    return { outcome: 'rotated', previousUntil }
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return { outcome: 'overtaken' }
    throw error
  }
}

/** unix ms: until when the secret before the current one is good; null when none is. */
export function overlapEnd({ current, previous, previousUntil }: AcceptedSecrets, clock: Clock): number | null {
  return previous === null || previous === current || clock.now() >= previousUntil ? null : previousUntil
}

/** A secret with the one before it, as the store has it now; null when there is none. */
export async function standing(secrets: Secrets, path: string): Promise<Secret | null> {
  try {
    return await secrets.get(path, { previous: true, maxAge: 0 })
  } catch (error) {
    if (isPortError(error, 'NotFound')) return null
    throw error
  }
}
