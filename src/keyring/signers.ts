import type { Audit } from '../audit/audit.ts'
import { isPortError, PortError } from '../ports/error.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { Log } from '../telemetry/log.ts'
import type { RingKey } from './rings.ts'
import type { Schedule } from './schedule.ts'
import { type Opened, openSigningKey } from './sealed-key.ts'

/** The private halves of keys, as values of this isolate. */
export interface Signers {
  /** Opened once for as long as its record does not change. @throws PortError Unavailable */
  open(key: RingKey): Promise<Opened>
  /**
   * The active key of a ring; where its private half can't be had, an older one that stays published until `exp`, in unix seconds.
   *
   * @throws PortError Unavailable: no key of the ring can sign here
   */
  signer(alg: string, ring: Schedule<RingKey>, exp: number): Promise<{ kid: string; signer: CryptoKey }>
  /** The key that signs or is the next to, where it is sealed and does not open here; null where all is well. @throws PortError Unavailable */
  unopenable(ring: Schedule<RingKey>): Promise<RingKey | null>
}

/** The way out where a key is gone for good: docs/operate.md, "When it says". */
export const REPLACE = 'npm run reseal -- --replace'

export function openSigners({ sealer, audit, log }: { sealer: Sealer; audit: Pick<Audit, 'record'>; log: Log }): Signers {
  const opened = new WeakMap<RingKey, Opened>()

  async function open(key: RingKey): Promise<Opened> {
    const known = opened.get(key)
    if (known) return known
    const answer = await openSigningKey(key.record, sealer)
    opened.set(key, answer)
    if ('refused' in answer) {
      const { alg, id: kid } = key
      log.warn('keyring.key_cannot_sign', { alg, kid, reason: answer.refused })
      audit.record({ event: 'key.unusable', alg, kid, reason: answer.refused, by: 'system' })
    }
    return answer
  }

  return {
    open,

    async signer(alg, { published, active }, exp) {
      const refusals: string[] = []
      let failure: PortError | undefined
      for (const { key, activated, retiresAfter } of published) {
        if (!activated || (key !== active && retiresAfter !== null && exp > retiresAfter)) continue
        try {
          const answer = await open(key)
          if ('signer' in answer) return { kid: key.id, signer: answer.signer }
          refusals.push(`${key.id}: ${answer.refused}`)
        } catch (error) {
          if (!isPortError(error, 'Unavailable')) throw error
          failure ??= error
        }
      }
      if (failure !== undefined) throw failure
      const why = refusals.length === 0 ? 'none is activated yet' : `${refusals.join('; ')}. Put back what sealed it, or ${REPLACE}`
      throw new PortError('Unavailable', `no ${alg} key can sign (${why})`)
    },

    async unopenable({ all, active }) {
      for (const key of [active, all[0]?.key]) {
        if (key?.record.wrapped !== undefined && 'refused' in (await open(key))) return key
      }
      return null
    },
  }
}
