import { describe, expect, it } from 'vitest'
import { backoff } from './backoff.ts'

const drawing = (byte: number) => ({ bytes: (length: number) => new Uint8Array(length).fill(byte) })
const least = drawing(0)
const most = drawing(255)

describe('the wait after a delivery in vain', () => {
  it('doubles with each attempt, up to an hour, however many there were', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 2_000].map((attempts) => backoff(attempts, most))).toEqual([
      30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600, 3_600, 3_600,
    ])
  })

  it('is at least half of that, and at least a quarter of a minute', () => {
    expect([1, 2, 8, 2_000].map((attempts) => backoff(attempts, least))).toEqual([15, 30, 1_800, 1_800])
  })

  it('is drawn, so that what failed together is not tried together', () => {
    const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
    const waits = new Set(Array.from({ length: 200 }, () => backoff(8, random)))
    expect(waits.size).toBeGreaterThan(100)
    for (const seconds of waits) expect(Number.isInteger(seconds) && seconds >= 1_800 && seconds <= 3_600).toBe(true)
  })

  it.each([
    ['longest', most, 30],
    ['shortest', least, 54],
  ])('lets a client that never answers be tried some forty times in its day: at the %s waits', (_which, random, expected) => {
    let at = 0
    let attempts = 0
    while (at < 86_400) at += backoff(++attempts, random)
    expect(attempts).toBe(expected)
  })
})
