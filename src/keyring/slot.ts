import { encodeBase64url } from '../crypto/base64url.ts'
import { labelledDigest } from '../crypto/digest.ts'

/** What a kid is the name of: the place of one key in the life of a ring. All who make a key for one slot meet at one record. */
export interface Slot {
  instance: string
  alg: string
  /** The unix second at which the rotation period begins; 0 for a ring that never had a key. */
  period: number
  /** 0, and one more for each retired kid of the period. */
  counter: number
}

/** characters: 132 bits of the digest, as many as a random 16-byte kid has */
const KID_LENGTH = 22

/** The kid of a slot: first characters of base64url(SHA-256(`sluis kid v1` NUL instance NUL alg NUL period NUL counter)). */
export async function slotKid({ instance, alg, period, counter }: Slot): Promise<string> {
  const digest = await labelledDigest('sluis kid v1', instance, alg, String(period), String(counter))
  return encodeBase64url(digest).slice(0, KID_LENGTH)
}

/**
 * The kid for the key of a ring that has no live one: period 0 when it never had any, so that everybody who finds it empty, at whatever
 * time, makes the same one; else the period that `now` (unix seconds) is in, past the kids retired from it.
 */
export async function emptyRingKid(
  ring: { instance: string; alg: string; rotateEvery: number },
  retired: ReadonlySet<string>,
  now: number,
): Promise<string> {
  const period = retired.size === 0 ? 0 : periodOf(ring, now)
  return freeKid({ ...ring, period }, retired)
}

/** The kid for the key that succeeds those of a ring: of the period that `now` (unix seconds) is in, past the kids retired from it. */
export function successorKid(
  ring: { instance: string; alg: string; rotateEvery: number },
  retired: ReadonlySet<string>,
  now: number,
): Promise<string> {
  return freeKid({ ...ring, period: periodOf(ring, now) }, retired)
}

function periodOf({ rotateEvery }: { rotateEvery: number }, now: number): number {
  return Math.floor(now / rotateEvery) * rotateEvery
}

async function freeKid({ instance, alg, period }: Omit<Slot, 'counter'>, retired: ReadonlySet<string>): Promise<string> {
  for (let counter = 0; ; counter++) {
    const kid = await slotKid({ instance, alg, period, counter })
    if (!retired.has(kid)) return kid
  }
}
