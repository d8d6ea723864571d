import { PortError } from '../ports/error.ts'
import { escapeSegment } from '../ports/keys.ts'
import { type LeaseOptions, withLease } from './lease.ts'
import { platformTimer, sleep } from './timer.ts'

/** ms: the first pause before asking again; the next is up to twice as long */
const FIRST_PAUSE = 50
/** ms */
const LONGEST_PAUSE = 1_000
/** ms of pauses: longer than a few writers before us take, shorter than a client waits */
const PATIENCE = 10_000

/**
 * Work on one thing at a time, by name, in whatever isolate: each waits for its turn at `lease.<kind>:<name>`, asking again after random
 * pauses.
 *
 * @returns what does the work in its turn; the work calls `stillHeld` before each write, which throws once the lease is lost
 * @throws PortError Unavailable: the turn did not come within ten seconds, or the lease was lost
 */
export function oneAtATime(
  options: LeaseOptions,
  kind: string,
): <T>(name: string, work: (stillHeld: () => void) => Promise<T>) => Promise<T> {
  const { random, timer = platformTimer } = options
  return async (name, work) => {
    const target = escapeSegment(name)
    let waited = 0
    for (let longest = FIRST_PAUSE; ; longest = Math.min(2 * longest, LONGEST_PAUSE)) {
      const outcome = await withLease(options, kind, target, (held) => work(held.check))
      if (outcome.ran) return outcome.result
      if (waited >= PATIENCE) throw new PortError('Unavailable', `${name} is being written by another: try again`)
      const pause = Math.ceil(longest * fraction(random.bytes(4)))
      waited += pause
      await sleep(timer, pause)
    }
  }
}

/** A number above 0, at most 1. */
function fraction(bytes: Uint8Array<ArrayBuffer>): number {
  return (new DataView(bytes.buffer).getUint32(0) + 1) / 2 ** 32
}
