import { localSealer } from '../../src/adapters/local/sealer.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { encodeBase64 } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { generateKeyPair, type KeyPair } from '../../src/keyring/key-pair.ts'
import { createKeyring, type Keyring, type KeyringParts } from '../../src/keyring/keyring.ts'
import { PortError } from '../../src/ports/error.ts'
import { keys } from '../../src/ports/keys.ts'
import type { Clock, Random } from '../../src/ports/platform.ts'
import type { Sealer } from '../../src/ports/sealer.ts'
import type { State } from '../../src/ports/state.ts'
import type { Log, LogFields } from '../../src/telemetry/log.ts'

export const random: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) }

/** 2027-01-15T08:00:00Z */
export const START = 1_800_000_000

export interface MovingClock extends Clock {
  /** seconds, either way */
  move(seconds: number): void
  /** unix seconds */
  seconds(): number
}

export function movingClock(): MovingClock {
  let now = START * 1_000
  return {
    now: () => now,
    seconds: () => Math.floor(now / 1_000),
    move(seconds) {
      now += seconds * 1_000
    },
  }
}

/** Draws whole numbers below a limit, the same ones for the same seed. */
export function seeded(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** A pair to hand out again: sealing wipes the private half. */
export function copyOf(pair: KeyPair | undefined): KeyPair {
  if (pair === undefined) throw new Error('no pair')
  return { publicKey: pair.publicKey, pkcs8: pair.pkcs8.slice() }
}

/** A State of module oidc that counts what it is asked and fails while it is down. */
export interface WatchedState {
  state: State
  clock: MovingClock
  calls(): number
  down(is: boolean): void
}

export function watchedState(clock = movingClock()): WatchedState {
  const inner = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  let calls = 0
  let isDown = false
  async function count<T>(call: () => Promise<T>): Promise<T> {
    calls++
    if (isDown) throw new PortError('Unavailable', 'the store is down')
    return call()
  }
  const state: State = {
    get: (...args) => count(() => inner.get(...args)),
    put: (...args) => count(() => inner.put(...args)),
    create: (...args) => count(() => inner.create(...args)),
    update: (...args) => count(() => inner.update(...args)),
    delete: (...args) => count(() => inner.delete(...args)),
    deleteIfRevision: (...args) => count(() => inner.deleteIfRevision(...args)),
    list: (...args) => count(() => inner.list(...args)),
    watch: inner.watch,
    ...(inner.export === undefined ? {} : { export: inner.export }),
  }
  return {
    state,
    clock,
    calls: () => calls,
    down(is) {
      isDown = is
    },
  }
}

export interface Line extends LogFields {
  level: string
  event: string
}

export function recordingLog(lines: Line[]): Log {
  const line = (level: string) => (event: string, fields?: LogFields) => {
    lines.push({ level, event, ...fields })
  }
  const log: Log = { info: line('info'), warn: line('warn'), error: line('error'), with: () => log }
  return log
}

const sealKey = 'c2VhbC1rZXktb2YtdGhlLXRlc3RzLTMyLWJ5dGVzLi4'

export const sealer: Sealer = localSealer({ sealKey, random })

/** One isolate's keyring, with its own caches, over a store that others may share. One ring unless told otherwise. */
export function isolate(parts: { state: State; clock: Clock } & Partial<KeyringParts>): Keyring & { lines: Line[] } {
  const lines: Line[] = []
  const keyring = createKeyring({
    audit: { record() {} },
    sealer,
    instance: 'acme',
    settings: settings({}),
    longestToken: 3_600,
    log: recordingLog(lines),
    ...parts,
  })
  return { ...keyring, lines }
}

export function settings(some: Partial<KeyringParts['settings']>): KeyringParts['settings'] {
  return { default: 'ES256', rings: [some.default ?? 'ES256'], rotate_every: 86_400, prepublish: 900, verify_only: [], ...some }
}

/** Claims of a token issued now that lives an hour. */
export function claims(clock: Clock): { sub: string; iat: number; exp: number } {
  const iat = Math.floor(clock.now() / 1_000)
  return { sub: 'ada@acme.example', iat, exp: iat + 3_600 }
}

export function noGenerating(): Promise<never> {
  return Promise.reject(new Error('a key was generated'))
}

interface Adopted {
  seenAt: number | string
  activateAt: number | string
  sealer?: Sealer
  /** What it is sealed under, and (unless it states another) what its record says. */
  context?: Record<string, string> | undefined
  stated?: Record<string, string>
  pkcs8?: Uint8Array<ArrayBuffer>
  wrapped?: undefined
}

/** Writes an ES256 entry as another implementation would, and gives its pair. */
export async function adopt(state: State, kid: string, how: Adopted): Promise<KeyPair> {
  const pair = await generateKeyPair('ES256')
  const { sealer: by = sealer, pkcs8 = pair.pkcs8, seenAt, activateAt } = how
  const context = { instance: 'acme', purpose: 'sign', ...how.context }
  const wrapped = encodeBase64(await by.seal(pkcs8, context))
  const sealed = 'wrapped' in how ? {} : { wrapped, context: how.stated ?? context }
  await writeEntry(state, kid, { jwk: pair.publicKey, seenAt, activateAt, ...sealed })
  return pair
}

export async function writeEntry(state: State, id: string, record: Record<string, unknown>): Promise<void> {
  await state.put(keys.signingKey('ES256', id), utf8(JSON.stringify({ id, alg: 'ES256', ...record })), 2_592_000)
}
