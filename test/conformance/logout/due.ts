import { expect } from 'vitest'
import { DELIVERY_WINDOW } from '../../../src/records/logout-row.ts'
import { ADA, end, entry, idsOf, type LogoutCase, nowOf, open, pairsOf, recordAll, SESSION, wait } from './subject.ts'

const LEASE = 60 // s
const all = { subject: ADA }

export const dueCases: readonly LogoutCase[] = [
  {
    id: 'due/only',
    rule: 'a deliverer gets the rows of what ended and no others; who asks for all gets all',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's1 wiki', 's2 web'])
      expect(await open(subject).dueTargets(all, nowOf(subject))).toEqual([])
      expect(await deliver(subject, 'l1')).toEqual([])
      const store = open(subject)
      await store.markDue(await store.rows({ sid: 's1' }), { id: 'e1', cause: 'sign_out' }, nowOf(subject))
      expect(pairsOf(await store.dueTargets(all, nowOf(subject)))).toEqual(['s1 web', 's1 wiki'])
      expect(pairsOf(await deliver(subject, 'l2'))).toEqual(['s1 web', 's1 wiki'])
      expect(pairsOf(await store.targets(all))).toEqual(['s1 web', 's1 wiki', 's2 web'])
      expect(pairsOf(await store.leaseTargets(all, 'l3', nowOf(subject), nowOf(subject) + LEASE))).toEqual(['s2 web'])
    },
  },
  {
    id: 'due/first-ending',
    rule: 'a row is due for the ending that marked it first, from then on',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const before = await open(subject).rows(all)
      const at = nowOf(subject)
      await open(subject).markDue(before, { id: 'e1', cause: 'sign_out' }, at)
      wait(subject, 10)
      await open(subject).markDue(before, { id: 'e2', cause: 'operator' }, nowOf(subject))
      await end(subject, all, 'e3')
      expect((await open(subject).rows(all)).map(({ value }) => value.due)).toEqual([{ ending: 'e1', cause: 'sign_out', at }])
    },
  },
  {
    id: 'due/window',
    rule: 'a due row is tried for a day from when it became due, however long its session had left',
    async holds(subject) {
      await open(subject).record(entry(subject))
      await open(subject).record(entry(subject, { sid: 's2', expires_at: nowOf(subject) + 3 * DELIVERY_WINDOW }))
      wait(subject, SESSION - 1)
      await end(subject)
      wait(subject, DELIVERY_WINDOW - 1)
      expect(pairsOf(await open(subject).dueTargets(all, nowOf(subject)))).toEqual(['s1 web', 's2 web'])
      wait(subject, 1)
      expect(await open(subject).targets(all)).toEqual([])
    },
  },
  {
    id: 'due/leased',
    rule: 'a due row that a worker holds is not to be delivered until its lease ends',
    async holds(subject) {
      await open(subject).record(entry(subject))
      await end(subject)
      await deliver(subject, 'l1')
      expect(await open(subject).dueTargets(all, nowOf(subject))).toEqual([])
      expect(await open(subject).dueTargets(all, nowOf(subject) + LEASE)).toHaveLength(1)
    },
  },
  {
    id: 'due/released',
    rule: 'a due row that was told in vain is due again after its wait, and stays due',
    async holds(subject) {
      await open(subject).record(entry(subject))
      await end(subject)
      await open(subject).releaseTargets('l1', idsOf(await deliver(subject, 'l1')))
      expect(await open(subject).dueTargets(all, nowOf(subject))).toEqual([])
      expect(await deliver(subject, 'l2')).toEqual([])
      wait(subject, 30)
      expect(await open(subject).dueTargets(all, nowOf(subject))).toHaveLength(1)
      expect(await deliver(subject, 'l3')).toMatchObject([{ attempts: 1 }])
    },
  },
  {
    id: 'due/recorded-again',
    rule: 'a due row that is recorded again stays due, keeps its lease, its attempts and its end, and takes the newer address',
    async holds(subject) {
      await open(subject).record(entry(subject))
      await end(subject)
      await open(subject).releaseTargets('l1', idsOf(await deliver(subject, 'l1')))
      wait(subject, 30)
      const ids = idsOf(await deliver(subject, 'l2'))
      const newer = { backchannel_logout_uri: 'https://web.example/new', expires_at: nowOf(subject) + 3 * DELIVERY_WINDOW }
      await open(subject).record(entry(subject, newer))
      expect(await deliver(subject, 'l3')).toEqual([])
      await open(subject).releaseTargets('l2', ids)
      wait(subject, 60)
      expect(await deliver(subject, 'l4')).toMatchObject([{ attempts: 2, backchannel_logout_uri: newer.backchannel_logout_uri }])
      wait(subject, DELIVERY_WINDOW - 90)
      expect(await open(subject).targets(all)).toEqual([])
    },
  },
  {
    id: 'due/gone',
    rule: 'a row that has gone is not brought back by what marks it due',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const rows = await open(subject).rows(all)
      await open(subject).delete(all)
      await open(subject).markDue(rows, { id: 'e1', cause: 'sign_out' }, nowOf(subject))
      expect(await open(subject).targets(all)).toEqual([])
    },
  },
  {
    id: 'due/race',
    rule: 'a row that is marked due just as it is recorded again and leased is due afterwards',
    race: true,
    async holds(subject) {
      await open(subject).record(entry(subject))
      const rows = await open(subject).rows(all)
      const now = nowOf(subject)
      const renewed = entry(subject, { backchannel_logout_uri: 'https://web.example/new' })
      await Promise.all([
        open(subject).markDue(rows, { id: 'e1', cause: 'sign_out' }, now),
        open(subject).record(renewed),
        open(subject).leaseTargets(all, 'l1', now, now + LEASE),
        end(subject, all, 'e2'),
      ])
      wait(subject, LEASE)
      expect(await open(subject).dueTargets(all, nowOf(subject))).toMatchObject([
        { backchannel_logout_uri: renewed.backchannel_logout_uri },
      ])
    },
  },
]

function deliver(subject: Parameters<typeof open>[0], id: string) {
  return open(subject).leaseTargets(all, id, nowOf(subject), nowOf(subject) + LEASE, { dueOnly: true })
}
