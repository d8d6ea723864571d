import { expect } from 'vitest'
import type { Rev, State } from '../../../src/ports/state.ts'
import { bytes } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

const foreign = ['gh.org.acme', 'ws.slack.T01', 'lease.github-tick:acme', 'lease.export:slack-app.alerts', 'rec.backup.retention']

export const ownerCases: readonly StateCase[] = [
  {
    id: 'owner/writes',
    rule: "every write of another module's key is NotOwner, with nothing asked",
    async holds({ open, requests }) {
      const state = open()
      for (const key of foreign) {
        for (const write of writes(state, key, '1' as Rev)) await expect(write(), key).rejects.toMatchObject({ code: 'NotOwner' })
      }
      await expect(open('github').put('tok.a', bytes('x'), MINUTE)).rejects.toMatchObject({ code: 'NotOwner' })
      expect(requests()).toBe(0)
    },
  },
  {
    id: 'owner/reads',
    rule: "another module's key is absent and a listing of its keys empty, with nothing asked",
    async holds({ open, requests }) {
      const github = open('github')
      await github.put('gh.org.acme', bytes('x'), 'permanent')
      await github.put('lease.github-tick:acme', bytes('x'), MINUTE)
      const before = requests()
      const state = open()
      for (const key of foreign) {
        expect(await state.get(key), key).toBeNull()
        expect(await state.peekRevision(key), key).toBeNull()
      }
      for (const prefix of ['gh.org.', 'gh.', 'app.gh.', 'ws.dir.', 'lease.github-tick:', 'rec.slack.']) {
        expect(await state.list(prefix), prefix).toEqual({ entries: [] })
        for await (const entry of state.export(prefix)) expect(entry).toBeUndefined()
      }
      expect(requests()).toBe(before)
    },
  },
  {
    id: 'owner/no-module',
    rule: "a key of no module is its asker's: each module has its own",
    async holds({ open }) {
      for (const key of ['lease.tick:all', 'notify.acme', 'gate.other.thing', 'cache.digest.groups', 'dedupe.abc', 'some.other']) {
        const ours = await open().create(key, bytes('oidc'), MINUTE)
        const theirs = await open('github').create(key, bytes('github'), MINUTE)
        expect(await open().get(key)).toEqual({ key, value: bytes('oidc'), rev: ours })
        expect(await open('github').get(key)).toEqual({ key, value: bytes('github'), rev: theirs })
      }
      expect((await open().list('notify.')).entries.map((entry) => entry.value)).toEqual([bytes('oidc')])
    },
  },
  {
    id: 'owner/tables',
    rule: "a listing of everything is of the module's own table",
    async holds({ open }) {
      await open().put('tok.a', bytes('x'), MINUTE)
      await open('github').put('gh.org.acme', bytes('x'), 'permanent')
      await open('slack').put('ws.slack.T01', bytes('x'), 'permanent')
      expect((await open().list('')).entries.map((entry) => entry.key)).toEqual(['tok.a'])
      expect((await open('github').list('')).entries.map((entry) => entry.key)).toEqual(['gh.org.acme'])
      expect((await open('slack').list('ws.')).entries.map((entry) => entry.key)).toEqual(['ws.slack.T01'])
      expect((await open().list('ws.')).entries).toEqual([])
    },
  },
  {
    id: 'owner/maintenance',
    rule: 'the maintenance flag is read by every module in its table, and written by the restore role alone',
    async holds({ open, requests }) {
      for (const write of writes(open(), 'rec.maintenance', '1' as Rev)) await expect(write()).rejects.toMatchObject({ code: 'NotOwner' })
      expect(requests()).toBe(0)
      await open('oidc', { restore: true }).put('rec.maintenance', bytes('{}'), 'permanent')
      expect((await open().get('rec.maintenance'))?.value).toEqual(bytes('{}'))
      expect(await open('github').get('rec.maintenance')).toBeNull()
      await open('oidc', { restore: true }).delete('rec.maintenance')
      expect(await open().get('rec.maintenance')).toBeNull()
    },
  },
]

function writes(state: State, key: string, rev: Rev): (() => Promise<unknown>)[] {
  return [
    () => state.put(key, bytes('x'), MINUTE),
    () => state.create(key, bytes('x'), MINUTE),
    () => state.update(key, bytes('x'), MINUTE, rev),
    () => state.delete(key),
    () => state.deleteIfRevision(key, rev),
  ]
}
