import * as z from 'zod'

/** unix seconds that RFC 3339 can spell: years 0001 to 9999. Milliseconds taken for seconds fall outside, and are refused. */
const FIRST = -62_135_596_800
const LAST = 253_402_300_799

const withinCalendar = z.int().min(FIRST).max(LAST)

/**
 * An instant in a record: whole unix seconds inside, RFC 3339 in UTC when written. The Go service writes the same with fractions and
 * sometimes an offset, and older records hold unix seconds: both are read, a fraction is dropped.
 */
export const instant = z.codec(z.union([z.iso.datetime({ offset: true }), z.number()]), withinCalendar, {
  decode: (written) => Math.floor(typeof written === 'number' ? written : Date.parse(written) / 1_000),
  encode: writeInstant,
})

/**
 * `2026-11-30T19:24:23Z` for 1796066663.
 *
 * @throws RangeError for what is no whole second of the years 0001 to 9999
 */
export function writeInstant(seconds: number): string {
  if (!Number.isInteger(seconds) || seconds < FIRST || seconds > LAST) throw new RangeError(`${seconds} is no unix second`)
  return new Date(seconds * 1_000).toISOString().replace('.000Z', 'Z')
}
