import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Scheduler, seededScheduler, straight } from '../adapters/memory/scheduler.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { noLog } from '../telemetry/log.ts'
import { type LogoutStore, logoutStore } from './store.ts'

/** What a worker does next. It holds what it leased last, and forgets it when it crashes. */
type Act =
  | { does: 'lease'; seconds: number; limit: number; of: 'person' | 'session'; dueOnly: boolean }
  | { does: 'acknowledge' | 'release'; share: 'all' | 'first' }
  | { does: 'crash' | 'mark due' }
  | { does: 'wait'; seconds: number }

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('lease' as const),
      seconds: fc.constantFrom(1, 10, 60),
      limit: fc.constantFrom(1, 2, 100),
      of: fc.constantFrom('person' as const, 'session' as const),
      dueOnly: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constantFrom('acknowledge' as const, 'release' as const),
      share: fc.constantFrom('all' as const, 'first' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('crash' as const, 'mark due' as const) }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('wait' as const), seconds: fc.constantFrom(1, 9, 10, 30, 61) }) },
)

/** A worker's acts, one after the other. They may be told to a lease that is long another's. */
const script = fc.array(act, { minLength: 1, maxLength: 14, size: 'max' })

/** A row in a worker's hands, from and until when, in unix seconds. */
interface Holding {
  row: string
  lease: string
  from: number
  until: number
}

const PERSON = 'ada@acme.example'
const ROWS = ['s1 web', 's1 wiki', 's2 web']
const START = 1_796_040_000

/** A table with the rows, workers over it that share a clock, and what each held when. */
async function office(scheduler: Scheduler) {
  const table = createMemoryStore()
  let now = START
  const clock = { now: () => now * 1_000 }
  const random = { bytes: (length: number) => new Uint8Array(length) } // the shortest waits: the most leases
  const open = (how = scheduler) =>
    logoutStore({ state: memoryState({ store: table, clock, module: 'oidc', scheduler: how }), clock, random, log: noLog })
  const calm = open(straight)
  const holdings: Holding[] = []
  const acknowledged: Holding[] = []
  let leases = 0

  for (const row of ROWS) {
    const [sid = '', client_id = ''] = row.split(' ')
    const backchannel_logout_uri = `https://${client_id}.example/out`
    await calm.record({ sid, subject: PERSON, client_id, backchannel_logout_uri, expires_at: START + 86_400 })
  }

  async function lease(store: LogoutStore, { seconds, limit, of, dueOnly }: Extract<Act, { does: 'lease' }>) {
    const id = `l${leases++}`
    const from = now
    const criteria = of === 'person' ? { subject: PERSON } : { sid: 's1' }
    const targets = await store.leaseTargets(criteria, id, from, from + seconds, { dueOnly, limit })
    const held = targets.map(({ sid, client_id }) => ({ row: `${sid} ${client_id}`, lease: id, from, until: from + seconds }))
    holdings.push(...held)
    return { id, held, ids: targets.map(({ delivery_id }) => delivery_id) }
  }

  /** A worker that goes through its acts; each is begun when the one before was answered. */
  async function work(acts: readonly Act[]): Promise<void> {
    const store = open()
    let hand: Awaited<ReturnType<typeof lease>> = { id: 'none', held: [], ids: [] }
    for (const act of acts) {
      const share = 'share' in act && act.share === 'first' ? 1 : hand.ids.length
      const shared = hand.held.slice(0, share)
      switch (act.does) {
        case 'lease':
          hand = await lease(store, act)
          break
        case 'acknowledge':
          // From the call on the row may go, and be nobody's.
          acknowledged.push(...shared)
          giveBack(shared)
          await store.acknowledgeTargets(hand.id, hand.ids.slice(0, share))
          break
        case 'release':
          giveBack(shared)
          await store.releaseTargets(hand.id, hand.ids.slice(0, share))
          break
        case 'crash':
          hand = { id: 'none', held: [], ids: [] }
          break
        case 'mark due':
          await store.markDue(await store.rows({ subject: PERSON }), { id: 'e1', cause: 'sign_out' }, now)
          break
        case 'wait':
          now += act.seconds
      }
    }
  }

  function giveBack(held: readonly Holding[]): void {
    for (const one of held) one.until = Math.min(one.until, now)
  }

  return {
    work,
    holdings,
    acknowledged,
    /** The rows that a worker gets once every lease and every wait has ended. */
    async rest(): Promise<string[]> {
      now += 4_000
      const left = await calm.leaseTargets({ subject: PERSON }, 'last', now, now + 60)
      return left.map(({ sid, client_id }) => `${sid} ${client_id}`)
    },
  }
}

/** Pairs of leases that held one row at one time. */
function overlaps(holdings: readonly Holding[]): [Holding, Holding][] {
  return holdings.flatMap((one, at) =>
    holdings
      .slice(at + 1)
      .filter((other) => other.row === one.row && other.from < one.until && one.from < other.until)
      .map((other): [Holding, Holding] => [one, other]),
  )
}

it('whatever workers do at once, no two leases hold one row at one time, and only an acknowledged row goes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(script, { minLength: 2, maxLength: 4 }), fc.nat(), async (scripts, seed) => {
      const { work, holdings, acknowledged, rest } = await office(seededScheduler(seed))
      await Promise.all(scripts.map(work))
      expect(overlaps(holdings)).toEqual([])
      const left = await rest()
      const mayHaveGone = new Set(acknowledged.map(({ row }) => row))
      expect(ROWS.filter((row) => !left.includes(row) && !mayHaveGone.has(row))).toEqual([])
      expect(new Set(left).size).toBe(left.length)
    }),
    { numRuns: 1_000 }, // a second or two
  )
}, 60_000)
