import { type Bytes, utf8 } from './bytes.ts'
import { sha256 } from './digest.ts'

/** Equality in time that depends on neither content nor length: both sides are hashed first. */
export async function equalSecret(a: string, b: string): Promise<boolean> {
  const [left, right] = await Promise.all([sha256(utf8(a)), sha256(utf8(b))])
  return equalBytes(left, right)
}

/** Equality of two byte strings in time that depends on their lengths only. */
export function equalBytes(a: Bytes, b: Bytes): boolean {
  if (a.length !== b.length) return false
  let difference = 0
  for (let at = 0; at < a.length; at++) difference |= (a[at] ?? 0) ^ (b[at] ?? 0)
  return difference === 0
}
