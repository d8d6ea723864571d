import { encodeBase64url } from '../../crypto/base64url.ts'
import { isPortError, PortError, toPortError } from '../../ports/error.ts'
import type { Bytes, Clock, Random } from '../../ports/platform.ts'
import { isCurrentSeal, type Resealable, type SealContext, type Sealer } from '../../ports/sealer.ts'
import { secretAddress, secretListing, secretToWrite } from '../../ports/secret-path.ts'
import type { Secret, Secrets } from '../../ports/secrets.ts'
import type { ConditionalOutcome, NewSeal, SealedSecret, SealedValue, SealedWrite, StaleSecret } from './sealed-secrets.ts'

/** What the adapter asks of a stub of SealedSecrets. */
export interface SealedSecretsObject {
  read(path: string, withPrevious: boolean): Promise<SealedSecret | null>
  put(write: SealedWrite): Promise<void>
  putIfVersion(write: SealedWrite, expected: string | null): Promise<ConditionalOutcome>
  remove(path: string): Promise<void>
  list(prefix: string): Promise<string[]>
  stale(header: Bytes, after: string, limit: number): Promise<StaleSecret[]>
  countStale(header: Bytes): Promise<number>
  reseal(seals: readonly NewSeal[]): Promise<void>
}

/** What the adapter asks of the binding: a DurableObjectNamespace<SealedSecrets> as it is, of a jurisdiction or of none. */
export interface SealedSecretsNamespace {
  getByName(name: string, options?: DurableObjectNamespaceGetDurableObjectOptions): SealedSecretsObject
}

export interface SealedSecretsOptions {
  namespace: SealedSecretsNamespace
  instance: string
  sealer: Sealer
  clock: Clock
  random: Random
  /** Where a new object is placed; an existing one stays where it is. */
  locationHint?: DurableObjectLocationHint | undefined
}

/** secrets: what one call carries of those sealed anew, at most 600 kB */
const PAGE = 50

/**
 * Secrets in one Durable Object per instance, sealed before they travel. One and not one a module: whoever holds the
 * binding reaches every object of it, so more objects would separate nothing, and a listing would have to merge them.
 *
 * A seal's context is {instance, purpose: 'seal', path, version}: a value at another path, or standing as another
 * version than the one it was written as, does not open.
 */
export function sealedSecrets({ namespace, instance, sealer, clock, random, locationHint }: SealedSecretsOptions): Secrets & Resealable {
  // A stub whose call failed may stay broken, so each call takes its own.
  const object = () => namespace.getByName(`sluis-${instance}/secrets`, locationHint === undefined ? {} : { locationHint })

  return {
    async get(path, { previous: withPrevious = false } = {}) {
      const address = secretAddress(path)
      const kept = await twice('reading a secret', () => object().read(address, withPrevious))
      if (!kept) throw new PortError('NotFound', `no secret at ${address}`)
      const secret: Secret = { value: await open(address, kept), version: kept.version, modified: kept.modified }
      if (kept.previous) secret.previous = await open(address, kept.previous)
      return secret
    },

    async put(path, value) {
      const write = await seal(secretToWrite(path, value), value)
      await twice('writing a secret', () => object().put(write))
      return write.version
    },

    async putIfVersion(path, value, version) {
      const write = await seal(secretToWrite(path, value), value)
      const outcome = await twice('writing a secret', () => object().putIfVersion(write, version))
      switch (outcome) {
        case 'written':
          return write.version
        case 'conflict':
          throw new PortError('Conflict', `the secret at ${write.path} is of another version`)
        case 'absent':
          throw new PortError('NotFound', `no secret at ${write.path}`)
      }
    },

    async delete(path) {
      const address = secretAddress(path)
      await twice('deleting a secret', () => object().remove(address))
    },

    async list(prefix) {
      const below = secretListing(prefix)
      return await twice('listing secrets', () => object().list(below))
    },

    stale: countStale,

    async reseal() {
      const header = await sealHeader()
      const unopenable = new Set<string>()
      let resealed = 0
      for (let after = ''; ; ) {
        const secrets = await twice('reading sealed secrets', () => object().stale(header, after, PAGE))
        const seals: NewSeal[] = []
        for (const secret of secrets) {
          const anew = await sealedAnew(secret)
          seals.push(...anew.seals)
          if (!anew.opens) unopenable.add(secret.path)
        }
        if (seals.length > 0) await twice('sealing secrets anew', () => object().reseal(seals))
        resealed += seals.length
        const last = secrets.at(-1)
        if (last === undefined || secrets.length < PAGE) break
        after = last.path
      }
      const left = Math.max(0, (await countStale()) - unopenable.size)
      return { resealed, left, unopenable: [...unopenable] }
    },
  }

  async function countStale(): Promise<number> {
    const header = await sealHeader()
    return await twice('counting sealed secrets', () => object().countStale(header))
  }

  async function sealHeader(): Promise<Bytes> {
    const header = await sealer.header?.()
    if (header === undefined) throw new PortError('Unsupported', 'the seals of this sealer do not say what made them')
    return header
  }

  /** The seals of an earlier key made anew, each under the context it has; of two values one may open without the other. */
  async function sealedAnew({ path, previous, ...newest }: StaleSecret): Promise<{ seals: NewSeal[]; opens: boolean }> {
    const seals: NewSeal[] = []
    let opens = true
    for (const { sealed, version } of previous === undefined ? [newest] : [newest, previous]) {
      if (await isCurrentSeal(sealed, sealer)) continue
      try {
        const value = await sealer.open(sealed, context(path, version))
        seals.push({ path, version, sealed: await sealer.seal(value, context(path, version)) })
      } catch (error) {
        if (!isPortError(error, 'Unsupported')) throw toPortError(error, 'sealing a secret anew')
        opens = false
      }
    }
    return { seals, opens }
  }

  async function seal(path: string, value: Bytes): Promise<SealedWrite> {
    const version = encodeBase64url(random.bytes(16)) // 128 bits: no two writes draw the same
    try {
      return { path, sealed: await sealer.seal(value, context(path, version)), version, modified: clock.now() }
    } catch (error) {
      throw toPortError(error, 'sealing a secret')
    }
  }

  async function open(path: string, { sealed, version }: SealedValue): Promise<Bytes> {
    try {
      return await sealer.open(sealed, context(path, version))
    } catch (cause) {
      if (isPortError(cause, 'Unavailable')) throw cause
      const message = `the secret at ${path} does not open: sealed under a key that is gone, moved from another place, or damaged`
      throw new PortError('Unavailable', message, { cause })
    }
  }

  function context(path: string, version: string): SealContext {
    return { instance, purpose: 'seal', path, version }
  }
}

/**
 * One call, sent once more after a failure that leaves open whether it was applied: every call is safe to repeat,
 * a write because it carries its version. An overloaded object is not asked again.
 */
async function twice<T>(doing: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (isOverloaded(error)) throw toPortError(error, doing)
  }
  try {
    return await call()
  } catch (error) {
    throw toPortError(error, doing)
  }
}

function isOverloaded(error: unknown): boolean {
  return error instanceof Error && 'overloaded' in error && error.overloaded === true
}
