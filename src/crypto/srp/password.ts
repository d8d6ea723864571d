import { type Bytes, utf8 } from '../bytes.ts'
import { fromBytes } from './numbers.ts'

/** PBKDF2-SHA-256: about half a second of a phone for who types the password, and for each guess of who steals a verifier. */
export const ITERATIONS = 600_000

/** bytes */
export const SALT_LENGTH = 16

/**
 * x = PBKDF2-SHA-256(NFKC(password), salt), 256 bits. For the browser and for `scripts/verifier` alone: the issuer never sees a password, and
 * Workers refuse this many iterations.
 */
export async function passwordSecret(password: string, salt: Bytes, iterations = ITERATIONS): Promise<bigint> {
  const key = await crypto.subtle.importKey('raw', utf8(password.normalize('NFKC')), 'PBKDF2', false, ['deriveBits'])
  const parameters = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations }
  return fromBytes(new Uint8Array(await crypto.subtle.deriveBits(parameters, key, 256)))
}
