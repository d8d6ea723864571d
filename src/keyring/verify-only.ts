import type { PublicKey, VerifiableAlg } from '../config/public-key.ts'
import type { VerifyOnlyKey } from '../config/verify-only.ts'
import type { Clock } from '../ports/platform.ts'
import type { Log } from '../telemetry/log.ts'
import { importPublicKey } from './key-pair.ts'

/** A key of the service document that is published and signs nothing. */
export interface ForeignKey {
  id: string
  alg: VerifiableAlg
  jwk: PublicKey
  /** unix second from which it is published no more */
  until: number
  verifier: CryptoKey
}

/** The keys of the service document whose time is not over, imported once. One that is none, such as no point of its curve, is reported. */
export function verifyOnlyKeys(
  configured: readonly VerifyOnlyKey[],
  { clock, log }: { clock: Clock; log: Log },
): () => Promise<readonly ForeignKey[]> {
  let imported: readonly ForeignKey[] | undefined

  async function importAll(): Promise<ForeignKey[]> {
    const keys = await Promise.all(
      configured.map(async ({ kid: id, alg, until, jwk }) => {
        const verifier = await importPublicKey(alg, jwk)
        if (verifier !== null) return { id, alg, jwk, until, verifier }
        log.error('keyring.no_public_key', {
          alg,
          kid: id,
          reason: 'keyring.verify_only of the service document has no key for its algorithm',
        })
        return null
      }),
    )
    return keys.filter((key) => key !== null)
  }

  return async () => {
    imported ??= await importAll()
    const now = clock.now() / 1_000
    return imported.filter(({ until }) => now < until)
  }
}
