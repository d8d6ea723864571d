import { describe, expect, it } from 'vitest'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys, personId } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import { jsonLog } from '../telemetry/log.ts'
import { logoutStore } from './store.ts'

const NOW = Date.UTC(2026, 10, 30, 12) / 1_000
const ada = { subject: 'ada@acme.example' }
const random = { bytes: (length: number) => new Uint8Array(length) }

type Write = 'update' | 'deleteIfRevision'

/** A store with rows of so many sessions, over a State whose calls can be made to fail. */
async function arrange(sessions: number) {
  const clock = { now: () => NOW * 1_000 }
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  const lines: string[] = []
  const calls: string[] = []
  let underWay = 0
  const most = { underWay: 0 }
  const faults: { fails?: (call: Write | 'list' | 'get', nth: number) => 'before' | 'after' | null } = {}

  async function faulty<T>(call: Write | 'list' | 'get', apply: () => Promise<T>): Promise<T> {
    calls.push(call)
    const fate = faults.fails?.(call, calls.filter((one) => one === call).length) ?? null
    if (fate === 'before') throw new PortError('Unavailable', 'never sent')
    most.underWay = Math.max(most.underWay, ++underWay)
    const done = await apply().finally(() => underWay--)
    if (fate === 'after') throw new PortError('Unavailable', 'the answer was lost')
    return done
  }
  const shaky: State = {
    ...state,
    get: (key) => faulty('get', () => state.get(key)),
    list: (...of) => faulty('list', () => state.list(...of)),
    update: (...of) => faulty('update', () => state.update(...of)),
    deleteIfRevision: (...of) => faulty('deleteIfRevision', () => state.deleteIfRevision(...of)),
  }
  const log = jsonLog((line) => lines.push(line), clock)
  const store = logoutStore({ state: shaky, clock, random, log })
  for (let n = 0; n < sessions; n++) {
    const client = { client_id: 'web', backchannel_logout_uri: 'https://web.example/out' }
    await store.record({ sid: `s${n}`, ...ada, ...client, expires_at: NOW + 600 })
  }
  calls.length = 0
  const events = () => lines.map((line) => JSON.parse(line).event)
  return { store, state, faults, calls, most, events }
}

const only = (call: Write, when: 'before' | 'after', nths: readonly number[]) => (made: string, nth: number) =>
  made === call && nths.includes(nth) ? when : null

describe('a lease', () => {
  it('whose answers were all lost is a failure, and its rows come back when it ends', async () => {
    const { store, faults } = await arrange(2)
    faults.fails = only('update', 'after', [1, 2])
    await expect(store.leaseTargets(ada, 'lost', NOW, NOW + 60)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await store.leaseTargets(ada, 'next', NOW + 59, NOW + 119)).toEqual([])
    expect(await store.leaseTargets(ada, 'next', NOW + 60, NOW + 120)).toHaveLength(2)
  })

  it.each(['before', 'after'] as const)('of which one write failed (%s it landed) has the others', async (when) => {
    const { store, faults, events } = await arrange(3)
    faults.fails = only('update', when, [2])
    expect((await store.leaseTargets(ada, 'l1', NOW, NOW + 60)).map(({ sid }) => sid)).toEqual(['s0', 's2'])
    expect(events()).toEqual(['logout.lease_unconfirmed'])
    expect((await store.leaseTargets(ada, 'l2', NOW + 60, NOW + 120)).map(({ sid }) => sid)).toEqual(['s0', 's1', 's2'])
  })

  it('with a limit writes no more rows than that, and reads no page that it does not need', async () => {
    const { store, calls } = await arrange(250)
    expect(await store.leaseTargets(ada, 'l1', NOW, NOW + 60, { limit: 50 })).toHaveLength(50)
    expect(calls.filter((call) => call === 'update')).toHaveLength(50)
    expect(calls.filter((call) => call === 'list')).toHaveLength(1)
  })

  it('of a thousand rows has twelve calls under way at once', async () => {
    const { store, calls, most } = await arrange(1_000)
    expect(await store.leaseTargets(ada, 'l1', NOW, NOW + 60)).toHaveLength(1_000)
    expect(calls.filter((call) => call === 'update')).toHaveLength(1_000)
    expect(calls.filter((call) => call === 'list')).toHaveLength(10)
    expect(most.underWay).toBe(12)
  })
})

