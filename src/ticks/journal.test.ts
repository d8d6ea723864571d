import { describe, expect, it } from 'vitest'
import { isStale, type Journal, parseJournal, type Run } from './journal.ts'

const MINUTE = 60_000
const NOON = Date.parse('2026-11-30T12:00:00Z')

const run = (finishedAt: number, outcome: Run['outcome'] = 'ran'): Run => ({ due: finishedAt, startedAt: finishedAt, finishedAt, outcome })
const journal = (more: Partial<Journal> = {}): Journal => ({
  kind: 'keyring',
  target: 'all',
  since: NOON,
  due: NOON,
  running: null,
  last: null,
  good: null,
  ...more,
})

describe('a target is stale', () => {
  it('when its last good run is two periods and five minutes old, and no sooner', () => {
    const status = journal({ since: 0, good: run(NOON) })
    expect(isStale(status, 5, NOON + 15 * MINUTE)).toBe(false)
    expect(isStale(status, 5, NOON + 15 * MINUTE + 1)).toBe(true)
    expect(isStale(status, 1, NOON + 7 * MINUTE + 1)).toBe(true)
  })

  it('when it only failed meanwhile', () => {
    expect(isStale(journal({ last: run(NOON + 60 * MINUTE, 'failed'), good: run(NOON) }), 5, NOON + 60 * MINUTE)).toBe(true)
  })

  it('when it never had a good run for as long since it was first asked', () => {
    expect(isStale(journal(), 5, NOON + 15 * MINUTE)).toBe(false)
    expect(isStale(journal(), 5, NOON + 15 * MINUTE + 1)).toBe(true)
  })

  it('when it was never asked at all', () => {
    expect(isStale(null, 5, NOON)).toBe(true)
  })
})

describe('a journal', () => {
  it('is read back as it was written', () => {
    const written = journal({
      last: { ...run(NOON, 'failed'), error: { name: 'PortError', code: 'Unavailable', message: 'x' } },
      good: run(1),
    })
    expect(parseJournal(structuredClone(written))).toEqual(written)
  })

  it.each([null, undefined, 'x', {}, { ...journal(), due: 'noon' }, { ...journal(), good: { outcome: 'great' } }])(
    'that does not parse is none: %j',
    (kept) => {
      expect(parseJournal(kept)).toBeNull()
    },
  )
})
