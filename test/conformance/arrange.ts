import { isPortError, type PortErrorCode } from '../../src/ports/error.ts'
import type { Bytes, Clock, Random } from '../../src/ports/platform.ts'

export function bytes(text: string): Bytes {
  return new Uint8Array(new TextEncoder().encode(text))
}

/** The text of UTF-8 bytes; of none, 'absent'. */
export function text(value: Bytes | undefined): string {
  return value === undefined ? 'absent' : new TextDecoder().decode(value)
}

/** Bytes in which no two stretches of 8 MiB are alike: a part lost, doubled or moved shows. */
export function patterned(length: number): Bytes {
  const whole = new Uint8Array(length)
  for (let at = 0; at < length; at++) whole[at] = (at ^ (at >>> 8) ^ (at >>> 16) ^ (at >>> 24)) & 0xff
  return whole
}

export interface Race<T> {
  won: { n: number; value: T }[]
  lost: PortErrorCode[]
}

/** Starts `racers` calls in one turn and tells who won and what the others were refused with. Anything but a PortError is thrown. */
export async function race<T>(racers: number, call: (n: number) => Promise<T>): Promise<Race<T>> {
  const outcome: Race<T> = { won: [], lost: [] }
  const run = async (n: number) => {
    try {
      outcome.won.push({ n, value: await call(n) })
    } catch (error) {
      if (!isPortError(error)) throw error
      outcome.lost.push(error.code)
    }
  }
  await Promise.all(Array.from({ length: racers }, (_, n) => run(n)))
  return outcome
}

export const clock: Clock = { now: () => Date.now() }

export const random: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) }
