import { describe, expect, it } from 'vitest'
import { instant, writeInstant } from './instant.ts'

const AT = 1_796_066_663

describe('an instant in a record', () => {
  it.each([
    ['in UTC', '2026-11-30T19:24:23Z'],
    ['with nanoseconds, which are dropped', '2026-11-30T19:24:23.999999999Z'],
    ['with an offset', '2026-11-30T20:24:23+01:00'],
    ['as unix seconds', AT],
    ['as unix seconds with a fraction', AT + 0.75],
  ])('is read %s', (_, written) => {
    expect(instant.decode(written)).toBe(AT)
  })

  it('is written as RFC 3339 in UTC without a fraction', () => {
    expect(instant.encode(AT)).toBe('2026-11-30T19:24:23Z')
    expect(writeInstant(0)).toBe('1970-01-01T00:00:00Z')
  })

  it("reads the Go service's zero time and writes it as it was", () => {
    expect(writeInstant(instant.decode('0001-01-01T00:00:00Z'))).toBe('0001-01-01T00:00:00Z')
  })

  it.each([
    ['unix milliseconds', AT * 1_000],
    ['a date that no calendar has', '2026-02-30T00:00:00Z'],
    ['a time without a zone', '2026-11-30T19:24:23'],
    ['a number in quotes', '1796066663'],
    ['words', 'yesterday'],
    ['nothing', null],
    ['not a number', Number.NaN],
  ])('refuses %s', (_, written) => {
    expect(instant.safeParse(written).success).toBe(false)
  })

  it.each([AT + 0.5, AT * 1_000, Number.NaN])('is not written from %d, which is no unix second', (seconds) => {
    expect(() => writeInstant(seconds)).toThrow(RangeError)
  })
})
