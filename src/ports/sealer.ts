import type { Bytes } from './platform.ts'

/** What a sealed value is bound to: authenticated, not secret. `purpose` is one of sign, seal, srp, upstream. */
export type SealContext = { instance: string; purpose: string } & Record<string, string>

/** Encrypts small values under a key the store never sees. */
export interface Sealer {
  seal(plaintext: Bytes, context: SealContext): Promise<Bytes>
  /** Unsupported when the bytes are no seal of ours, or were sealed under another key or context. */
  open(sealed: Bytes, context: SealContext): Promise<Bytes>
  /**
   * The first bytes of every seal made now: one that begins otherwise was made under an earlier key, and is to be made anew before that key
   * may go. Absent where a seal doesn't say what made it.
   */
  header?(): Promise<Bytes>
}

/** What re-sealing came to: how many values were sealed anew, and the names of those that do not open, which are left as they are. */
export interface Resealed {
  resealed: number
  /** Still under an earlier key though they open: something wrote meanwhile. */
  left: number
  unopenable: string[]
}

/** A store of values that were sealed before they came, and can be sealed anew under the key of now without being written anew. */
export interface Resealable {
  /** How many values an earlier key sealed. */
  stale(): Promise<number>
  /** Safe to stop anywhere, to run again, and to run twice at once. @throws PortError Unavailable */
  reseal(): Promise<Resealed>
}

/** Whether the key of now made this seal; undefined where that can't be told. */
export async function isCurrentSeal(sealed: Bytes, sealer: Sealer): Promise<boolean | undefined> {
  const header = await sealer.header?.()
  return header?.every((byte, at) => sealed[at] === byte)
}
