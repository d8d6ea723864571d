import { PortError } from './error.ts'
import type { Lifetime } from './state.ts'

/** Epoch seconds of now, rounded down: a record that dies at this second is dead. */
export function nowSeconds(now: number): number {
  return Math.floor(now / 1000)
}

/**
 * Epoch seconds a record written at `now` (unix ms) is dead from, rounded up so that it never lives shorter than asked; null is permanent.
 *
 * @throws PortError NoLifetime: not a whole number of seconds above 0
 */
export function expiresAt(now: number, ttl: Lifetime): number | null {
  if (ttl === 'permanent') return null
  if (!Number.isSafeInteger(ttl) || ttl <= 0) throw new PortError('NoLifetime', 'a lifetime is a whole number of seconds above 0')
  return Math.ceil(now / 1000) + ttl
}

/** Live until `expires` (epoch seconds, null is permanent), by the clock of whoever asks. */
export function isLive(expires: number | null, now: number): boolean {
  return expires === null || expires > nowSeconds(now)
}

/** What a record has left: whole seconds above 0, for one that ran out since it was read too. */
export function remainingLifetime(expires: number | null, now: number): Lifetime {
  return expires === null ? 'permanent' : Math.max(1, expires - nowSeconds(now))
}
