import { CompactSign, type JWK, type JWTPayload } from 'jose'
import type { Audit } from '../audit/audit.ts'
import { type VerifiableAlg, verifiableAlg } from '../config/public-key.ts'
import type { Service } from '../config/service.ts'
import type { SigningAlg } from '../config/values.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { Clock } from '../ports/platform.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { State } from '../ports/state.ts'
import { listOwnSigningKeys, renewSigningKeys } from '../records/signing-key.ts'
import type { Log } from '../telemetry/log.ts'
import { firstKey, type KeyMaking } from './first-key.ts'
import { generateKeyPair, publicMembers } from './key-pair.ts'
import { type HowToReseal, isSealStale, type KeysResealed, resealSigningKeys } from './reseal.ts'
import { openRings, type RingKey } from './rings.ts'
import { isDue, retire, succeed, succeedLost } from './rotation.ts'
import { isImmediate, schedule } from './schedule.ts'
import { openSigners, REPLACE } from './signers.ts'
import { verifyOnlyKeys } from './verify-only.ts'
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
   * tick. A ring whose key is sealed and does not open here gets none and keeps all it has: nobody's loss is covered up by a key more.
   *
   * @param check called before each write; throws when the tick must stop
   * @throws PortError Unavailable
   */
  rotate(check?: () => void): Promise<void>
  /**
   * By one read of the store itself, without what stands in front of it: no ring has a key to be made or to be retired, so that `rotate` would change nothing. Keys in another implementation's spelling
   * are not looked at: a ring of those alone has always something to do, and `rotate` takes them along whenever it runs, once a rotation at least.
   *
   * @throws PortError Unavailable
   */
  isAtRest(store: Pick<State, 'list'>): Promise<boolean>
  /** Seals the keys anew that an earlier key of the sealer sealed, or another context: reseal.ts. @throws PortError Unavailable */
  reseal(how: HowToReseal): Promise<KeysResealed>
  /** How many of the keys held an earlier key of the sealer sealed, as far as seals say. @throws PortError Unavailable */
  stale(): Promise<number>
  /**
   * Gives a ring a successor of a key that is lost. An operator's word: nothing here takes a key for lost.
   *
   * @returns the new kid, or null when another made it
   * @throws PortError Unsupported: there is no such key, it opens, or another has succeeded it. Unavailable
   */
  replace(alg: SigningAlg, kid: string): Promise<string | null>
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
  audit: Pick<Audit, 'record'>
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
/** rotations: a key that is active for longer has no successor, though one was due; the first of a ring waits for one to be published too */
const STALE = 1.5
/** seconds between two ticks */
const TICK = 300
/** seconds: while a key is this young that signed unpublished, relying parties may hold a set without it; 15 min is Envoy's cache and half again */
const UNPUBLISHED = 900

