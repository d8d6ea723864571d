import { expect } from 'vitest'
import type { Index } from '../../src/ports/index-set.ts'
import { bytes, race } from './arrange.ts'
import { type Case, runCases, type Skips } from './cases.ts'
import { MINUTE, RACERS, type StateUnderTest } from './state/subject.ts'

/** What every Index adapter holds (seed: storage-layout, "Index set"). Each case has a store of its own, empty at first. */
export function runIndexSuite(name: string, factory: () => Promise<StateUnderTest>, options: { skip?: Skips } = {}): void {
  runCases(`Index: ${name}`, indexCases, factory, options.skip)
}

const SET = 'issuer:sso-of:ada@acme.example'

export const indexCases: readonly Case<StateUnderTest>[] = [
  {
    id: 'index/members',
    rule: 'a set holds what was added and not removed, once each; an unknown set holds nothing',
    async holds({ openIndex }) {
      const index = openIndex()
      expect(await index.members(SET)).toEqual([])
      for (const member of ['b', 'a', 'b']) await index.add(SET, member, MINUTE)
      expect(await members(index, SET)).toEqual(['a', 'b'])
      await index.remove(SET, 'a')
      await index.remove(SET, 'never')
      expect(await members(openIndex(), SET)).toEqual(['b'])
    },
  },
  {
    id: 'ttl/index-expiry',
    rule: 'the members of a set that ran out are gone, and may be added again',
    async holds({ openIndex, clock }) {
      await openIndex().add(SET, 'a', MINUTE)
      clock.advance(MINUTE * 500)
      expect(await openIndex().members(SET)).toEqual(['a'])
      clock.advance(MINUTE * 1_000)
      expect(await openIndex().members(SET)).toEqual([])
      await openIndex().add(SET, 'b', MINUTE)
      expect(await openIndex().members(SET)).toEqual(['b'])
    },
  },
  {
    id: 'index/add-refreshes',
    rule: 'an addition restarts the lifetime of its member',
    async holds({ openIndex, clock }) {
      await openIndex().add(SET, 'a', MINUTE)
      clock.advance(MINUTE * 900)
      await openIndex().add(SET, 'a', MINUTE)
      clock.advance(MINUTE * 900)
      expect(await openIndex().members(SET)).toEqual(['a'])
    },
  },
  {
    id: 'index/lifetime-of-each-member',
    rule: 'an addition leaves the lifetimes of the other members as they are',
    async holds({ openIndex, clock }) {
      await openIndex().add(SET, 'short', MINUTE)
      await openIndex().add(SET, 'long', 10 * MINUTE)
      clock.advance(MINUTE * 1_000)
      expect(await openIndex().members(SET)).toEqual(['long'])
    },
  },
  {
    id: 'index/permanent',
    rule: 'a permanent member stays; a lifetime of no whole seconds is NoLifetime and adds nothing',
    async holds({ openIndex, clock }) {
      await openIndex().add(SET, 'a', 'permanent')
      for (const none of [0, -1, 1.5, Number.NaN])
        await expect(openIndex().add(SET, 'b', none)).rejects.toMatchObject({ code: 'NoLifetime' })
      clock.advance(1_000 * MINUTE * 1_000)
      expect(await openIndex().members(SET)).toEqual(['a'])
    },
  },
  {
    id: 'index/names',
    rule: 'set and member names are any text, and no set reads another whose name starts the same',
    async holds({ openIndex }) {
      const index = openIndex()
      const sets = [
        'issuer:sessions-for:a',
        'issuer:sessions-for:a/b',
        'issuer:sessions-for:a~b',
        'issuer:sessions-for:a~2Fb',
        'issuer:sessions',
        'a',
        'a/b',
        'a%',
        'a_',
        "a'",
      ]
      for (const [n, set] of sets.entries()) {
        await index.add(set, `member ${n}`, MINUTE)
        await index.add(set, 'm/n', MINUTE)
      }
      for (const [n, set] of sets.entries()) expect(await members(index, set), set).toEqual(['m/n', `member ${n}`])
    },
  },
  {
    id: 'index/many',
    rule: 'a set of more members than one answer holds is read whole',
    async holds({ openIndex }) {
      const names = Array.from({ length: 1_201 }, (_, n) => `s${String(n).padStart(4, '0')}`)
      const index = openIndex()
      await Promise.all(names.map((name) => index.add(SET, name, MINUTE)))
      expect(await members(openIndex(), SET)).toEqual(names)
    },
  },
  {
    id: 'index/refuses',
    rule: 'an empty or too long name is Unsupported to add, removed already, and a set without members, with nothing asked',
    async holds({ openIndex, requests }) {
      const index = openIndex()
      for (const [set, member] of [
        ['', 'm'],
        [SET, ''],
        [SET, 'x'.repeat(1_100)],
        [SET, '\u{d800}'],
      ] as const) {
        await expect(index.add(set, member, MINUTE)).rejects.toMatchObject({ code: 'Unsupported' })
        await index.remove(set, member)
      }
      expect(await index.members('')).toEqual([])
      expect(requests()).toBe(0)
    },
  },
  {
    id: 'index/owner',
    rule: "a set of another module's is NotOwner to add and remove and empty to read, with nothing asked; a set of no module is its asker's",
    async holds({ openIndex, requests }) {
      await openIndex().add(SET, 's1', MINUTE)
      const before = requests()
      const github = openIndex('github')
      await expect(github.add(SET, 's2', MINUTE)).rejects.toMatchObject({ code: 'NotOwner' })
      await expect(github.remove(SET, 's1')).rejects.toMatchObject({ code: 'NotOwner' })
      expect(await github.members(SET)).toEqual([])
      expect(requests()).toBe(before)

      await github.add('some set', 'm', MINUTE)
      expect(await github.members('some set')).toEqual(['m'])
      expect(await openIndex().members('some set')).toEqual([])
    },
  },
  {
    id: 'index/records-are-no-members',
    rule: 'a record that stands where a member would is no member, and removing the member leaves it',
    async holds({ open, openIndex }) {
      const rev = await open().put(`${SET}/s1`, bytes('x'), MINUTE)
      expect(await openIndex().members(SET)).toEqual([])
      await openIndex().remove(SET, 's1')
      expect(await open().peekRevision(`${SET}/s1`)).toBe(rev)
    },
  },
  {
    id: 'index/concurrent-additions',
    rule: `${RACERS} additions at once are all there`,
    async holds({ openIndex }) {
      const { won } = await race(RACERS, (n) => openIndex().add(SET, `s${n}`, MINUTE))
      expect(won).toHaveLength(RACERS)
      expect(await openIndex().members(SET)).toHaveLength(RACERS)
    },
  },
]

async function members(index: Index, set: string): Promise<string[]> {
  return (await index.members(set)).sort()
}