describe('taking', () => {
  it('throws while nothing has been taken, when the rows cannot all be listed', async () => {
    const { store, faults } = await arrange(150)
    faults.fails = (call, nth) => (call === 'list' && nth === 2 ? 'before' : null)
    await expect(store.takeTargets(ada)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await store.takeTargets(ada)).toHaveLength(150)
  })

  it.each(['before', 'after'] as const)('counts a row whose removal failed (%s it landed) as taken', async (when) => {
    const { store, faults, events } = await arrange(3)
    faults.fails = only('deleteIfRevision', when, [2])
    expect((await store.takeTargets(ada)).map(({ sid }) => sid)).toEqual(['s0', 's1', 's2'])
    expect(events()).toEqual(['logout.take_unconfirmed'])
    expect(await store.takeTargets(ada)).toHaveLength(when === 'before' ? 1 : 0)
  })

  it('leaves a row that moved and cannot be read again, and returns the others', async () => {
    const { store, state, faults, events } = await arrange(2)
    const key = keys.logout(personId(ada.subject), 's0', 'web')
    faults.fails = (call) => (call === 'get' ? 'before' : null)
    const moving = store.takeTargets(ada)
    const entry = await state.get(key)
    await state.put(key, entry?.value ?? utf8(''), 600)
    expect((await moving).map(({ sid }) => sid)).toEqual(['s1'])
    expect(events()).toEqual(['logout.not_taken'])
    expect(await state.get(key)).not.toBeNull()
  })
})

describe('a worker', () => {
  it.each(['acknowledgeTargets', 'releaseTargets'] as const)(
    'that cannot write one row is told, after the others were (%s)',
    async (method) => {
      const { store, faults } = await arrange(3)
      const ids = (await store.leaseTargets(ada, 'l1', NOW, NOW + 60)).map(({ delivery_id }) => delivery_id)
      faults.fails = (call, nth) => (call === 'get' && nth === 1 ? 'before' : null)
      await expect(store[method]('l1', ids)).rejects.toMatchObject({ code: 'Unavailable' })
      const held = (await store.rows(ada)).filter(({ value }) => value.lease?.id === 'l1')
      expect(held.map(({ value }) => value.sid)).toEqual(['s0'])
    },
  )

  it('that names no row asks the store for nothing', async () => {
    const { store, calls, events } = await arrange(1)
    await store.acknowledgeTargets('l1', ['', 'bm9uZQ'])
    expect(calls).toEqual([])
    expect(events()).toEqual(['logout.delivery_id_unknown', 'logout.delivery_id_unknown'])
  })
})

describe('recording', () => {
  it('over a row that cannot be read writes it anew', async () => {
    const { store, state } = await arrange(1)
    await state.put(keys.logout(personId(ada.subject), 's0', 'web'), utf8('{'), 600)
    expect(await store.targets(ada)).toEqual([])
    const client = { client_id: 'web', frontchannel_logout_uri: 'https://web.example/frame' }
    await store.record({ sid: 's0', ...ada, ...client, expires_at: NOW + 600 })
    expect(await store.targets(ada)).toMatchObject([{ ...client, backchannel_logout_uri: null }])
  })
})

describe('a session without its pointer', () => {
  it('is found by whoever knows its person too', async () => {
    const { store, state } = await arrange(2)
    await state.delete(keys.logoutOf('s0'))
    expect(await store.targets({ sid: 's0' })).toEqual([])
    expect((await store.targets({ sid: 's0', ...ada })).map(({ sid }) => sid)).toEqual(['s0'])
  })
})