/** The signing keys of the configured rings, kept in State with their private halves sealed. Caches are the isolate's own. */
export function createKeyring(parts: KeyringParts): Keyring {
  const { state, sealer, clock, instance, settings, longestToken, audit, log, generate = generateKeyPair } = parts
  const algs = [...new Set([settings.default, ...settings.rings])]
  const overlap = longestToken + SKEW
  // A key is published `prepublish` before it signs. An isolate may see it late by a third of that, and a relying party by another.
  const third = Math.floor(settings.prepublish / 3)
  const rings = openRings({ state, clock, log, freshFor: 1_000 * Math.min(LISTING, third) })
  const making: KeyMaking = { state, sealer, clock, instance, rotateEvery: settings.rotate_every, generate, audit, log }
  const verifyOnly = verifyOnlyKeys(settings.verify_only, { clock, log })
  const signers = openSigners({ sealer, audit, log })

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

  function publishedKey(keys: readonly RingKey[], alg: VerifiableAlg, kid: string): CryptoKey | null {
    return scheduleOf(alg, keys).published.find(({ key }) => key.id === kid)?.key.verifier ?? null
  }

  async function findVerifier(alg: VerifiableAlg, kid: string): Promise<CryptoKey | null> {
    const held = publishedKey(await rings.current(), alg, kid)
    if (held !== null) return held
    const foreign = (await verifyOnly()).find((key) => key.alg === alg && key.id === kid)
    if (foreign !== undefined) return foreign.verifier
    const read = await rings.rereadForUnknownKid()
    return read === null ? null : publishedKey(read, alg, kid)
  }

  /** Once an hour: the tick comes every five minutes. */
  function warnIfStale(alg: SigningAlg, active: RingKey): void {
    const now = seconds(clock)
    const { rotate_every, prepublish } = settings
    const longest = Math.max(STALE * rotate_every, rotate_every + prepublish + 2 * TICK)
    if (now - active.activateAt <= longest || now % 3_600 >= TICK) return
    log.error('keyring.stale', {
      alg,
      kid: active.id,
      seconds: now - active.activateAt,
      reason: 'it has no successor: look for tick.failed',
    })
  }

  return {
    algs,
    defaultAlg: settings.default,

    async sign(alg, typ, claims) {
      const { iat, exp } = claims
      if (iat === undefined || exp === undefined) throw new TypeError('a token has iat and exp')
      if (exp - iat > longestToken) throw new TypeError(`a token lives at most ${longestToken} s`)
      if (!algs.includes(alg)) throw new PortError('Unsupported', `there is no ${alg} ring`)
      const { kid, signer } = await signers.signer(alg, scheduleOf(alg, await withFirstKey(alg)), exp)
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
      // A kid names one key: what a ring has stands before what the document says.
      const foreign = (await verifyOnly()).filter(({ id }) => published.every((key) => key.id !== id))
      const ends = foreign.map(({ until }) => until - seconds(clock))
      return { keys: [...published, ...foreign].map(publicJwk), maxAge: unpublished ? 0 : Math.min(KEY_SET, third, ...ends) }
    },

    async renew() {
      for (const alg of verifiableAlg.options) await renewSigningKeys(state, alg)
    },

    async isAtRest(store) {
      const keys = (await listOwnSigningKeys(store, log)).map(({ value }) => value)
      return algs.every((alg) => {
        const ring = keys.filter((key) => key.alg === alg)
        return !isDue(ring, schedule(ring, seconds(clock), overlap).all, seconds(clock), settings.rotate_every)
      })
    },

    async rotate(check = () => {}) {
      for (const alg of algs) {
        const ring = (await rings.reread()).filter((key) => key.alg === alg)
        if (ring.length === 0) continue // its first key is made where it is needed
        const places = scheduleOf(alg, ring)
        const { all, active } = places
        if (active !== null) warnIfStale(alg, active)
        const lost = await signers.unopenable(places)
        if (lost !== null) {
          log.error('keyring.not_rotated', {
            alg,
            kid: lost.id,
            reason: `it does not open: put back what it was sealed under, or ${REPLACE}`,
          })
          continue
        }
        const next = await succeed(alg, ring, { ...making, prepublish: settings.prepublish, check })
        if (next !== null) await rings.add(next)
        if (active === null || 'refused' in (await signers.open(active))) continue
        await retire(all, seconds(clock), { ...making, check })
      }
    },

    async reseal(how) {
      const report = await resealSigningKeys({ state, sealer, instance, log }, how)
      await rings.reread() // what this isolate is asked next should say so
      return report
    },

    async stale() {
      const are = await Promise.all((await rings.current()).map(({ record }) => isSealStale(record, sealer)))
      return are.filter((isStale) => isStale).length
    },

    async replace(alg, kid) {
      const ring = (await rings.reread()).filter((key) => key.alg === alg)
      const { all } = scheduleOf(alg, ring)
      const lost = all.find(({ key }) => key.id === kid)?.key
      if (!algs.includes(alg) || lost === undefined) throw new PortError('Unsupported', `there is no key ${alg}:${kid}`)
      if (lost !== all[0]?.key) throw new PortError('Unsupported', `the key ${alg}:${kid} has a successor`)
      if ('signer' in (await signers.open(lost)))
        throw new PortError('Unsupported', `the key ${alg}:${kid} opens: rotation replaces it in time`)
      const next = await succeedLost(lost, alg, making)
      if (next !== null) await rings.add(next)
      return next?.record.id ?? null
    },

    verify(token, { typ }) {
      return verifyToken(token, typ, findVerifier)
    },
  }
}

function publicJwk({ id, alg, jwk }: Pick<RingKey, 'id' | 'alg' | 'jwk'>): JWK {
  return { ...publicMembers(jwk), kid: id, alg, use: 'sig' }
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1_000)
}
