import { calculateJwkThumbprint, exportJWK, type JWK } from 'jose'
import { type PublicKey, publicKey, type VerifiableAlg } from '../config/public-key.ts'
import type { SigningAlg } from '../config/values.ts'
import type { Bytes } from '../ports/platform.ts'

/** A fresh pair: the public half, and the private half as PKCS#8 (RFC 5208). */
export interface KeyPair {
  publicKey: PublicKey
  pkcs8: Bytes
}

/** How WebCrypto makes and reads a key of each algorithm (RFC 7518 section 3.1, RFC 8037 section 3.1). */
const parameters: Record<VerifiableAlg, SubtleCryptoGenerateKeyAlgorithm> = {
  ES256: { name: 'ECDSA', namedCurve: 'P-256' },
  ES384: { name: 'ECDSA', namedCurve: 'P-384' },
  ES512: { name: 'ECDSA', namedCurve: 'P-521' },
  // 2048 bits: what every verifier takes (RFC 7518 section 3.3), and what an isolate can make while a request waits. 65537 as everywhere.
  RS256: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2_048, publicExponent: new Uint8Array([1, 0, 1]) },
  EdDSA: { name: 'Ed25519' },
}

/** A new pair. RSA takes a tenth of a second and more. */
export async function generateKeyPair(alg: SigningAlg): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey(parameters[alg], true, ['sign', 'verify'])
  if (!('privateKey' in pair)) throw new TypeError(`${alg} has no key pairs`)
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', pair.privateKey)
  if (!(pkcs8 instanceof ArrayBuffer)) throw new TypeError('PKCS#8 is bytes')
  return { publicKey: publicKey.parse(await exportJWK(pair.publicKey)), pkcs8: new Uint8Array(pkcs8) }
}

/** The key to verify with, or null when the JWK is no key for `alg`: another curve, or no point of it. */
export async function importPublicKey(alg: VerifiableAlg, jwk: PublicKey): Promise<CryptoKey | null> {
  try {
    return await crypto.subtle.importKey('jwk', publicMembers(jwk), parameters[alg], false, ['verify'])
  } catch {
    return null
  }
}

/** The key to sign with, not extractable, or null when the bytes are no PKCS#8 of `alg` or not the private half of `jwk`. */
export async function importPrivateKey(alg: VerifiableAlg, pkcs8: Bytes, jwk: PublicKey): Promise<CryptoKey | null> {
  try {
    const readable = await crypto.subtle.importKey('pkcs8', pkcs8, parameters[alg], true, ['sign'])
    if (!(await sameKey(await exportJWK(readable), publicMembers(jwk)))) return null
    return await crypto.subtle.importKey('pkcs8', pkcs8, parameters[alg], false, ['sign'])
  } catch {
    return null
  }
}

/** The members that are the key (RFC 7638 section 3.2), and no other: what may be published of a record others can write. */
export function publicMembers(jwk: PublicKey): JWK & { kty: string } {
  switch (jwk.kty) {
    case 'EC':
      return { kty: jwk.kty, crv: jwk.crv, x: jwk.x, y: jwk.y }
    case 'RSA':
      return { kty: jwk.kty, n: jwk.n, e: jwk.e }
    case 'OKP':
      return { kty: jwk.kty, crv: jwk.crv, x: jwk.x }
  }
}

async function sameKey(a: JWK, b: JWK): Promise<boolean> {
  return (await calculateJwkThumbprint(a)) === (await calculateJwkThumbprint(b))
}
