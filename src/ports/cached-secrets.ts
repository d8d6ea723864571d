import { isPortError, PortError } from './error.ts'
import type { Clock } from './platform.ts'
import { secretAddress } from './secret-path.ts'
import type { Secret, Secrets } from './secrets.ts'

export interface CachedSecretsOptions {
  /** s: how long a secret is answered without asking the store; 60 when not given, at most MAX_STALE. */
  maxAge?: number
}

/** s: the store takes about 40 reads a second from a whole account (SSM), so an isolate asks for a path once a minute */
const MAX_AGE = 60
/** s: absence is asked about sooner, so that a secret just seeded works while its operator still watches */
const ABSENT_AGE = 5
/** s: while the store is down the last value stands this long, then callers fail closed: a secret may have been revoked meanwhile */
const MAX_STALE = 300
/** s: after a failure the stale value is answered this long before the store is tried again, so that it is not asked by every request */
const RETRY_AFTER = 5
/** paths: at most 12 KiB each with the value before it, 6 MiB of an isolate's 128; the one read longest ago goes first */
const MAX_PATHS = 512

interface Cached {
  /** null: the store said NotFound. */
  secret: Secret | null
  withPrevious: boolean
  /** unix milliseconds: when the read began */
  readAt: number
  /** Which read it was: a clock that is set back says nothing of what began later. */
  order: number
  retryAt: number
}

/**
 * Secrets read at most once a minute per path by whoever shares this: values are kept as copies, never as pending reads
 * (a promise may not be awaited by a second request), so first readers that come together each read. A write through it
 * is seen by its next reader; a write from elsewhere within maxAge.
 *
 * A store that is Unavailable is covered by the last value until that is 5 minutes old; a value is never used after the
 * store has said anything else.
 */
export function cachedSecrets(secrets: Secrets, clock: Clock, { maxAge = MAX_AGE }: CachedSecretsOptions = {}): Secrets {
  const cache = new Map<string, Cached>()
  let writes = 0
  let reads = 0

  return {
    async get(path, { previous: withPrevious = false, maxAge: asked = maxAge } = {}) {
      const address = secretAddress(path)
      const cached = cache.get(address)
      const usable = cached && (cached.withPrevious || !withPrevious || cached.secret === null) ? cached : undefined
      if (usable && isFresh(usable, asked)) return answer(address, usable.secret, withPrevious)
      // Who once asked for the value before it asks again, so it is read along: one read for both kinds of reader.
      const secret = await read(address, withPrevious || cached?.withPrevious === true, usable)
      return answer(address, secret, withPrevious)
    },

    put: (path, value) => writing(path, () => secrets.put(path, value)),
    putIfVersion: (path, value, version) => writing(path, () => secrets.putIfVersion(path, value, version)),
    delete: (path) => writing(path, () => secrets.delete(path)),
    list: (prefix) => secrets.list(prefix),
  }

  async function read(address: string, withPrevious: boolean, stale: Cached | undefined): Promise<Secret | null> {
    const readAt = clock.now()
    const order = ++reads
    const writesBefore = writes
    const keep = (secret: Secret | null) => {
      // A read that a later read or a write has overtaken may hold what is no longer so.
      if ((cache.get(address)?.order ?? 0) > order) return secret
      cache.delete(address)
      if (writes === writesBefore) remember(address, { secret, withPrevious, readAt, order, retryAt: 0 })
      return secret
    }
    try {
      return keep(await secrets.get(address, { previous: withPrevious }))
    } catch (error) {
      if (isPortError(error, 'NotFound')) return keep(null)
      if (!isPortError(error, 'Unavailable') || !stale?.secret || age(stale) >= MAX_STALE) throw error
      stale.retryAt = clock.now() + RETRY_AFTER * 1_000
      return stale.secret
    }
  }

  /** Also after a failure: the write may have been applied. */
  async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
    const address = secretAddress(path)
    try {
      return await write()
    } finally {
      writes += 1
      cache.delete(address)
    }
  }

  function isFresh(cached: Cached, asked: number): boolean {
    if (cached.secret === null) return age(cached) < Math.min(asked, ABSENT_AGE)
    if (age(cached) >= MAX_STALE) return false
    return age(cached) < Math.min(asked, maxAge) || clock.now() < cached.retryAt
  }

  function age({ readAt }: Cached): number {
    return Math.abs(clock.now() - readAt) / 1_000 // a clock set back makes a value old, not new
  }

  function remember(address: string, cached: Cached): void {
    cache.set(address, cached)
    const [oldest] = cache.keys()
    if (cache.size > MAX_PATHS && oldest !== undefined) cache.delete(oldest)
  }
}

function answer(address: string, secret: Secret | null, withPrevious: boolean): Secret {
  if (secret === null) throw new PortError('NotFound', `no secret at ${address}`)
  const copy: Secret = { value: secret.value.slice(), version: secret.version, modified: secret.modified }
  if (withPrevious && secret.previous) copy.previous = secret.previous.slice()
  return copy
}
