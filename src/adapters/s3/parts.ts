import type { Bytes } from '../../crypto/bytes.ts'

/** bytes (8 MiB): S3 wants parts of at least 5 MiB; 10,000 of these are 78 GiB, and one is held in memory at a time. */
export const PART_SIZE = 8 * 1024 * 1024

/** The stream cut into parts: each PART_SIZE long but the last, none empty. The buffer of a part is reused for the next. */
export async function* parts(body: ReadableStream<Uint8Array>): AsyncGenerator<Bytes, void, void> {
  const buffer = new Uint8Array(PART_SIZE)
  let held = 0
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      const taken = chunk.subarray(at, at + PART_SIZE - held)
      buffer.set(taken, held)
      held += taken.length
      at += taken.length
      if (held < PART_SIZE) continue
      yield buffer
      held = 0
    }
  }
  if (held > 0) yield buffer.subarray(0, held)
}
