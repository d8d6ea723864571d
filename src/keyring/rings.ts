import type { PublicKey, VerifiableAlg } from '../config/public-key.ts'
import type { Clock } from '../ports/platform.ts'
import type { Rev, State } from '../ports/state.ts'
import { listSigningKeys, type SigningKey } from '../records/signing-key.ts'
import type { Log } from '../telemetry/log.ts'
import type { Kept } from './first-key.ts'
import { importPublicKey } from './key-pair.ts'
import type { Scheduled } from './schedule.ts'

/** A key as this isolate holds it. The same object for as long as its record does not change. */
export interface RingKey extends Scheduled {
  alg: VerifiableAlg
  jwk: PublicKey
  /** The same key, to verify with. */
  verifier: CryptoKey
  record: SigningKey
  rev: Rev
}

/** The keys of every ring, configured or adopted, as values of this isolate. */
export interface Rings {
  /** What is held, read again when it is older than it may be. A store that fails then leaves what is held in use. */
  current(): Promise<readonly RingKey[]>
  /** Reads the store now. @throws PortError Unavailable */
  reread(): Promise<readonly RingKey[]>
  /** For a kid that is not held: reads the store, or null when that was just done for another. @throws PortError Unavailable */
  rereadForUnknownKid(): Promise<readonly RingKey[] | null>
  /** Takes a key in that was made or found since; null, and reported, when its JWK is no key. */
  add(kept: Kept): Promise<RingKey | null>
}

/** ms: whoever presents made-up kids makes an isolate read no more often than this */
const UNKNOWN_KID_PAUSE = 10_000
/** ms: a store that failed is asked again only after this, so that a request in a hundred waits for it, not every one */
const FAILURE_PAUSE = 10_000

/** Clock readings between which something holds. A clock that stepped back is outside, so nothing stays held for ever. */
interface Span {
  from: number
  until: number
}

/** @param options.freshFor ms that a reading of the store is good for */
export function openRings(options: { state: State; clock: Clock; log: Log; freshFor: number }): Rings {
  const { state, clock, log, freshFor } = options
  let held: { keys: readonly RingKey[]; fresh: Span; order: number } | null = null
  let asked: Span | null = null
  let orders = 0

  async function reread(): Promise<readonly RingKey[]> {
    // The answers of two readings may cross, and a key may come in between: what began last stays.
    const order = ++orders
    const fresh = span(clock.now(), freshFor)
    const found = await listSigningKeys(state, log)
    const keys = await Promise.all(found.map(({ value, entry }) => ringKey({ record: value, rev: entry.rev })))
    if (held === null || held.order < order) held = { keys: keys.filter((key) => key !== null), fresh, order }
    return held.keys
  }

  async function ringKey({ record, rev }: Kept): Promise<RingKey | null> {
    const { id, alg, jwk, seenAt, activateAt } = record
    const known = held?.keys.find((key) => key.alg === alg && key.id === id && key.rev === rev)
    if (known) return known
    const verifier = await importPublicKey(alg, jwk)
    if (verifier === null) {
      log.warn('keyring.no_public_key', { alg, kid: id, reason: 'the JWK of its record is no key for its algorithm' })
      return null
    }
    return { id, alg, jwk, seenAt, activateAt, verifier, record, rev }
  }

  return {
    reread,

    async current() {
      const now = clock.now()
      if (held === null) return reread()
      if (contains(held.fresh, now)) return held.keys
      try {
        return await reread()
      } catch (error) {
        // Key sets and signatures go on through an outage of the store: their keys are as good as they were a minute ago.
        log.warn('keyring.store_unreadable', { error })
        held = { ...held, fresh: span(now, FAILURE_PAUSE) }
        return held.keys
      }
    },

    async rereadForUnknownKid() {
      const now = clock.now()
      if (asked !== null && contains(asked, now)) return null
      const keys = await reread()
      asked = span(now, UNKNOWN_KID_PAUSE)
      return keys
    },

    async add(kept) {
      const key = await ringKey(kept)
      if (key === null || held?.keys.includes(key)) return key
      const others = (held?.keys ?? []).filter(({ alg, id }) => alg !== key.alg || id !== key.id)
      held = { keys: [...others, key], fresh: held?.fresh ?? span(clock.now(), 0), order: ++orders }
      return key
    },
  }
}

function span(from: number, length: number): Span {
  return { from, until: from + length }
}

function contains({ from, until }: Span, now: number): boolean {
  return from <= now && now < until
}
