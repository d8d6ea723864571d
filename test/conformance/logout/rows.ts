import { expect } from 'vitest'
import { createLogoutRow, DELIVERY_WINDOW } from '../../../src/records/logout-row.ts'
import { ADA, BOB, entry, type LogoutCase, nowOf, open, pairsOf, recordAll, SESSION, WORKERS, wait } from './subject.ts'

export const rowCases: readonly LogoutCase[] = [
  {
    id: 'record/target',
    rule: 'a recorded client is a target, with what it was recorded with and null for what it has not',
    async holds(subject) {
      await open(subject).record(entry(subject, { session_required: true }))
      const front = { frontchannel_logout_uri: 'https://wiki.example/frame', frontchannel_session_required: true }
      await open(subject).record(entry(subject, { client_id: 'wiki', backchannel_logout_uri: null, ...front }))
      expect(await open(subject).targets({ sid: 's1' })).toEqual([
        {
          ...{ client_id: 'web', sid: 's1', subject: ADA },
          ...{ backchannel_logout_uri: 'https://web.example/out', session_required: true },
          ...{ frontchannel_logout_uri: null, frontchannel_session_required: false },
        },
        { ...{ client_id: 'wiki', sid: 's1', subject: ADA, backchannel_logout_uri: null, session_required: false }, ...front },
      ])
    },
  },
  {
    id: 'record/again',
    rule: 'the same session and client again is the same row, with the newer addresses and expiry',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const newer = { backchannel_logout_uri: null, frontchannel_logout_uri: 'https://web.example/frame' }
      await open(subject).record(entry(subject, { ...newer, expires_at: nowOf(subject) + 2 * SESSION }))
      wait(subject, SESSION)
      expect(await open(subject).targets({ subject: ADA })).toMatchObject([newer])
      expect(await open(subject).targets({ sid: 's1' })).toMatchObject([newer])
      wait(subject, SESSION)
      expect(await open(subject).targets({ subject: ADA })).toEqual([])
    },
  },
  {
    id: 'record/each-pair',
    rule: 'each pair of session and client has a row of its own, whatever their names hold',
    async holds(subject) {
      const pairs = ['s1 web', 's1 wiki', 's2 web', 's.1 web', 's1 web.wiki', 's1 https://wiki.example/~a', 's1 ключ']
      await recordAll(subject, pairs)
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual([...pairs].sort())
      expect(await open(subject).targets({ sid: 's.1' })).toHaveLength(1)
    },
  },
  {
    id: 'record/no-address',
    rule: 'a client with neither address registers nothing',
    async holds(subject) {
      await open(subject).record(entry(subject, { backchannel_logout_uri: null }))
      expect(await open(subject).targets({ subject: ADA })).toEqual([])
      expect((await subject.state().list('logout')).entries).toEqual([])
    },
  },
  {
    id: 'record/over',
    rule: 'a session that is over is not recorded',
    async holds(subject) {
      await open(subject).record(entry(subject, { expires_at: nowOf(subject) }))
      expect((await subject.state().list('logout')).entries).toEqual([])
    },
  },
  {
    id: 'record/one-person',
    rule: "a session that is one person's is refused to another, and stays as it was",
    async holds(subject) {
      await open(subject).record(entry(subject))
      await expect(open(subject).record(entry(subject, { subject: BOB }))).rejects.toThrow(RangeError)
      expect(await open(subject).targets({ subject: BOB })).toEqual([])
      expect(await open(subject).targets({ sid: 's1' })).toMatchObject([{ subject: ADA }])
    },
  },
  {
    id: 'record/race',
    rule: 'of many who record one session and client at once, all succeed and one row is there',
    race: true,
    async holds(subject) {
      const uris = Array.from({ length: 4 }, (_, n) => `https://web.example/out-${n}`)
      await Promise.all(uris.map((backchannel_logout_uri) => open(subject).record(entry(subject, { backchannel_logout_uri }))))
      const found = await open(subject).targets({ sid: 's1' })
      expect(found).toHaveLength(1)
      expect(uris).toContain(found[0]?.backchannel_logout_uri)
    },
  },
  {
    id: 'create/as-recorded',
    rule: 'a row that an exchange creates is found by session and by subject, and a second is Exists',
    async holds(subject) {
      await createLogoutRow(subject.state(), entry(subject), nowOf(subject))
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1)
      expect(await open(subject).targets({ subject: ADA })).toHaveLength(1)
      await expect(createLogoutRow(subject.state(), entry(subject), nowOf(subject))).rejects.toMatchObject({ code: 'Exists' })
      await open(subject).record(entry(subject, { backchannel_logout_uri: 'https://web.example/new' }))
      expect(await open(subject).targets({ sid: 's1' })).toMatchObject([{ backchannel_logout_uri: 'https://web.example/new' }])
    },
  },
  {
    id: 'criteria/sid',
    rule: 'a session alone is enough, and selects every client of it and of no other',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's1 wiki', 's10 web', 's2 web'])
      await recordAll(subject, ['s3 web'], { subject: BOB })
      expect(pairsOf(await open(subject).targets({ sid: 's1' }))).toEqual(['s1 web', 's1 wiki'])
      expect(pairsOf(await open(subject).targets({ sid: 's3' }))).toEqual(['s3 web'])
      expect(await open(subject).targets({ sid: 's' })).toEqual([])
    },
  },
  {
    id: 'criteria/subject',
    rule: "a subject selects all of that person's sessions and nobody else's, in whatever case it is written",
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's2 wiki'])
      await recordAll(subject, ['s3 web'], { subject: 'ada@acme.example.com' })
      await recordAll(subject, ['s4 web'], { subject: 'ada' })
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual(['s1 web', 's2 wiki'])
      expect(pairsOf(await open(subject).targets({ subject: ' Ada@ACME.example' }))).toEqual(['s1 web', 's2 wiki'])
      expect(await open(subject).targets({ subject: BOB })).toEqual([])
    },
  },
  {
    id: 'criteria/sid-wins',
    rule: 'with both, the session decides, whoever the subject is',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's2 web'])
      await recordAll(subject, ['s3 web'], { subject: BOB })
      expect(pairsOf(await open(subject).targets({ sid: 's1', subject: ADA }))).toEqual(['s1 web'])
      expect(pairsOf(await open(subject).targets({ sid: 's1', subject: BOB }))).toEqual(['s1 web'])
      expect(await open(subject).targets({ sid: 'unknown', subject: ADA })).toEqual([])
      expect(pairsOf(await open(subject).takeTargets({ sid: 's1', subject: BOB }))).toEqual(['s1 web'])
      await open(subject).delete({ sid: 's2', subject: BOB })
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual([])
      expect(pairsOf(await open(subject).targets({ subject: BOB }))).toEqual(['s3 web'])
    },
  },
  {
    id: 'criteria/neither',
    rule: 'criteria that name nobody are refused by whatever takes criteria, and nothing is touched',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const store = open(subject)
      const now = nowOf(subject)
      for (const criteria of [{}, { sid: '', subject: '' }, { sid: undefined, subject: undefined }]) {
        await expect(store.targets(criteria)).rejects.toThrow(RangeError)
        await expect(store.takeTargets(criteria)).rejects.toThrow(RangeError)
        await expect(store.leaseTargets(criteria, 'l1', now, now + 60)).rejects.toThrow(RangeError)
        await expect(store.delete(criteria)).rejects.toThrow(RangeError)
        await expect(store.rows(criteria)).rejects.toThrow(RangeError)
        await expect(store.dueTargets(criteria, now)).rejects.toThrow(RangeError)
      }
      expect(await store.leaseTargets({ sid: 's1' }, 'l1', now, now + 60)).toHaveLength(1)
    },
  },
  {
    id: 'expiry/ignored',
    rule: 'a row counts until the second it expires at, and from then on for nothing',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const long = entry(subject, { client_id: 'wiki', expires_at: nowOf(subject) + 3 * SESSION })
      await open(subject).record(long)
      const all = { subject: ADA }
      wait(subject, SESSION - 1)
      expect(pairsOf(await open(subject).targets(all))).toEqual(['s1 web', 's1 wiki'])
      const leased = await open(subject).leaseTargets(all, 'l1', nowOf(subject), nowOf(subject) + 60)
      expect(pairsOf(leased)).toEqual(['s1 web', 's1 wiki'])

      wait(subject, 1)
      expect(pairsOf(await open(subject).targets(all))).toEqual(['s1 wiki'])
      await open(subject).releaseTargets('l1', [leased[0]?.delivery_id ?? ''])
      wait(subject, 60)
      expect(pairsOf(await open(subject).leaseTargets(all, 'l2', nowOf(subject), nowOf(subject) + 60))).toEqual(['s1 wiki'])
      expect(pairsOf(await open(subject).takeTargets(all))).toEqual(['s1 wiki'])
    },
  },
  {
    id: 'expiry/pointer',
    rule: 'a session leads to its rows for as long as one can be due',
    async holds(subject) {
      await open(subject).record(entry(subject))
      wait(subject, SESSION - 1)
      await open(subject).markDue(await open(subject).rows({ sid: 's1' }), { id: 'e1', cause: 'operator' }, nowOf(subject))
      wait(subject, DELIVERY_WINDOW - 1)
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1)
    },
  },
  {
    id: 'delete/matching',
    rule: 'the rows of the criteria go, leased or due ones too, others stay, and again is no error',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's1 wiki', 's2 web', 's3 web'])
      await recordAll(subject, ['s4 web'], { subject: BOB })
      const now = nowOf(subject)
      await open(subject).leaseTargets({ subject: ADA }, 'l1', now, now + 60)
      await open(subject).delete({ sid: 's1' })
      await open(subject).delete({ sid: 's1' })
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual(['s2 web', 's3 web'])
      await open(subject).delete({ subject: ADA })
      await open(subject).delete({ subject: 'nobody@acme.example' })
      expect(await open(subject).targets({ subject: ADA })).toEqual([])
      expect(await open(subject).targets({ subject: BOB })).toHaveLength(1)
    },
  },
  {
    id: 'take/once',
    rule: 'taking returns the rows of the criteria and removes them, those and no others',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's1 wiki', 's2 web'])
      expect(pairsOf(await open(subject).takeTargets({ sid: 's1' }))).toEqual(['s1 web', 's1 wiki'])
      expect(await open(subject).takeTargets({ sid: 's1' })).toEqual([])
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual(['s2 web'])
      expect(pairsOf(await open(subject).takeTargets({ subject: ADA }))).toEqual(['s2 web'])
    },
  },
  {
    id: 'take/race',
    rule: `of ${WORKERS} logouts at once each row goes to one`,
    race: true,
    async holds(subject) {
      const pairs = ['s1 web', 's1 wiki', 's2 web']
      await recordAll(subject, pairs)
      const criteria = [{ subject: ADA }, { sid: 's1' }, { sid: 's2' }]
      const taken = await Promise.all(Array.from({ length: WORKERS }, (_, n) => open(subject).takeTargets(criteria[n % 3] ?? {})))
      expect(pairsOf(taken.flat())).toEqual(pairs)
      expect(await open(subject).targets({ subject: ADA })).toEqual([])
    },
  },
  {
    id: 'take/recorded-meanwhile',
    rule: 'a row that is recorded or renewed while logouts take is taken by one, or stays',
    race: true,
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's1 wiki'])
      const renewed = 'https://web.example/new'
      const [first, second] = await Promise.all([
        open(subject).takeTargets({ sid: 's1' }),
        open(subject).takeTargets({ subject: ADA }),
        open(subject).record(entry(subject, { backchannel_logout_uri: renewed })),
        open(subject).record(entry(subject, { client_id: 'mail' })),
      ])
      const taken = [...first, ...second]
      const left = await open(subject).targets({ sid: 's1' })
      const all = [...taken, ...left]
      expect(pairsOf(all.filter(({ client_id }) => client_id === 'mail'))).toEqual(['s1 mail'])
      expect(pairsOf(all.filter(({ client_id }) => client_id === 'wiki'))).toEqual(['s1 wiki'])
      // Renewed before it was taken, it is one row; after, the second is a new one.
      expect(all.filter(({ backchannel_logout_uri }) => backchannel_logout_uri === renewed)).toHaveLength(1)
      expect(taken.filter(({ backchannel_logout_uri }) => backchannel_logout_uri === 'https://web.example/out').length).toBeLessThan(2)
    },
  },
  {
    id: 'listing/pages',
    rule: 'a person with more rows than a page holds has them all listed, leased, taken',
    async holds(subject) {
      const pairs = Array.from({ length: 230 }, (_, n) => `s${n} web`)
      for (let from = 0; from < pairs.length; from += 46) await recordAll(subject, pairs.slice(from, from + 46))
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual([...pairs].sort())
      const now = nowOf(subject)
      expect(pairsOf(await open(subject).leaseTargets({ subject: ADA }, 'l1', now, now + 60))).toEqual([...pairs].sort())
      expect(pairsOf(await open(subject).takeTargets({ subject: ADA }))).toEqual([...pairs].sort())
    },
  },
]
