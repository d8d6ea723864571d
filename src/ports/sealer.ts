import type { Bytes } from './platform.ts'

/** What a sealed value is bound to: authenticated, not secret. `purpose` is one of sign, seal, srp, upstream. */
export type SealContext = { instance: string; purpose: string } & Record<string, string>

/** Encrypts small values under a key the store never sees. */
export interface Sealer {
  seal(plaintext: Bytes, context: SealContext): Promise<Bytes>
  /** Unsupported when the bytes are no seal of ours, or were sealed under another key or context. */
  open(sealed: Bytes, context: SealContext): Promise<Bytes>
}
