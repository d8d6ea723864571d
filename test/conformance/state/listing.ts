import { expect } from 'vitest'
import { encodePage } from '../../../src/ports/page.ts'
import type { State } from '../../../src/ports/state.ts'
import { bytes } from '../arrange.ts'
import { MINUTE, type StateCase } from './subject.ts'

export const listingCases: readonly StateCase[] = [
  {
    id: 'paging/every-record-once',
    rule: 'pages of 10 hold 25 records once each, in order, and nothing of a neighbouring prefix',
    async holds({ open }) {
      const state = open()
      const keys = await fill(state, 25, (n) => `tok.p.${n}`)
      await fill(state, 3, (n) => `tok.o.${n}`)
      await fill(state, 3, (n) => `tok.q.${n}`)
      await state.put('tok.p', bytes('x'), MINUTE)
      expect(await pages(state, 'tok.p.', 10)).toEqual([keys.slice(0, 10), keys.slice(10, 20), keys.slice(20)])
    },
  },
  {
    id: 'paging/one-first-segment',
    rule: 'a prefix that names a first segment pages the same',
    async holds({ open }) {
      const state = open()
      const keys = await fill(state, 25, (n) => `ses.ada.${n}`)
      await fill(state, 3, (n) => `ses.adam.${n}`)
      await fill(state, 3, (n) => `ses.ad.${n}`)
      expect(await pages(state, 'ses.ada.', 10)).toEqual([keys.slice(0, 10), keys.slice(10, 20), keys.slice(20)])
      expect((await pages(state, 'ses.ad', 100)).flat()).toHaveLength(31)
    },
  },
  {
    id: 'paging/next-only-when-more',
    rule: 'there is a next page only when a further live record exists',
    async holds({ open, clock }) {
      const state = open()
      await fill(state, 10, (n) => `tok.p.${n}`)
      expect(await state.list('tok.p.', { limit: 10 })).not.toHaveProperty('next')
      expect(await state.list('tok.p.', { limit: 9 })).toHaveProperty('next')
      await state.put('tok.p.zz', bytes('x'), 1)
      clock.advance(1_000)
      expect(await state.list('tok.p.', { limit: 10 })).not.toHaveProperty('next')
      expect(await state.list('tok.none.')).toEqual({ entries: [] })
    },
  },
  {
    id: 'paging/default-limit',
    rule: 'a page holds 100 records when the limit is absent or not above 0',
    async holds({ open }) {
      const state = open()
      await fill(state, 101, (n) => `ses.ada.${n}`)
      for (const options of [undefined, {}, { limit: 0 }, { limit: -1 }, { limit: undefined }]) {
        const page = await state.list('ses.ada.', options)
        expect(page.entries).toHaveLength(100)
        expect(page).toHaveProperty('next')
      }
    },
  },
  {
    id: 'paging/concurrent-write',
    rule: 'writes between pages lose none of the records there were, and no record comes twice',
    async holds({ open }) {
      const state = open()
      const keys = await fill(state, 20, (n) => `tok.p.${n}`)
      const seen: string[] = []
      for (let page: string | undefined = '', round = 0; page !== undefined; round++) {
        const { entries, next } = await state.list('tok.p.', { page, limit: 4 })
        seen.push(...entries.map((entry) => entry.key))
        page = next
        await fill(state, 2, (n) => `tok.p.${round}-${n}`)
      }
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen.filter((key) => keys.includes(key))).toEqual(keys)
    },
  },
  {
    id: 'paging/last-record-gone',
    rule: 'a page goes on after the last record of the one before, though that record is gone',
    async holds({ open }) {
      const state = open()
      const keys = await fill(state, 6, (n) => `tok.p.${n}`)
      const { entries, next } = await state.list('tok.p.', { limit: 2 })
      for (const { key } of entries) await state.delete(key)
      const rest = await state.list('tok.p.', { page: next })
      expect(rest.entries.map((entry) => entry.key)).toEqual(keys.slice(2))
    },
  },
  {
    id: 'paging/through-the-dead',
    rule: 'a page is full though more dead records than it holds stand before the next live one',
    async holds({ open, clock }) {
      const state = open()
      await Promise.all(Array.from({ length: 30 }, (_, n) => state.put(`tok.p.dead-${n}`, bytes('x'), 1)))
      clock.advance(1_000)
      const keys = await fill(state, 3, (n) => `tok.p.live-${n}`)
      expect(await pages(state, 'tok.p.', 2)).toEqual([keys.slice(0, 2), keys.slice(2)])
    },
  },
  {
    id: 'paging/token-beside-the-prefix',
    rule: 'a token whose key is not under its prefix, which no page ends with, goes on where that key would stand',
    async holds({ open }) {
      const state = open()
      const keys = await fill(state, 3, (n) => `tok.p.${n}`)
      for (const [last, expected] of [
        ['', keys],
        ['tok.', keys],
        ['tok.o.999', keys],
        ['tok.q.', []],
        ['ses.ada.s1', keys],
        ['zzz', []],
      ] as const) {
        const page = encodePage('tok.p.', last)
        expect(
          (await state.list('tok.p.', { page })).entries.map((entry) => entry.key),
          last,
        ).toEqual(expected)
      }
    },
  },
  {
    id: 'paging/foreign-token',
    rule: 'a token of another prefix, and one that is none, is BadPage',
    async holds({ open }) {
      const state = open()
      await fill(state, 3, (n) => `tok.a.${n}`)
      await fill(state, 3, (n) => `tok.b.${n}`)
      const { next } = await state.list('tok.a.', { limit: 1 })
      expect(next).toBeDefined()
      for (const page of [next, `${next}=`, 'no token', 'dG9rLmIu']) {
        await expect(state.list('tok.b.', { page, limit: 1 }), page).rejects.toMatchObject({ code: 'BadPage' })
      }
    },
  },
  {
    id: 'list/entries',
    rule: 'a listing holds key, value and revision, as get answers them',
    async holds({ open }) {
      const state = open()
      await fill(state, 5, (n) => `tok.p.${n}`)
      for (const entry of (await state.list('tok.p.')).entries) expect(await state.get(entry.key)).toEqual(entry)
    },
  },
  {
    id: 'list/byte-order',
    rule: 'the order is that of UTF-8 bytes, which is not that of UTF-16 units',
    async holds({ open }) {
      const state = open()
      // U+FF5E is before U+1F511 in UTF-8 and after its surrogates in UTF-16.
      const ordered = ['!', '%', '-', '0', 'A', '_', 'a', '~7E', '\u{e9}', '\u{d7ff}', '\u{ffff}', '\u{10000}', '\u{1f511}', '\u{10ffff}']
      ordered.splice(-3, 0, '\u{ff5e}')
      const sorted = [...ordered].sort((a, b) => (a.codePointAt(0) ?? 0) - (b.codePointAt(0) ?? 0)).map((name) => `tok.${name}`)
      await Promise.all(sorted.toReversed().map((key) => state.put(key, bytes('x'), MINUTE)))
      expect((await pages(state, 'tok.', 4)).flat()).toEqual(sorted)
      expect((await pages(state, '', 10)).flat()).toEqual(sorted)
    },
  },
  {
    id: 'list/literal-prefix',
    rule: 'a prefix is letters and no pattern, up to the last code point',
    async holds({ open }) {
      const state = open()
      const names = [
        'a%b',
        'a_b',
        'axb',
        'a*b',
        'a?b',
        "a'b",
        'a\\b',
        'a[b',
        'A%b',
        'a\u{10ffff}',
        'a\u{10ffff}\u{10ffff}',
        'a\u{d7ff}x',
        'a\u{e000}',
        'b',
      ]
      await Promise.all(names.map((name) => state.put(`tok.${name}`, bytes('x'), MINUTE)))
      for (const start of ['a%', 'a_', 'a*', 'a?', "a'", 'a\\', 'a[', 'a\u{10ffff}', 'a\u{d7ff}', 'a']) {
        const expected = names.filter((name) => name.startsWith(start)).length
        expect((await state.list(`tok.${start}`)).entries, start).toHaveLength(expected)
      }
      expect((await state.list('tok.\u{d83d}')).entries).toEqual([])
    },
  },
  {
    id: 'list/several-kinds',
    rule: 'a prefix over several kinds lists them all in key order, and pages',
    async holds({ open }) {
      const state = open()
      const keys = [
        'code.c',
        'dedupe.d',
        'issuer:held:ada@acme.example',
        'issuer:sso-cookie:c',
        'keyring.ES256:k',
        'req.a-r',
        'ses.ada.s',
        'some.other',
        'tok.t',
      ]
      await Promise.all(keys.toReversed().map((key) => state.put(key, bytes('x'), MINUTE)))
      expect((await pages(state, '', 4)).flat()).toEqual(keys)
      expect((await pages(state, 'issuer:', 1)).flat()).toEqual(['issuer:held:ada@acme.example', 'issuer:sso-cookie:c'])
    },
  },
  {
    id: 'list/converted-order',
    rule: 'the order is that of logical keys, though the layout orders their items by other letters, and pages lose none',
    async holds({ open }) {
      const ordered = {
        oidc: [
          ['keyring.', ['keyring.ES256-x:k', 'keyring.ES256:k', 'keyring.ES256:k1', 'keyring.ES256:k:1', 'keyring.ES:k']],
          ['issuer:keyring:retired:', ['issuer:keyring:retired:A1:k', 'issuer:keyring:retired:A:k']],
          ['ses.', ['ses.ada-b.s', 'ses.ada.s', 'ses.ada.s.1', 'ses.ada0.s']],
          ['lease.tick:', ['lease.tick:a', 'lease.tick:a1', 'lease.tick:a:b', 'lease.tick:b']],
          ['gate.other.', ['gate.other.a-b', 'gate.other.a.b', 'gate.other.a0']],
        ],
        github: [['app.gh.runner.', ['app.gh.runner.a-c', 'app.gh.runner.a.b', 'app.gh.runner.a0', 'app.gh.runner.aa.b']]],
      } as const
      for (const [module, families] of Object.entries(ordered)) {
        const state = open(module === 'github' ? 'github' : 'oidc')
        for (const [prefix, sorted] of families) {
          await Promise.all(sorted.toReversed().map((key) => state.put(key, bytes(key), MINUTE)))
          for (const limit of [1, 2, 10]) expect((await pages(state, prefix, limit)).flat(), prefix).toEqual(sorted)
        }
      }
    },
  },
  {
    id: 'list/longer-than-any',
    rule: 'a prefix longer than any key lists nothing',
    async holds({ open }) {
      await open().put('tok.a', bytes('x'), MINUTE)
      for (const prefix of [`tok.${'a'.repeat(2_000)}`, `issuer:held:${'\u{e9}'.repeat(1_000)}`])
        expect(await open().list(prefix)).toEqual({ entries: [] })
    },
  },
  {
    id: 'list/merged-kinds',
    rule: 'a prefix lists its own keys only, though its kind holds other families',
    async holds({ open }) {
      const github = open('github')
      for (const key of ['app.gh.link', 'app.gh.cat.renovate', 'app.gh.runner.stable.acme']) await github.put(key, bytes('x'), 'permanent')
      expect(await pages(github, 'app.gh.cat.', 10)).toEqual([['app.gh.cat.renovate']])
      expect(await pages(github, 'app.gh.runner.', 10)).toEqual([['app.gh.runner.stable.acme']])
      expect((await pages(github, 'app.gh.', 1)).flat()).toEqual(['app.gh.cat.renovate', 'app.gh.link', 'app.gh.runner.stable.acme'])

      const oidc = open()
      for (const key of ['tok.a', 'issuer:token:b', 'ses.ada.s1', 'issuer:session:s2']) await oidc.put(key, bytes('x'), MINUTE)
      expect(await pages(oidc, 'tok.', 10)).toEqual([['tok.a']])
      expect(await pages(oidc, 'issuer:token:', 10)).toEqual([['issuer:token:b']])
      expect(await pages(oidc, 'ses.', 10)).toEqual([['ses.ada.s1']])
      expect(await pages(oidc, 'issuer:session:', 10)).toEqual([['issuer:session:s2']])
    },
  },
]

/** Puts `count` records, numbered from 0 with as many digits; their keys in order. */
async function fill(state: State, count: number, keyOf: (n: string) => string): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, n) => keyOf(String(n).padStart(3, '0')))
  await Promise.all(keys.map((key) => state.put(key, bytes(`value of ${key}`), MINUTE)))
  return keys
}

async function pages(state: State, prefix: string, limit: number): Promise<string[][]> {
  const all: string[][] = []
  for (let page: string | undefined = ''; page !== undefined; ) {
    const { entries, next }: { entries: { key: string }[]; next?: string } = await state.list(prefix, { page, limit })
    all.push(entries.map((entry) => entry.key))
    page = next
  }
  return all
}
