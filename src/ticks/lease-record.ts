import { fromUtf8, hex, utf8 } from '../crypto/bytes.ts'
import { isPortError } from '../ports/error.ts'
import type { Random } from '../ports/platform.ts'
import type { Rev, State } from '../ports/state.ts'

/**
 * A try to renew: `renewed` restarted the lifetime; `lost`, the record is gone or another's; `unknown`, the store can't say, or it was
 * found that an earlier try had landed after all (its revision is given, and the time it landed is not known).
 */
export type Renewal = { state: 'renewed'; rev: Rev } | { state: 'lost' } | { state: 'unknown'; rev?: Rev }

/** One would-be holder's view of one lease. */
export interface LeaseRecord {
  key: string
  /** null: it is another's. @throws PortError Unavailable */
  take(): Promise<Rev | null>
  renew(rev: Rev): Promise<Renewal>
  /** Never throws: what could not be given back lapses. */
  release(rev: Rev): Promise<void>
}

/** bytes: no two holders ever draw the same, so who finds its own id in a lease holds it */
const HOLDER = 16

/** `lease.<kind>:<target>`, whose value is its holder's id (seed: keys). */
export function leaseRecord({ state, random, ttl }: { state: State; random: Random; ttl: number }, key: string): LeaseRecord {
  const holder = `edge-${hex(random.bytes(HOLDER))}`
  const value = utf8(holder)

  return {
    key,

    async take() {
      try {
        return await state.create(key, value, ttl)
      } catch (error) {
        if (isPortError(error, 'Exists')) return null
        if (!isPortError(error, 'Unavailable')) throw error
      }
      // The answer that was lost may have been a yes: then the second create finds our own id.
      try {
        return await state.create(key, value, ttl)
      } catch (error) {
        if (!isPortError(error, 'Exists')) throw error
        return await ownRevision()
      }
    },

    async renew(rev) {
      try {
        return { state: 'renewed', rev: await state.update(key, value, ttl, rev) }
      } catch (error) {
        if (isPortError(error, 'Unavailable')) return { state: 'unknown' }
        if (!isPortError(error, 'Conflict')) return { state: 'lost' }
      }
      try {
        const own = await ownRevision()
        return own === null ? { state: 'lost' } : { state: 'unknown', rev: own }
      } catch {
        return { state: 'unknown' }
      }
    },

    async release(rev) {
      try {
        await state.deleteIfRevision(key, rev)
      } catch (error) {
        if (isPortError(error, 'Conflict')) await releaseOwn()
      }
    },
  }

  /** Of a lease that moved: by a renewal of ours whose answer was lost, or because it is another's by now. */
  async function releaseOwn(): Promise<void> {
    try {
      const own = await ownRevision()
      if (own !== null) await state.deleteIfRevision(key, own)
    } catch {
      // It lapses.
    }
  }

  async function ownRevision(): Promise<Rev | null> {
    const entry = await state.get(key)
    return entry !== null && fromUtf8(entry.value) === holder ? entry.rev : null
  }
}
