import { describe, expect, it } from 'vitest'
import { expiresAt, isLive, nowSeconds, remainingLifetime } from './expiry.ts'

describe('expiry in whole seconds', () => {
  it('rounds the end up and now down', () => {
    expect(expiresAt(1_000_000, 60)).toBe(1_060)
    expect(expiresAt(1_000_001, 60)).toBe(1_061)
    expect(nowSeconds(1_060_999)).toBe(1_060)
  })

  it('is live for at least what was asked, and under a second longer', () => {
    for (const now of [1_000_000, 1_000_001, 1_000_400, 1_000_999]) {
      const expires = expiresAt(now, 1)
      expect(isLive(expires, now + 999)).toBe(true)
      expect(isLive(expires, now + 2_000)).toBe(false)
    }
    expect(isLive(1_060, 1_059_999)).toBe(true)
    expect(isLive(1_060, 1_060_000)).toBe(false)
  })

  it('never ends what is permanent', () => {
    expect(expiresAt(1_000_000, 'permanent')).toBeNull()
    expect(isLive(null, Number.MAX_SAFE_INTEGER)).toBe(true)
    expect(remainingLifetime(null, 1_000_000)).toBe('permanent')
  })

  it('leaves whole seconds above 0, to what just ran out too', () => {
    expect(remainingLifetime(1_060, 1_000_000)).toBe(60)
    expect(remainingLifetime(1_060, 1_059_999)).toBe(1)
    expect(remainingLifetime(1_060, 1_061_000)).toBe(1)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses a lifetime of %d', (ttl) => {
    expect(() => expiresAt(1_000_000, ttl)).toThrow(expect.objectContaining({ code: 'NoLifetime' }))
  })
})
