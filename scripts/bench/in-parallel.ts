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
