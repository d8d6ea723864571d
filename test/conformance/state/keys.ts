import { expect } from 'vitest'
import type { Rev } from '../../../src/ports/state.ts'
import { bytes } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

const unmappable = [
  '',
  '.x',
  'tok.',
  'gh.org.',
  'ws.dir.entra.4b1f',
  'ws.dir.google.a/b',
  'app.gh.cat.link',
  'gate.a/b',
  'keyring.ES384/k',
  `tok.${'x'.repeat(2_000)}`,
  'tok.\u{d800}',
]

export const keyCases: readonly StateCase[] = [
  {
    id: 'keys/unmappable',
    rule: 'a key that maps nowhere is absent to reads, deleted already, NotFound to a conditional deletion and Unsupported to writes, with nothing asked',
    async holds({ open, requests }) {
      const state = open()
      for (const key of unmappable) {
        expect(await state.get(key), key).toBeNull()
        expect(await state.peekRevision(key), key).toBeNull()
        await state.delete(key)
        await expect(state.deleteIfRevision(key, '1' as Rev), key).rejects.toMatchObject({ code: 'NotFound' })
        await expect(state.put(key, bytes('x'), MINUTE), key).rejects.toMatchObject({ code: 'Unsupported' })
        await expect(state.create(key, bytes('x'), MINUTE), key).rejects.toMatchObject({ code: 'Unsupported' })
        await expect(state.update(key, bytes('x'), MINUTE, '1' as Rev), key).rejects.toMatchObject({ code: 'Unsupported' })
      }
      expect(requests()).toBe(0)
    },
  },
  {
    id: 'keys/followed',
    rule: 'a record read with the one it names is answered with what stands there at that instant, or without a word of it',
    async holds({ open, clock }) {
      const state = open()
      const next = async (key: string, follow = 'ses.') => (await state.get(key, { follow }))?.next
      await state.put('rt.live', bytes('ada.s1'), MINUTE)
      const rev = await state.put('ses.ada.s1', bytes('a session'), MINUTE / 2)
      expect([undefined, { key: 'ses.ada.s1', value: bytes('a session'), rev }]).toContainEqual(await next('rt.live'))

      for (const [name, value] of [
        ['nobody', 'ada.s2'],
        ['unmappable', ''],
        ['no text', '\u0000'],
      ] as const) {
        await state.put(`rt.${name}`, bytes(value), MINUTE)
        expect([undefined, null], name).toContainEqual(await next(`rt.${name}`))
      }
      await state.put('rt.bytes', new Uint8Array([0xff, 0xfe]), MINUTE)
      expect(await next('rt.bytes')).toBeUndefined()
      expect(await next('rt.live', 'gh.org.')).toBeUndefined() // another module's
      expect(await state.get('rt.absent', { follow: 'ses.' })).toBeNull()

      clock.advance((MINUTE / 2) * 1_000)
      expect([undefined, null]).toContainEqual(await next('rt.live'))
    },
  },
  {
    id: 'keys/two-spellings',
    rule: 'the dotted and the colon spelling of a key name one record',
    async holds({ open }) {
      const state = open()
      const rev = await state.create('issuer:session-token:h1', bytes('x'), MINUTE)
      expect(await state.get('rt.h1')).toEqual({ key: 'rt.h1', value: bytes('x'), rev })
      await expect(state.create('rt.h1', bytes('y'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })
      const updated = await state.update('rt.h1', bytes('y'), MINUTE, rev)
      expect(await state.get('issuer:session-token:h1')).toEqual({ key: 'issuer:session-token:h1', value: bytes('y'), rev: updated })
      expect((await state.list('rt.')).entries).toEqual([{ key: 'rt.h1', value: bytes('y'), rev: updated }])
      expect((await state.list('issuer:session-token:')).entries).toEqual([])
    },
  },
  {
    id: 'keys/odd-letters',
    rule: 'a key holds any text: quotes, NUL, patterns and high code points each name a record of their own',
    async holds({ open }) {
      const state = open()
      const keys = [
        "tok.'",
        'tok.;--',
        'tok.a\0',
        'tok.a\0b',
        'tok.a',
        'tok.%',
        'tok._',
        'tok.\u{e9}',
        'tok.e\u{301}',
        'tok.\u{1f511}',
        'tok.\u{fffd}',
        'tok. ',
        'tok.A',
      ]
      for (const key of keys) await state.create(key, bytes(key), MINUTE)
      for (const key of keys) expect((await state.get(key))?.value, key).toEqual(bytes(key))
      expect((await state.list('tok.')).entries).toHaveLength(keys.length)
      expect((await state.list('tok.a\0')).entries.map((entry) => entry.key)).toEqual(['tok.a\0', 'tok.a\0b'])
    },
  },
  {
    id: 'keys/members-are-no-records',
    rule: 'an Index member is invisible to State, and deleting where it stands does not remove it',
    async holds({ open, openIndex }) {
      await openIndex().add('issuer:sso-of:ada@acme.example', 's1', MINUTE)
      const state = open()
      const key = 'issuer:sso-of:ada@acme.example/s1'
      expect(await state.get(key)).toBeNull()
      expect(await state.peekRevision(key)).toBeNull()
      expect((await state.list('issuer:sso-of:')).entries).toEqual([])
      expect((await state.list('')).entries).toEqual([])
      for await (const entry of state.export('')) expect(entry).toBeUndefined()
      await expect(state.deleteIfRevision(key, '1' as Rev)).rejects.toMatchObject({ code: 'NotFound' })
      await expect(state.update(key, bytes('x'), MINUTE, '1' as Rev)).rejects.toMatchObject({ code: 'NotFound' })
      expect(await openIndex().members('issuer:sso-of:ada@acme.example')).toEqual(['s1'])
    },
  },
]
