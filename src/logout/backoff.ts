import type { Random } from '../ports/platform.ts'

const BASE = 30 // s: a client that is being restarted is back by then, and the tick that tries again comes every minute
const CAP = 3_600 // s: one that comes back is told within the hour, and one that never does gets some forty attempts in its day

/**
 * Seconds until a client that was told in vain `attempts` times (at least 1) is tried again: twice as long each time, up to an hour. The
 * second half is drawn, so that what failed together is not tried together.
 */
export function backoff(attempts: number, random: Random): number {
  const longest = Math.min(CAP, BASE * 2 ** (attempts - 1))
  return Math.ceil(longest / 2 + (longest / 2) * fraction(random))
}

/** In [0, 1). */
function fraction(random: Random): number {
  const [high = 0, low = 0] = random.bytes(2)
  return (high * 256 + low) / 65_536
}
