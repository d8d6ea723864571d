/** Where a store lets others go first: before an operation takes effect and after it has. */
export interface Scheduler {
  pause(): Promise<void>
}

/** Nobody goes first: every operation takes effect where it is called. */
export const straight: Scheduler = { pause: () => Promise.resolve() }

/** microtasks until every caller that can move has reached its next pause: a flow passes a dozen or so async functions between two. */
const SETTLE = 32

/**
 * Lets concurrent callers go on one at a time, in an order that `seed` decides: the same calls under the same seed interleave the same
 * way (as long as all they wait for is this store), another seed another way.
 */
export function seededScheduler(seed: number): Scheduler {
  const random = numbersFrom(seed)
  const paused: (() => void)[] = []
  let running = false

  async function run(): Promise<void> {
    running = true
    for (;;) {
      for (let tick = 0; tick < SETTLE; tick++) await null
      const [next] = paused.splice(Math.floor(random() * paused.length), 1)
      if (next === undefined) break
      next()
    }
    running = false
  }

  return {
    pause() {
      return new Promise((resolve) => {
        paused.push(resolve)
        if (!running) void run()
      })
    },
  }
}

/** Numbers in [0, 1) that a seed decides: xorshift over 32 bits (Marsaglia). No secret hangs on it. */
function numbersFrom(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1 // Neighbouring seeds far apart, and never 0, where the generator would stay.
  const draw = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
  for (let round = 0; round < 8; round++) draw() // The first few still show the seed.
  return draw
}
