import fc from 'fast-check'
import { expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { noLog } from '../telemetry/log.ts'
import { backoff } from './backoff.ts'
import { logoutStore } from './store.ts'

/** What one of the workers does next. It holds what it leased last, also when that is long another's. */
type Act = { worker: number } & (
  | { does: 'lease'; seconds: number; limit: number; sid: string | undefined; dueOnly: boolean }
  | { does: 'acknowledge' | 'release'; count: number }
  | { does: 'mark due' | 'record'; row: number }
  | { does: 'wait'; seconds: number }
)

const PERSON = 'ada@acme.example'
const START = 1_796_040_000
const ROWS = ['s1 web', 's1 wiki', 's2 web', 's2 wiki']

const worker = fc.nat({ max: 2 })
const row = fc.nat({ max: ROWS.length - 1 })

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      worker,
      does: fc.constant('lease' as const),
      seconds: fc.constantFrom(1, 10, 60),
      limit: fc.constantFrom(1, 2, 100),
      sid: fc.constantFrom('s1', undefined),
      dueOnly: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ worker, does: fc.constantFrom('acknowledge' as const, 'release' as const), count: fc.constantFrom(1, 4) }),
  },
  { weight: 2, arbitrary: fc.record({ worker, does: fc.constantFrom('mark due' as const, 'record' as const), row }) },
  // Around the ends of leases and of the first waits, on both sides.
  { weight: 4, arbitrary: fc.record({ worker, does: fc.constant('wait' as const), seconds: fc.constantFrom(1, 9, 10, 14, 15, 30, 60) }) },
)

/** What is believed of a row. */
interface Row {
  row: string
  due: boolean
  lease: { id: string; until: number } | null
  notBefore: number
  attempts: number
}

const fresh = (row: string): Row => ({ row, due: false, lease: null, notBefore: START, attempts: 0 })

it('whatever workers do one after the other, each lease gets exactly the rows that are free, and a row goes exactly when it is acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40, size: 'max' }), async (acts) => {
      let now = START
      const clock = { now: () => now * 1_000 }
      const random = { bytes: (length: number) => new Uint8Array(length) }
      const store = logoutStore({ state: memoryState({ store: createMemoryStore(), clock, module: 'oidc' }), clock, random, log: noLog })
      const record = (row: string) => {
        const [sid = '', client_id = ''] = row.split(' ')
        const entry = { sid, client_id, subject: PERSON, backchannel_logout_uri: 'https://rp.example/out' }
        return store.record({ ...entry, expires_at: START + 86_400 })
      }
      const believed = new Map<string, Row>()
      const hands = new Map<number, { lease: string; held: { row: string; id: string }[] }>()
      for (const row of ROWS) {
        await record(row)
        believed.set(row, fresh(row))
      }

      for (const [nth, act] of acts.entries()) {
        const hand = hands.get(act.worker) ?? { lease: 'none', held: [] }
        switch (act.does) {
          case 'lease': {
            const lease = { id: `l${nth}`, until: now + act.seconds }
            const criteria = { sid: act.sid, subject: PERSON }
            const targets = await store.leaseTargets(criteria, lease.id, now, lease.until, act)
            const held = targets.map(({ sid, client_id, delivery_id }) => ({ row: `${sid} ${client_id}`, id: delivery_id }))
            hands.set(act.worker, { lease: lease.id, held })

            const free = [...believed.values()]
              .filter(({ row }) => act.sid === undefined || row.startsWith(`${act.sid} `))
              .filter(({ lease, notBefore, due }) => (lease === null || lease.until <= now) && notBefore <= now && (due || !act.dueOnly))
              .sort((a, b) => (a.row < b.row ? -1 : 1))
              .slice(0, act.limit)
            expect(targets.map(({ sid, client_id, attempts }) => [`${sid} ${client_id}`, attempts])).toEqual(
              free.map(({ row, attempts }) => [row, attempts]),
            )
            for (const one of free) one.lease = lease
            break
          }
          case 'acknowledge':
          case 'release': {
            const given = hand.held.slice(0, act.count)
            const ids = given.map(({ id }) => id)
            await (act.does === 'release' ? store.releaseTargets(hand.lease, ids) : store.acknowledgeTargets(hand.lease, ids))
            for (const { row } of given) {
              const one = believed.get(row)
              if (one?.lease?.id !== hand.lease) continue
              if (act.does === 'acknowledge') believed.delete(row)
              else {
                one.lease = null
                one.attempts += 1
                one.notBefore = now + backoff(one.attempts, random)
              }
            }
            break
          }
          case 'mark due': {
            const name = ROWS[act.row]
            const rows = (await store.rows({ subject: PERSON })).filter(({ value }) => `${value.sid} ${value.client_id}` === name)
            await store.markDue(rows, { id: 'e1', cause: 'sign_out' }, now)
            const one = believed.get(name ?? '')
            if (one !== undefined) one.due = true
            break
          }
          case 'record': {
            const name = ROWS[act.row] ?? ''
            await record(name)
            if (!believed.has(name)) believed.set(name, fresh(name))
            break
          }
          case 'wait':
            now += act.seconds
        }
      }
      const left = (await store.targets({ subject: PERSON })).map(({ sid, client_id }) => `${sid} ${client_id}`)
      expect(left).toEqual([...believed.keys()].sort())
    }),
    { numRuns: 1_000 }, // a second or two
  )
}, 60_000)
