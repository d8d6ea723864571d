import { expect } from 'vitest'
import { deliveryIdOf } from '../../../src/logout/delivery-id.ts'
import { bytes } from '../arrange.ts'
import { ADA, entry, idsOf, type LogoutCase, nowOf, open, pairsOf, recordAll, SESSION, WORKERS, wait } from './subject.ts'

const LEASE = 60 // s

/** longer than any wait after a release */
const LONGEST_WAIT = 3_600

export const leaseCases: readonly LogoutCase[] = [
  {
    id: 'lease/all-that-is-free',
    rule: 'a lease takes every live row of the criteria, removes none, and names each by an id of its own',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's1 wiki', 's2 web'])
      const leased = await lease(subject, 'l1', { sid: 's1' })
      expect(pairsOf(leased)).toEqual(['s1 web', 's1 wiki'])
      expect(new Set(idsOf(leased)).size).toBe(2)
      expect(leased).toMatchObject([{ backchannel_logout_uri: 'https://web.example/out', attempts: 0 }, { client_id: 'wiki' }])
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual(['s1 web', 's1 wiki', 's2 web'])
      expect(pairsOf(await lease(subject, 'l2'))).toEqual(['s2 web'])
    },
  },
  {
    id: 'lease/times',
    rule: 'a lease that would not end after it begins is refused, and leases nothing',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const now = nowOf(subject)
      for (const until of [now, now - 1, Number.NaN])
        await expect(open(subject).leaseTargets({ sid: 's1' }, 'l1', now, until)).rejects.toThrow(RangeError)
      expect(await lease(subject, 'l1')).toHaveLength(1)
    },
  },
  {
    id: 'lease/given-times',
    rule: 'a lease runs by the times its callers give',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const now = nowOf(subject)
      const at = (name: string, from: number) => open(subject).leaseTargets({ sid: 's1' }, name, from, from + LEASE)
      expect(await at('l1', now + 100)).toHaveLength(1)
      expect(await at('l2', now)).toEqual([])
      expect(await at('l3', now + 100 + LEASE - 1)).toEqual([])
      expect(await at('l4', now + 100 + LEASE)).toHaveLength(1)
      expect(await at('l5', now + SESSION)).toEqual([])
      wait(subject, SESSION - 1)
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1)
    },
  },
  {
    id: 'lease/limit',
    rule: 'no more rows are leased than the limit says, and the next lease gets the others',
    async holds(subject) {
      const pairs = Array.from({ length: 5 }, (_, n) => `s${n} web`)
      await recordAll(subject, pairs)
      expect(await lease(subject, 'l0', { subject: ADA }, { limit: 0 })).toEqual([])
      const first = await lease(subject, 'l1', { subject: ADA }, { limit: 2 })
      const second = await lease(subject, 'l2', { subject: ADA }, { limit: 10 })
      expect([first.length, second.length]).toEqual([2, 3])
      expect(pairsOf([...first, ...second])).toEqual(pairs)
    },
  },
  {
    id: 'lease/race',
    rule: `of ${WORKERS} workers at once no two get one row, and every row is somebody's or free`,
    race: true,
    async holds(subject) {
      const pairs = ['s1 web', 's1 wiki', 's2 web', 's3 web']
      await recordAll(subject, pairs)
      const leased = await Promise.all(
        Array.from({ length: WORKERS }, (_, n) => lease(subject, `l${n}`, n % 2 === 0 ? { subject: ADA } : { sid: 's1' })),
      )
      expect(pairsOf(leased.flat())).toEqual(pairs)
      expect(await lease(subject, 'late')).toEqual([])
    },
  },
  {
    id: 'lease/crash',
    rule: "a crashed worker's rows come back when its lease ends, not before, to one of those who ask",
    race: true,
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's2 web'])
      await lease(subject, 'crashed')
      wait(subject, LEASE - 1)
      expect(await lease(subject, 'early')).toEqual([])
      wait(subject, 1)
      const leased = await Promise.all([lease(subject, 'l1'), lease(subject, 'l2'), lease(subject, 'l3')])
      expect(pairsOf(leased.flat())).toEqual(['s1 web', 's2 web'])
    },
  },
  {
    id: 'lease/recorded-again',
    rule: 'a leased row that is recorded again stays leased, and its worker acknowledges it',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const ids = idsOf(await lease(subject, 'l1'))
      await open(subject).record(entry(subject, { backchannel_logout_uri: 'https://web.example/new' }))
      expect(await lease(subject, 'l2')).toEqual([])
      await open(subject).acknowledgeTargets('l1', ids)
      expect(await open(subject).targets({ sid: 's1' })).toEqual([])
    },
  },
  {
    id: 'acknowledge/removes',
    rule: 'what a worker acknowledges is gone, the rest of its rows stays leased, and again is no error',
    async holds(subject) {
      await recordAll(subject, ['s1 web', 's2 web'])
      const leased = await lease(subject, 'l1')
      const [first = ''] = idsOf(leased)
      await open(subject).acknowledgeTargets('l1', [first, first])
      await open(subject).acknowledgeTargets('l1', [first])
      await open(subject).releaseTargets('l1', [first])
      expect(pairsOf(await open(subject).targets({ subject: ADA }))).toEqual(['s2 web'])
      expect(await lease(subject, 'l2')).toEqual([])
      wait(subject, LEASE)
      expect(pairsOf(await lease(subject, 'l3'))).toEqual(['s2 web'])
    },
  },
  {
    id: 'acknowledge/late',
    rule: 'a worker that comes after its lease has ended still acknowledges what nobody took since',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const ids = idsOf(await lease(subject, 'l1'))
      wait(subject, LEASE + 1)
      await open(subject).acknowledgeTargets('l1', ids)
      expect(await open(subject).targets({ sid: 's1' })).toEqual([])
    },
  },
  {
    id: 'acknowledge/stale',
    rule: 'a worker whose row another took since neither removes nor frees it',
    async holds(subject) {
      await open(subject).record(entry(subject))
      const ids = idsOf(await lease(subject, 'stale'))
      wait(subject, LEASE)
      expect(idsOf(await lease(subject, 'newer'))).toEqual(ids)
      await open(subject).acknowledgeTargets('stale', ids)
      await open(subject).releaseTargets('stale', ids)
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1)
      wait(subject, LEASE - 1)
      expect(await lease(subject, 'third')).toEqual([])
      await open(subject).acknowledgeTargets('newer', ids)
      expect(await open(subject).targets({ sid: 's1' })).toEqual([])
    },
  },
  {
    id: 'acknowledge/race-with-takeover',
    rule: 'when a worker acknowledges just as another takes its row over, the row has gone or is all the other’s',
    race: true,
    async holds(subject) {
      await open(subject).record(entry(subject))
      const ids = idsOf(await lease(subject, 'stale'))
      wait(subject, LEASE)
      const [taken] = await Promise.all([lease(subject, 'newer'), open(subject).acknowledgeTargets('stale', ids)])
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(taken.length)
    },
  },
  {
    id: 'acknowledge/race-with-record',
    rule: 'a row that is recorded again just as it is acknowledged has gone, or begins anew and free',
    race: true,
    async holds(subject) {
      await open(subject).record(entry(subject))
      const ids = idsOf(await lease(subject, 'l1'))
      await Promise.all([open(subject).acknowledgeTargets('l1', ids), open(subject).record(entry(subject))])
      const left = await open(subject).targets({ sid: 's1' })
      expect(await lease(subject, 'l2')).toHaveLength(left.length)
    },
  },
  {
    id: 'acknowledge/foreign',
    rule: 'an id of no row, or of another record, is passed over, and what it names stays',
    async holds(subject) {
      await open(subject).record(entry(subject))
      await lease(subject, 'l1')
      const state = subject.state()
      await state.put('tok.x', bytes('x'), LEASE)
      await state.put('logout-due.e1', bytes('x'), LEASE)
      const names = ['tok.x', 'logout-due.e1', 'logout-of.s1', 'logout.a.b', 'logout.a.b.c', 'logout.', '']
      const ids = [...names.map(deliveryIdOf), 'no id', '%', '~']
      await open(subject).acknowledgeTargets('l1', ids)
      await open(subject).releaseTargets('l1', ids)
      expect(await state.get('tok.x')).not.toBeNull()
      expect(await state.get('logout-due.e1')).not.toBeNull()
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1)
    },
  },
  {
    id: 'release/waits',
    rule: 'a released row is free again after a wait, though the lease would have gone on, and its attempts are counted',
    async holds(subject) {
      await open(subject).record(entry(subject, { expires_at: nowOf(subject) + 10 * LONGEST_WAIT }))
      const ids = idsOf(await lease(subject, 'l1', { sid: 's1' }, {}, 5 * LONGEST_WAIT))
      await open(subject).releaseTargets('l1', ids)
      expect(await lease(subject, 'l2')).toEqual([])
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1)
      wait(subject, LONGEST_WAIT)
      expect(await lease(subject, 'l3')).toMatchObject([{ attempts: 1, delivery_id: ids[0] }])
    },
  },
  {
    id: 'release/backoff',
    rule: 'each wait after a release is longer than half the one before doubled, and none is over an hour',
    async holds(subject) {
      await open(subject).record(entry(subject, { expires_at: nowOf(subject) + 20 * LONGEST_WAIT }))
      for (const [attempts, longest] of [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600].entries()) {
        const leased = await lease(subject, `l${attempts}`)
        expect(leased).toMatchObject([{ attempts }])
        await open(subject).releaseTargets(`l${attempts}`, idsOf(leased))
        wait(subject, longest / 2 - 1)
        expect(await lease(subject, 'early')).toEqual([])
        wait(subject, longest / 2 + 1)
      }
    },
  },
  {
    id: 'release/once',
    rule: 'a release that is repeated counts once and moves nothing',
    async holds(subject) {
      await open(subject).record(entry(subject, { expires_at: nowOf(subject) + 3 * LONGEST_WAIT }))
      const ids = idsOf(await lease(subject, 'l1'))
      await open(subject).releaseTargets('l1', [...ids, ...ids])
      wait(subject, LONGEST_WAIT)
      await open(subject).releaseTargets('l1', ids)
      expect(await lease(subject, 'l2')).toMatchObject([{ attempts: 1 }])
    },
  },
  {
    id: 'release/race-with-takeover',
    rule: 'when a worker releases just as another takes its row over, the row is given back or all the other’s',
    race: true,
    async holds(subject) {
      await open(subject).record(entry(subject))
      const ids = idsOf(await lease(subject, 'stale'))
      wait(subject, LEASE)
      const [taken] = await Promise.all([lease(subject, 'newer'), open(subject).releaseTargets('stale', ids)])
      await open(subject).acknowledgeTargets('newer', ids)
      expect(await open(subject).targets({ sid: 's1' })).toHaveLength(1 - taken.length)
    },
  },
]

function lease(
  subject: Parameters<typeof open>[0],
  id: string,
  criteria: { sid: string } | { subject: string } = { subject: ADA },
  options = {},
  seconds = LEASE,
) {
  return open(subject).leaseTargets(criteria, id, nowOf(subject), nowOf(subject) + seconds, options)
}
