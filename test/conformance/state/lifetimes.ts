import { expect } from 'vitest'
import { bytes } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

export const lifetimeCases: readonly StateCase[] = [
  {
    id: 'ttl/visibility',
    rule: 'a record is read at half its lifetime; after it, it is absent to get, update and conditional deletion',
    async holds({ open, clock }) {
      const state = open()
      const rev = await state.put('tok.a', bytes('x'), MINUTE)
      clock.advance(MINUTE * 500)
      expect(await state.get('tok.a')).toMatchObject({ rev })
      clock.advance(MINUTE * 1_000)
      expect(await state.get('tok.a')).toBeNull()
      await expect(state.update('tok.a', bytes('y'), MINUTE, rev)).rejects.toMatchObject({ code: 'NotFound' })
      await expect(state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'NotFound' })
      await state.delete('tok.a')
    },
  },
  {
    id: 'ttl/whole-seconds',
    rule: 'expiry is judged in whole seconds, rounded so that a record never lives shorter than asked',
    async holds({ open, clock }) {
      clock.advance(400)
      await open().put('tok.a', bytes('x'), 1)
      clock.advance(1_599)
      expect(await open().get('tok.a')).not.toBeNull()
      clock.advance(1)
      expect(await open().get('tok.a')).toBeNull()

      await open().put('tok.b', bytes('x'), 1)
      clock.advance(999)
      expect(await open().get('tok.b')).not.toBeNull()
      clock.advance(1)
      expect(await open().get('tok.b')).toBeNull()
    },
  },
  {
    id: 'ttl/create-over-expired',
    rule: 'a creation over a live record is Exists; over an expired one it lands with the new value',
    async holds({ open, clock }) {
      await open().create('tok.a', bytes('old'), MINUTE)
      await expect(open().create('tok.a', bytes('new'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })
      clock.advance(MINUTE * 1_500)
      const rev = await open().create('tok.a', bytes('new'), MINUTE)
      expect(await open().get('tok.a')).toEqual({ key: 'tok.a', value: bytes('new'), rev })
    },
  },
  {
    id: 'ttl/writes-restart',
    rule: 'a put and an update begin a lifetime of their own, shorter or longer',
    async holds({ open, clock }) {
      const state = open()
      const rev = await state.create('tok.longer', bytes('x'), MINUTE)
      await state.put('tok.shorter', bytes('x'), 10 * MINUTE)
      clock.advance(MINUTE * 500)
      await state.update('tok.longer', bytes('x'), MINUTE, rev)
      await state.put('tok.shorter', bytes('x'), 1)
      clock.advance(MINUTE * 900)
      expect(await state.get('tok.longer')).not.toBeNull()
      expect(await state.get('tok.shorter')).toBeNull()
    },
  },
  {
    id: 'ttl/list-omits-expired',
    rule: 'a listing and an export hold only what is live',
    async holds({ open, clock }) {
      await open().put('tok.p.long', bytes('x'), 10 * MINUTE)
      await open().put('tok.p.short', bytes('x'), MINUTE)
      clock.advance(MINUTE * 1_500)
      expect((await open().list('tok.p.')).entries.map((entry) => entry.key)).toEqual(['tok.p.long'])
      const exported: string[] = []
      for await (const entry of open().export('tok.p.')) exported.push(entry.key)
      expect(exported).toEqual(['tok.p.long'])
    },
  },
  {
    id: 'ttl/export-remaining',
    rule: 'an export carries the whole seconds a record has left, and permanent as it is',
    async holds({ open, clock }) {
      const oidc = open('oidc', { restore: true })
      const rev = await oidc.put('tok.a', bytes('value'), MINUTE)
      await oidc.put('rec.maintenance', bytes('{}'), 'permanent')
      clock.advance(20_000)
      const exported = []
      for await (const entry of oidc.export('')) exported.push(entry)
      expect(exported).toMatchObject([
        { key: 'rec.maintenance', ttl: 'permanent' },
        { key: 'tok.a', value: bytes('value'), rev, ttl: 40 },
      ])
    },
  },
]
