import { expect } from 'vitest'
import { bytes } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

export const revisionCases: readonly StateCase[] = [
  {
    id: 'revisions/change-with-content',
    rule: 'another value has another revision, and get answers the last',
    async holds({ open }) {
      const first = await open().put('tok.a', bytes('first'), MINUTE)
      const second = await open().put('tok.a', bytes('second'), MINUTE)
      expect(second).not.toBe(first)
      expect(await open().get('tok.a')).toEqual({ key: 'tok.a', value: bytes('second'), rev: second })
    },
  },
  {
    id: 'revisions/change-on-identical-rewrite',
    rule: 'the same bytes again have another revision',
    async holds({ open }) {
      const state = open()
      const put = await state.put('tok.a', bytes('same'), MINUTE)
      const again = await state.put('tok.a', bytes('same'), MINUTE)
      const updated = await state.update('tok.a', bytes('same'), MINUTE, again)
      expect(new Set([put, again, updated]).size).toBe(3)
      expect((await state.get('tok.a'))?.rev).toBe(updated)
    },
  },
  {
    id: 'revisions/stale-update',
    rule: 'an update over the revision before the last is Conflict and changes nothing',
    async holds({ open }) {
      const first = await open().put('tok.a', bytes('first'), MINUTE)
      const second = await open().put('tok.a', bytes('second'), MINUTE)
      await expect(open().update('tok.a', bytes('third'), MINUTE, first)).rejects.toMatchObject({ code: 'Conflict' })
      expect(await open().get('tok.a')).toMatchObject({ value: bytes('second'), rev: second })
    },
  },
  {
    id: 'revisions/peek',
    rule: 'peekRevision is the revision of the live record, or null',
    async holds({ open, clock }) {
      const state = open()
      expect(await state.peekRevision('tok.a')).toBeNull()
      const rev = await state.put('tok.a', bytes('x'), MINUTE)
      expect(await state.peekRevision('tok.a')).toBe(rev)
      clock.advance(MINUTE * 1_000)
      expect(await state.peekRevision('tok.a')).toBeNull()
    },
  },
]
