import type { SigningAlg } from '../config/values.ts'
import { decodeBase64, encodeBase64 } from '../crypto/base64url.ts'
import type { Bytes } from '../crypto/bytes.ts'
import { isPortError } from '../ports/error.ts'
import type { SealContext, Sealer } from '../ports/sealer.ts'
import type { SigningKey } from '../records/signing-key.ts'
import { importPrivateKey, type KeyPair } from './key-pair.ts'

/** The private half of a key, or why it can't sign here. */
export type Opened = { signer: CryptoKey } | { refused: string }

/** What a key's seal holds, to be wiped by whoever asked, or why it can't be had. */
export type Unsealed = { pkcs8: Bytes; signer: CryptoKey } | { refused: string }

interface Sealing {
  sealer: Sealer
  instance: string
}

/** The record of a new key, its private half sealed; the bytes handed in are wiped. Times in unix seconds. */
export async function sealSigningKey(
  pair: KeyPair,
  named: { alg: SigningAlg; kid: string; seenAt: number; activateAt: number },
  sealing: Sealing,
): Promise<SigningKey> {
  const { alg, kid, seenAt, activateAt } = named
  const sealed = await sealPrivateHalf(pair.pkcs8, sealing)
  return { id: kid, jwk: { ...pair.publicKey, kid, alg, use: 'sig' }, alg, seenAt, activateAt, ...sealed }
}

/** The sealed fields of a record, under our own context; the bytes handed in are wiped. */
export async function sealPrivateHalf(pkcs8: Bytes, sealing: Sealing): Promise<{ wrapped: string; context: SealContext }> {
  const context = sealContext(sealing)
  const wrapped = encodeBase64(await sealing.sealer.seal(pkcs8, context))
  pkcs8.fill(0)
  return { wrapped, context }
}

/** What every private key is sealed under. */
export function sealContext({ instance }: Pick<Sealing, 'instance'>): SealContext {
  return { instance, purpose: 'sign' }
}

/** The key to sign with, as `unseal` has it. @throws PortError Unavailable: the sealer can't be reached, which says nothing about the key */
export async function openSigningKey(record: SigningKey, sealer: Sealer): Promise<Opened> {
  const unsealed = await unseal(record, sealer)
  if ('refused' in unsealed) return unsealed
  unsealed.pkcs8.fill(0)
  return { signer: unsealed.signer }
}

/**
 * The private half, opened under the context its record states, which may be another implementation's. It must be the private half of the
 * record's JWK: a private key moved under another's name signs nothing.
 *
 * @throws PortError Unavailable
 */
export async function unseal(record: SigningKey, sealer: Sealer): Promise<Unsealed> {
  if (record.wrapped === undefined) return { refused: 'its record holds no private key' }
  const sealed = decodeBase64(record.wrapped)
  if (sealed === null) return { refused: 'its private key is no base64' }
  try {
    // Which names a context must have is for the sealer to judge: the Go service's older entries state no instance.
    const pkcs8 = await sealer.open(sealed, (record.context ?? unstatedContext(record)) as SealContext)
    const signer = await importPrivateKey(record.alg, pkcs8, record.jwk)
    if (signer !== null) return { pkcs8, signer }
    pkcs8.fill(0)
    return { refused: 'what its seal holds is not the private half of its public key' }
  } catch (error) {
    if (isPortError(error, 'Unsupported')) return { refused: 'its seal does not open under the keys of this Worker' }
    throw error
  }
}

/** What the Go service sealed a key under before it recorded the context beside it. */
function unstatedContext({ alg, id }: SigningKey): Record<string, string> {
  return { purpose: 'sluis-signing', alg, kid: id }
}
