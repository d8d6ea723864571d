import { CompactSign, type JWK, type JWTPayload } from 'jose'
import type { Service } from '../config/service.ts'
import type { SigningAlg } from '../config/values.ts'
import { utf8 } from '../crypto/bytes.ts'
import { isPortError, PortError } from '../ports/error.ts'
import type { Clock } from '../ports/platform.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { State } from '../ports/state.ts'
import { renewSigningKeys, type VerifiableAlg, verifiableAlg } from '../records/signing-key.ts'
import type { Log } from '../telemetry/log.ts'
import { firstKey, type KeyMaking } from './first-key.ts'
import { generateKeyPair, publicMembers } from './key-pair.ts'
import { openRings, type RingKey } from './rings.ts'
import { retire, succeed } from './rotation.ts'
import { isImmediate, schedule } from './schedule.ts'
import { type Opened, openSigningKey } from './sealed-key.ts'
import { type Verified, verifyToken } from './verify-token.ts'

export interface Keyring {
  /**
   * A signed token (JWS compact) with kid, alg and typ of the ring's active key. On an empty store the ring's first key is made.
   *
   * @throws PortError Unavailable: the store or the sealer fails, or no key of the ring can sign here. Unsupported: no such ring.
   * TypeError: `iat` or `exp` is missing, or they are further apart than the longest token, which its key might not outlive
   */
  sign(alg: SigningAlg, typ: TokenTyp, claims: JWTPayload): Promise<string>
  /** The key set to publish (RFC 7517 section 5), and for how many seconds. @throws PortError Unavailable */
  keySet(): Promise<{ keys: JWK[]; maxAge: number }>
  /**
   * A token of ours, signed by a published key, of one of `typ`; null for anything else, whatever it is. No claim is checked.
   *
   * @throws PortError Unavailable: the store could not be asked about a kid not held
   */
  verify(token: string, options: { typ: readonly string[] }): Promise<Verified | null>
  /** Keeps the records of all keys from lapsing; for a tick. @throws PortError Unavailable */
  renew(): Promise<void>
  /**
   * Gives each ring a key every `rotate_every`, published `prepublish` before it signs, and retires those that no token needs any more; for a
   * tick. A ring whose active key can't sign here keeps its older ones.
   *
   * @param check called before each write; throws when the tick must stop
   * @throws PortError Unavailable
   */
  rotate(check?: () => void): Promise<void>
  /** The configured rings, the default first. */
  algs: readonly SigningAlg[]
  defaultAlg: SigningAlg
}

export type TokenTyp = 'JWT' | 'at+jwt' | 'logout+jwt'

export interface KeyringParts {
  /** Of module oidc. */
  state: State
  sealer: Sealer
  clock: Clock
  instance: string
  settings: Service['keyring']
  /** seconds: the longest a token of this installation may live; a superseded key stays published for that long and five minutes. */
  longestToken: number
  log: Log
  /** WebCrypto unless a test has keys ready. */
  generate?: KeyMaking['generate']
}

/** seconds: how far the clocks of those who verify may be behind ours */
const SKEW = 300
/** seconds: a reading of the store is good for this long in an isolate */
const LISTING = 60
/** seconds: how long a relying party may keep the key set */
const KEY_SET = 300
/** rotations: a key that is active for longer has no successor, though one was due */
const STALE = 1.5
/** seconds between two ticks */
const TICK = 300
/** seconds: while a key is this young that signed unpublished, relying parties may hold a set without it; 15 min is Envoy's cache and half again */
const UNPUBLISHED = 900

