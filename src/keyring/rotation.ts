import type { SigningAlg } from '../config/values.ts'
import { isPortError } from '../ports/error.ts'
import { createSigningKey, listRetiredKids, retireSigningKey } from '../records/signing-key.ts'
import { type Kept, type KeyMaking, makeKey } from './first-key.ts'
import type { RingKey } from './rings.ts'
import type { Place } from './schedule.ts'
import { successorKid } from './slot.ts'

/**
 * The successor of a ring's keys, when the newest is as old as keys get: recorded and published now, to sign when everybody has fetched it. Its
 * kid names the rotation period, so of several that make it at once one creates it. Null: it is not due, or another made it.
 *
 * @param keys of this ring alone, as the store has them now; not empty
 * @param prepublish seconds
 * @throws PortError Unavailable
 */
export async function succeed(
  alg: SigningAlg,
  keys: readonly RingKey[],
  { prepublish, ...making }: KeyMaking & { prepublish: number },
): Promise<Kept | null> {
  const now = Math.floor(making.clock.now() / 1_000)
  const newest = Math.max(...keys.map(({ seenAt }) => seenAt))
  if (now < newest + making.rotateEvery) return null

  const kid = await successorKid({ ...making, alg }, await listRetiredKids(making.state, alg), now)
  const record = await makeKey(alg, { kid, seenAt: now, activateAt: now + prepublish }, making)
  try {
    const rev = await createSigningKey(making.state, record)
    making.log.info('keyring.next_key', { alg, kid })
    return { record, rev }
  } catch (error) {
    if (isPortError(error, 'Exists')) return null
    throw error
  }
}

/**
 * Retires the keys of a ring that the key set no longer holds: every token they signed has expired.
 *
 * @throws PortError Unavailable
 */
export async function retire(places: readonly Place<RingKey>[], now: number, { state, log }: KeyMaking): Promise<void> {
  for (const { key, retiresAfter } of places) {
    if (retiresAfter === null || now <= retiresAfter) continue
    await retireSigningKey(state, { alg: key.alg, id: key.id })
    log.info('keyring.retired', { alg: key.alg, kid: key.id })
  }
}
