import { describe, expect, it } from 'vitest'
import { schedule } from './schedule.ts'

const PREPUBLISH = 900
const OVERLAP = 3_900
const DAY = 86_400

const first = { id: 'first', seenAt: 1_000, activateAt: 1_000 }
const second = { id: 'second', seenAt: 1_000 + DAY, activateAt: 1_000 + DAY + PREPUBLISH }
const third = { id: 'third', seenAt: 1_000 + 2 * DAY, activateAt: 1_000 + 2 * DAY + PREPUBLISH }

/** Who signs and who is published, as ids; the keys are those recorded by then. */
function at(now: number, keys = [first, second, third]) {
  const { active, published } = schedule(
    keys.filter(({ seenAt }) => seenAt <= now),
    now,
    OVERLAP,
  )
  return { active: active?.id ?? null, published: published.map(({ key }) => key.id) }
}

describe('the schedule of a ring', () => {
  it.each([
    [first.activateAt, 'first', ['first']],
    [second.seenAt - 1, 'first', ['first']],
    [second.seenAt, 'first', ['second', 'first']],
    [second.activateAt - 1, 'first', ['second', 'first']],
    [second.activateAt, 'second', ['second', 'first']],
    [second.activateAt + OVERLAP, 'second', ['second', 'first']],
    [second.activateAt + OVERLAP + 1, 'second', ['second']],
    [third.seenAt, 'second', ['third', 'second']],
    [third.activateAt, 'third', ['third', 'second']],
    [third.activateAt + OVERLAP + 1, 'third', ['third']],
    [third.activateAt + 365 * DAY, 'third', ['third']],
  ])('publishes a key before it signs and until the last token of its predecessor has expired: at %d', (now, active, published) => {
    expect(at(now)).toEqual({ active, published })
  })

  it('goes by activation, not by the order the keys are listed in', () => {
    expect(at(second.activateAt, [second, first])).toEqual(at(second.activateAt, [first, second]))
  })

  it('retires a key by its successor, however late the newest was activated', () => {
    const retiresAfter = schedule([first, second, third], third.activateAt, OVERLAP).published.map((place) => place.retiresAfter)
    expect(retiresAfter).toEqual([null, third.activateAt + OVERLAP])
  })

  it('keeps the active key for ever while it has no successor', () => {
    expect(at(first.activateAt + 1_000 * DAY, [first])).toEqual({ active: 'first', published: ['first'] })
  })

  it('has no signer while its only key waits', () => {
    expect(at(second.activateAt - 1, [second])).toEqual({ active: null, published: ['second'] })
  })

  it('has the signer of an immediate key at once, also by a clock that is behind', () => {
    expect(schedule([first], first.activateAt - 2, OVERLAP).active).toBe(first)
  })

  it('lets the kid decide between two keys of one second', () => {
    const [a, b] = [
      { ...first, id: 'a' },
      { ...first, id: 'b' },
    ]
    expect(schedule([a, b], first.activateAt, OVERLAP).active).toBe(a)
    expect(schedule([b, a], first.activateAt, OVERLAP).active).toBe(a)
  })

  it('of no keys is nothing', () => {
    expect(schedule([], first.activateAt, OVERLAP)).toEqual({ all: [], published: [], active: null })
  })
})
