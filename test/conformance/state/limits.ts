import { expect } from 'vitest'
import { type Lifetime, type Rev, STATE_VALUE_LIMIT } from '../../../src/ports/state.ts'
import { bytes, patterned } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

const HOURS = 3_600_000

export const limitCases: readonly StateCase[] = [
  {
    id: 'limits/too-large',
    rule: `a value of ${STATE_VALUE_LIMIT} bytes is kept as it is; one more is TooLarge and changes nothing`,
    async holds({ open }) {
      const state = open()
      const most = patterned(STATE_VALUE_LIMIT)
      const over = new Uint8Array(STATE_VALUE_LIMIT + 1)
      await state.put('tok.put', most, MINUTE)
      const rev = await state.create('tok.create', most, MINUTE)
      expect(isSame((await state.get('tok.put'))?.value, most)).toBe(true)
      expect(isSame((await state.get('tok.create'))?.value, most)).toBe(true)

      await expect(state.put('tok.put', over, MINUTE)).rejects.toMatchObject({ code: 'TooLarge' })
      await expect(state.create('tok.new', over, MINUTE)).rejects.toMatchObject({ code: 'TooLarge' })
      await expect(state.update('tok.create', over, MINUTE, rev)).rejects.toMatchObject({ code: 'TooLarge' })
      expect(isSame((await state.get('tok.put'))?.value, most)).toBe(true)
      expect(await state.get('tok.new')).toBeNull()
    },
  },
  {
    id: 'limits/no-lifetime',
    rule: 'permanent on a family that is not, and a lifetime of no whole seconds, is NoLifetime and writes nothing',
    async holds({ open }) {
      const lifetimes: Lifetime[] = ['permanent', 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]
      for (const none of lifetimes) {
        await expect(open().put('tok.a', bytes('x'), none), `put ${none}`).rejects.toMatchObject({ code: 'NoLifetime' })
        await expect(open().create('tok.a', bytes('x'), none), `create ${none}`).rejects.toMatchObject({ code: 'NoLifetime' })
        await expect(open().update('tok.a', bytes('x'), none, '1' as Rev), `update ${none}`).rejects.toMatchObject({ code: 'NoLifetime' })
      }
      expect(await open().get('tok.a')).toBeNull()
    },
  },
  {
    id: 'limits/permanent-family',
    rule: 'a permanent record outlives 1000 hours at its revision, is Exists to a creation, and is updated, listed and deleted as any other',
    async holds({ open, clock }) {
      const github = open('github')
      const rev = await github.put('gh.org.acme', bytes('{}'), 'permanent')
      clock.advance(1_000 * HOURS)
      expect(await github.get('gh.org.acme')).toEqual({ key: 'gh.org.acme', value: bytes('{}'), rev })
      await expect(github.create('gh.org.acme', bytes('x'), 'permanent')).rejects.toMatchObject({ code: 'Exists' })
      const updated = await github.update('gh.org.acme', bytes('{"a":1}'), 'permanent', rev)
      expect((await github.list('gh.org.')).entries).toEqual([{ key: 'gh.org.acme', value: bytes('{"a":1}'), rev: updated }])
      await github.deleteIfRevision('gh.org.acme', updated)
      expect(await github.get('gh.org.acme')).toBeNull()
    },
  },
  {
    id: 'limits/permanent-family-with-a-lifetime',
    rule: 'a family that may be permanent may also end',
    async holds({ open, clock }) {
      await open('github').put('gh.org.acme', bytes('{}'), MINUTE)
      clock.advance(MINUTE * 1_000)
      expect(await open('github').get('gh.org.acme')).toBeNull()
    },
  },
  {
    id: 'limits/order',
    rule: 'a write is refused for its size before its lifetime, for its lifetime before its place, and for its place before its owner',
    async holds({ open }) {
      const over = new Uint8Array(STATE_VALUE_LIMIT + 1)
      await expect(open().put('tok.', over, 0)).rejects.toMatchObject({ code: 'TooLarge' })
      await expect(open().put('tok.', bytes('x'), 0)).rejects.toMatchObject({ code: 'NoLifetime' })
      await expect(open().put('gh.org.acme', bytes('x'), 0)).rejects.toMatchObject({ code: 'NoLifetime' })
      await expect(open().put('gh.org.', bytes('x'), MINUTE)).rejects.toMatchObject({ code: 'Unsupported' })
    },
  },
  {
    id: 'limits/bytes',
    rule: 'a value is bytes: nothing at all, every byte, and a part of a larger buffer are kept as they are',
    async holds({ open }) {
      const every = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const part = patterned(1_000).subarray(100, 200)
      for (const value of [new Uint8Array(0), every, part]) {
        await open().put('tok.a', value, MINUTE)
        expect((await open().get('tok.a'))?.value).toEqual(value.slice())
        expect((await open().list('tok.a')).entries[0]?.value).toEqual(value.slice())
      }
    },
  },
  {
    id: 'limits/copies',
    rule: 'what a caller does to its buffers changes no record',
    async holds({ open }) {
      const state = open()
      const given = bytes('value')
      const putting = state.put('tok.a', given, MINUTE)
      given.fill(0)
      await putting
      const read = await state.get('tok.a')
      expect(read?.value).toEqual(bytes('value'))
      read?.value.fill(0)
      const [listed] = (await state.list('tok.a')).entries
      expect(listed?.value).toEqual(bytes('value'))
      listed?.value.fill(0)
      expect((await state.get('tok.a'))?.value).toEqual(bytes('value'))
    },
  },
]

/** As toEqual, which takes half a second over this many bytes. */
function isSame(value: Uint8Array | undefined, other: Uint8Array): boolean {
  return value?.length === other.length && value.every((byte, at) => byte === other[at])
}