/** The signing keys of the configured rings, kept in State with their private halves sealed. Caches are the isolate's own. */
export function createKeyring(parts: KeyringParts): Keyring {
  const { state, sealer, clock, instance, settings, longestToken, log, generate = generateKeyPair } = parts
  const algs = [...new Set([settings.default, ...settings.rings])]
  const overlap = longestToken + SKEW
  // A key is published `prepublish` before it signs. An isolate may see it late by a third of that, and a relying party by another.
  const third = Math.floor(settings.prepublish / 3)
  const rings = openRings({ state, clock, log, freshFor: 1_000 * Math.min(LISTING, third) })
  const making: KeyMaking = { state, sealer, clock, instance, rotateEvery: settings.rotate_every, generate, log }
  const opened = new WeakMap<RingKey, Opened>()

  function scheduleOf(alg: VerifiableAlg, keys: readonly RingKey[]) {
    const ring = keys.filter((key) => key.alg === alg)
    return schedule(ring, seconds(clock), overlap)
  }

  /** What is held of all rings, with a key in this one. */
  async function withFirstKey(alg: SigningAlg): Promise<readonly RingKey[]> {
    const has = (keys: readonly RingKey[]) => keys.some((key) => key.alg === alg)
    const held = await rings.current()
    if (has(held)) return held
    const read = await rings.reread()
    if (has(read)) return read
    const key = await rings.add(await firstKey(alg, making))
    if (key === null)
      throw new PortError('Unavailable', `the ${alg} key that stands in the store is none, and no other is made in its place`)
    return [key]
  }

  async function open(key: RingKey): Promise<Opened> {
    const known = opened.get(key)
    if (known) return known
    const answer = await openSigningKey(key.record, sealer)
    opened.set(key, answer)
    if ('refused' in answer) log.warn('keyring.key_cannot_sign', { alg: key.alg, kid: key.id, reason: answer.refused })
    return answer
  }

  /** The active key; where its private half can't be had, an older one that stays published until the token has expired. */
  async function signerFor(alg: SigningAlg, exp: number): Promise<{ kid: string; signer: CryptoKey }> {
    const { published, active } = scheduleOf(alg, await withFirstKey(alg))
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
    throw failure ?? new PortError('Unavailable', `no ${alg} key can sign (${refusals.join('; ') || 'none is activated yet'})`)
  }

  function publishedKey(keys: readonly RingKey[], alg: VerifiableAlg, kid: string): CryptoKey | null {
    return scheduleOf(alg, keys).published.find(({ key }) => key.id === kid)?.key.verifier ?? null
  }

  async function findVerifier(alg: VerifiableAlg, kid: string): Promise<CryptoKey | null> {
    const held = publishedKey(await rings.current(), alg, kid)
    if (held !== null) return held
    const read = await rings.rereadForUnknownKid()
    return read === null ? null : publishedKey(read, alg, kid)
  }

  /** Once an hour: the tick comes every five minutes. */
  function warnIfStale(alg: SigningAlg, active: RingKey): void {
    const now = seconds(clock)
    if (now - active.activateAt > STALE * settings.rotate_every && now % 3_600 < TICK) log.error('keyring.stale', { alg, kid: active.id })
  }

  return {
    algs,
    defaultAlg: settings.default,

    async sign(alg, typ, claims) {
      const { iat, exp } = claims
      if (iat === undefined || exp === undefined) throw new TypeError('a token has iat and exp')
      if (exp - iat > longestToken) throw new TypeError(`a token lives at most ${longestToken} s`)
      if (!algs.includes(alg)) throw new PortError('Unsupported', `there is no ${alg} ring`)
      const { kid, signer } = await signerFor(alg, exp)
      return new CompactSign(utf8(JSON.stringify(claims))).setProtectedHeader({ alg, kid, typ }).sign(signer)
    },

    async keySet() {
      await rings.current()
      // Also of rings that nothing was signed with yet: a relying party that holds this set can then verify the first token of each.
      for (const alg of algs) await withFirstKey(alg)
      const held = await rings.current()
      const all = [...new Set<VerifiableAlg>([...algs, ...verifiableAlg.options])]
      const published = all.flatMap((alg) => scheduleOf(alg, held).published.map(({ key }) => key))
      const unpublished = published.some((key) => isImmediate(key) && seconds(clock) < key.activateAt + UNPUBLISHED)
      return { keys: published.map(publicJwk), maxAge: unpublished ? 0 : Math.min(KEY_SET, third) }
    },

    async renew() {
      for (const alg of verifiableAlg.options) await renewSigningKeys(state, alg)
    },

    async rotate(check = () => {}) {
      for (const alg of algs) {
        const ring = (await rings.reread()).filter((key) => key.alg === alg)
        if (ring.length === 0) continue // its first key is made where it is needed
        check()
        const next = await succeed(alg, ring, { ...making, prepublish: settings.prepublish })
        if (next !== null) await rings.add(next)

        const { all, active } = scheduleOf(alg, ring)
        if (active === null || 'refused' in (await open(active))) continue
        check()
        await retire(all, seconds(clock), making)
        warnIfStale(alg, active)
      }
    },

    verify(token, { typ }) {
      return verifyToken(token, typ, findVerifier)
    },
  }
}

function publicJwk({ id, alg, jwk }: RingKey): JWK {
  return { ...publicMembers(jwk), kid: id, alg, use: 'sig' }
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1_000)
}
