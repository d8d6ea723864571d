import { type Bytes, concat } from '../bytes.ts'
import { sha256 } from '../digest.ts'
import { type Group, rfc5054of2048 } from './group.ts'
import { modPow } from './mod-pow.ts'
import { fromBytes, toBytes } from './numbers.ts'

/**
 * SRP-6a (RFC 5054 section 2), for both sides, in the letters of the RFC. What proves and how is DESIGN's of sign-in: libraries differ on what
 * M1 and M2 are made of, and on what is padded. `x` is the caller's: only who has the password can make it.
 */
export interface Srp {
  readonly group: Group
  readonly hash: (bytes: Bytes) => Promise<Bytes>
}

/** The one people sign in with. */
export const signInSrp: Srp = { group: rfc5054of2048, hash: sha256 }

/** bytes of the secrets a and b: twice the strength of a 2048-bit group (RFC 5054 section 3.1 wants 256 bits at least) */
export const SECRET_LENGTH = 32

/** What each side proves with; the client's first, for M2 tells who has not proved anything whether a guess was right. */
export interface Proofs {
  readonly M1: Bytes
  readonly M2: Bytes
}

/** PAD: big-endian, as long as N. */
export function pad(number: bigint, { length }: Group): Bytes {
  return toBytes(number, length)
}

/** The number that a peer sent as the padded bytes, or null: no other length will do, nothing from N up, and never what makes S the same for all. */
export function publicValue(bytes: Bytes, { N, length }: Group): bigint | null {
  if (bytes.length !== length) return null
  const value = fromBytes(bytes)
  return value > 0n && value < N ? value : null
}

/** k = H(N | PAD(g)) */
export async function multiplier({ group, hash }: Srp): Promise<bigint> {
  return fromBytes(await hash(concat(pad(group.N, group), pad(group.g, group))))
}

/** v = g^x */
export function verifierFrom(x: bigint, { group }: Srp): bigint {
  return modPow(group.g, x, group.N)
}

/** A = g^a */
export function clientPublic(a: bigint, { group }: Srp): bigint {
  return modPow(group.g, a, group.N)
}

/** B = k v + g^b */
export async function serverPublic({ v, b }: { v: bigint; b: bigint }, srp: Srp): Promise<bigint> {
  const { N, g } = srp.group
  return ((await multiplier(srp)) * v + modPow(g, b, N)) % N
}

/** u = H(PAD(A) | PAD(B)) */
export async function scrambler({ A, B }: { A: bigint; B: bigint }, { group, hash }: Srp): Promise<bigint> {
  return fromBytes(await hash(concat(pad(A, group), pad(B, group))))
}

/** S = (B - k g^x)^(a + u x) */
export async function clientSecret({ B, a, x, u }: { B: bigint; a: bigint; x: bigint; u: bigint }, srp: Srp): Promise<bigint> {
  const { N } = srp.group
  const masked = ((await multiplier(srp)) * verifierFrom(x, srp)) % N
  return modPow((B + N - masked) % N, a + u * x, N)
}

/** S = (A v^u)^b */
export function serverSecret({ A, v, b, u }: { A: bigint; v: bigint; b: bigint; u: bigint }, { group: { N } }: Srp): bigint {
  return modPow(A * modPow(v, u, N), b, N)
}

/** Both proofs as the server expects and gives them; null for an exchange it must not take part in (u = 0). */
export async function serverProofs(known: { A: bigint; B: bigint; b: bigint; v: bigint }, srp: Srp): Promise<Proofs | null> {
  const u = await scrambler(known, srp)
  return u === 0n ? null : proofsOf(known.A, known.B, serverSecret({ ...known, u }, srp), srp)
}

/** Both proofs as the client gives and expects them; null for an exchange it must not take part in (u = 0). */
export async function clientProofs(known: { A: bigint; B: bigint; a: bigint; x: bigint }, srp: Srp): Promise<Proofs | null> {
  const u = await scrambler(known, srp)
  return u === 0n ? null : proofsOf(known.A, known.B, await clientSecret({ ...known, u }, srp), srp)
}

/** K = H(PAD(S)); M1 = H(PAD(A) | PAD(B) | K); M2 = H(PAD(A) | M1 | K) */
async function proofsOf(A: bigint, B: bigint, S: bigint, { group, hash }: Srp): Promise<Proofs> {
  const K = await hash(pad(S, group))
  const M1 = await hash(concat(pad(A, group), pad(B, group), K))
  return { M1, M2: await hash(concat(pad(A, group), M1, K)) }
}
