import type { Random } from './platform.ts'
import type { Rev } from './state.ts'

/** A fresh revision: a random uint64 above 0 in decimal, so that a record made, deleted and made again never has an old one (seed: storage-layout). */
export function drawRev(random: Random): Rev {
  for (;;) {
    const bytes = random.bytes(8)
    const drawn = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0)
    if (drawn !== 0n) return String(drawn) as Rev
  }
}
