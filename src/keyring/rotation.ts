import type { SigningAlg } from '../config/values.ts'
import { isPortError } from '../ports/error.ts'
import { createSigningKey, listRetiredKids, retireSigningKey } from '../records/signing-key.ts'
import { type Kept, type KeyMaking, makeKey } from './first-key.ts'
import type { RingKey } from './rings.ts'
import type { Place, Scheduled } from './schedule.ts'
import { successorKid } from './slot.ts'

/**
 * The successor of a ring's keys, when the newest is as old as keys get: recorded and published now, to sign when everybody has fetched it. Its
 * kid names the rotation period, so of several that make it at once one creates it. Null: it is not due, or another made it.
 *
 * @param keys of this ring alone, as the store has them now; not empty
 * @param prepublish seconds
 * @param check called before the write, for making a key takes a while; throws when the tick must stop
 * @throws PortError Unavailable
 */
export async function succeed(
  alg: SigningAlg,
  keys: readonly RingKey[],
  { prepublish, check, ...making }: KeyMaking & { prepublish: number; check: () => void },
): Promise<Kept | null> {
  const now = Math.floor(making.clock.now() / 1_000)
  if (now < dueAt(keys, making.rotateEvery)) return null

  const kid = await successorKid({ ...making, alg }, await listRetiredKids(making.state, alg), now)
  return createNext(alg, { kid, seenAt: now, activateAt: now + prepublish }, making, { by: 'system', check })
}

/** unix second at which a ring's newest key is as old as keys get, both in seconds. */
function dueAt(keys: readonly Pick<RingKey, 'seenAt'>[], rotateEvery: number): number {
  return Math.max(...keys.map(({ seenAt }) => seenAt)) + rotateEvery
}

/** Whether a ring, as the store has it, has a key to be made or one to be retired. One without a key has. */
export function isDue(keys: readonly Scheduled[], places: readonly Place<Scheduled>[], now: number, rotateEvery: number): boolean {
  return (
    keys.length === 0 || now >= dueAt(keys, rotateEvery) || places.some(({ retiresAfter }) => retiresAfter !== null && now > retiresAfter)
  )
}

/**
 * The successor of a key that is lost: it does not open and never will. It signs at once, or, where the lost key was still to sign, in its
 * place; so relying parties that hold an older key set can't verify it for as long as they keep that. The lost key stays published until the
 * tokens it signed have expired, and the tick retires it. Null: another made it.
 *
 * @throws PortError Unavailable
 */
export async function succeedLost(lost: RingKey, alg: SigningAlg, making: KeyMaking): Promise<Kept | null> {
  const now = Math.floor(making.clock.now() / 1_000)
  // Its own slot is as good as retired: it may be the one of this period.
  const taken = new Set([...(await listRetiredKids(making.state, alg)), lost.id])
  const kid = await successorKid({ ...making, alg }, taken, now)
  return createNext(alg, { kid, seenAt: now, activateAt: Math.max(now, lost.activateAt + 1) }, making, { by: 'operator' })
}

async function createNext(
  alg: SigningAlg,
  named: { kid: string; seenAt: number; activateAt: number },
  making: KeyMaking,
  { by, check = () => {} }: { by: 'system' | 'operator'; check?: () => void },
): Promise<Kept | null> {
  const record = await makeKey(alg, named, making)
  check()
  try {
    const rev = await createSigningKey(making.state, record)
    making.log.info('keyring.next_key', { alg, kid: named.kid })
    making.audit.record({ event: 'key.made', alg, kid: named.kid, by })
    return { record, rev }
  } catch (error) {
    if (isPortError(error, 'Exists')) return null
    throw error
  }
}

/**
 * Retires the keys of a ring that the key set no longer holds: every token they signed has expired.
 *
 * @param check called before each; throws when the tick must stop
 * @throws PortError Unavailable
 */
export async function retire(
  places: readonly Place<RingKey>[],
  now: number,
  { state, audit, log, check }: KeyMaking & { check: () => void },
): Promise<void> {
  for (const { key, retiresAfter } of places) {
    if (retiresAfter === null || now <= retiresAfter) continue
    check()
    await retireSigningKey(state, { alg: key.alg, id: key.id })
    log.info('keyring.retired', { alg: key.alg, kid: key.id })
    audit.record({ event: 'key.retired', alg: key.alg, kid: key.id, by: 'system' })
  }
}
