import { createHash, randomBytes } from 'node:crypto'

/** A verifier and its S256 challenge (RFC 7636 section 4). */
export function drawPkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Calls `make` for 0 to `count` - 1, so many at once, and answers in that order. */
export async function inParallel<T>(count: number, atOnce: number, make: (at: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  let next = 0
  const worker = async () => {
    while (next < count) {
      const at = next++
      made[at] = await make(at)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return made
}
