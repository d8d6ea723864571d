import * as z from 'zod'
import { signingAlg } from './values.ts'

/** What a published key may be for: the rings we can have, and P-521, which only the Go service makes. */
export const verifiableAlg = z.enum([...signingAlg.options, 'ES512'])
export type VerifiableAlg = z.output<typeof verifiableAlg>

const base64url = z.string().regex(/^[A-Za-z0-9_-]+$/, 'is no base64url')
/** RFC 7518 section 3.3: 2048 bits or more. 256 bytes in base64url are 342 characters. */
const modulus = base64url.min(342, 'is under 2048 bits')

const named = { kid: z.string().optional(), alg: z.string().optional(), use: z.literal('sig').optional() }

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

/** A public key (RFC 7517, RFC 7518 section 6, RFC 8037 section 2). One that holds private members is refused, not published without them. */
export const publicKey = z
  .discriminatedUnion(
    'kty',
    [
      z.looseObject({ kty: z.literal('EC'), crv: z.string(), x: base64url, y: base64url, ...named }),
      z.looseObject({ kty: z.literal('RSA'), n: modulus, e: base64url, ...named }),
      z.looseObject({ kty: z.literal('OKP'), crv: z.string(), x: base64url, ...named }),
    ],
    'is not EC, RSA or OKP',
  )
  .refine((jwk) => !PRIVATE_MEMBERS.some((member) => member in jwk), 'holds a private key')
export type PublicKey = z.output<typeof publicKey>

/** The curve of each algorithm, and the characters of a coordinate in base64url (RFC 7518 section 6.2.1.2: always its full length). */
const curves: Partial<Record<VerifiableAlg, { kty: 'EC' | 'OKP'; crv: string; length: number }>> = {
  ES256: { kty: 'EC', crv: 'P-256', length: 43 },
  ES384: { kty: 'EC', crv: 'P-384', length: 64 },
  ES512: { kty: 'EC', crv: 'P-521', length: 88 },
  EdDSA: { kty: 'OKP', crv: 'Ed25519', length: 43 },
}

/** Why a JWK can be no key for an algorithm, in words; null when its members are of the right kind and size. */
export function misfit(alg: VerifiableAlg, jwk: PublicKey): string | null {
  const curve = curves[alg]
  if (curve === undefined) return jwk.kty === 'RSA' ? null : `is of kty ${jwk.kty}, and ${alg} takes RSA`
  const { kty, crv, length } = curve
  if (jwk.kty !== kty || jwk.crv !== crv) return `is no key for ${alg}, which takes kty ${kty} with crv ${crv}`
  const coordinates = jwk.kty === 'EC' ? [jwk.x, jwk.y] : [jwk.x]
  return coordinates.every((coordinate) => coordinate.length === length) ? null : `has coordinates of another size than ${crv}`
}
