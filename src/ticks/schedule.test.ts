import { describe, expect, it } from 'vitest'
import { arrangeRunners, notingLog, tickOf } from '../../test/crash/runner-builders.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import type { State } from '../ports/state.ts'
import { isDue, type Poke, pokeDue } from './schedule.ts'
import type { Tick, TickFamily } from './tick.ts'

const MINUTE = 60_000
const NOON = Date.parse('2026-11-30T12:00:00Z') // a minute that 5, 15 and 60 divide

function arrange({ down = () => false }: { down?: (kind: string) => boolean } = {}) {
  const { state } = arrangeRunners()
  const ran = async () => 'ran' as const
  const ticks = [
    tickOf(state, ran, { kind: 'keyring', every: 5 }),
    tickOf(state, ran, { kind: 'logout', every: 1 }),
    tickOf(state, ran, { kind: 'github-tick', target: 'acme', every: 15 }),
  ]
  const pokes: string[] = []
  const events: string[] = []
  const poke: Poke = async ({ kind, target }, due) => {
    if (down(kind)) throw new PortError('Unavailable', 'down')
    pokes.push(`${kind}:${target} ${due === null ? 'hinted' : new Date(due).toISOString().slice(11, 19)}`)
  }
  const at = (scheduled: number, { ticks: fixed = ticks, ...more }: { ticks?: Tick[]; families?: TickFamily[]; poke?: Poke } = {}) =>
    pokeDue(scheduled, { ticks: { fixed, families: more.families ?? [] }, poke, log: notingLog(events), ...more })
  return { state, ticks, pokes, events, at }
}

describe('a target is due', () => {
  it('in the minutes its period divides, whenever in the minute the cron fired', () => {
    const due = (every: number) => [0, 1, 4, 5, 15, 16].filter((minute) => isDue({ every }, NOON + minute * MINUTE + 59_999))
    expect(due(1)).toEqual([0, 1, 4, 5, 15, 16])
    expect(due(5)).toEqual([0, 5, 15])
    expect(due(15)).toEqual([0, 15])
  })

  it('once a day at midnight UTC, when its period is a day', () => {
    const minutes = Array.from({ length: 2_880 }, (_, minute) => NOON + minute * MINUTE)
    expect(minutes.filter((at) => isDue({ every: 1_440 }, at)).map((at) => new Date(at).toISOString())).toEqual([
      '2026-12-01T00:00:00.000Z',
      '2026-12-02T00:00:00.000Z',
    ])
  })
})

describe('every minute', () => {
  it('the targets that are due are poked, for that minute', async () => {
    const { at, pokes } = arrange()
    await at(NOON + 5 * MINUTE + 1_234)
    expect(pokes.sort()).toEqual(['keyring:all 12:05:00', 'logout:all 12:05:00'])
  })

  it('a runner that cannot be poked keeps none of the others, and is logged', async () => {
    const { at, pokes, events } = arrange({ down: (kind) => kind === 'keyring' })
    await at(NOON)
    expect(pokes.sort()).toEqual(['github-tick:acme 12:00:00', 'logout:all 12:00:00'])
    expect(events).toEqual(['tick.not_poked'])
  })

  it('what is due is poked also when the hints cannot be read', async () => {
    const { at, pokes, events, state } = arrange()
    state.list = () => Promise.reject(new PortError('Unavailable', 'down'))
    await at(NOON + MINUTE)
    expect(pokes).toEqual(['logout:all 12:01:00'])
    expect(events).toEqual(['tick.hints_unread'])
  })

  it('one table is asked once for hints, however many targets stand in it', async () => {
    const { at, state } = arrange()
    const { list } = state
    let listings = 0
    state.list = (...all) => {
      listings++
      return list(...all)
    }
    await at(NOON)
    expect(listings).toBe(1)
  })
})

describe('a hint', () => {
  it.each(['acme', 'github-tick:acme'])('of %s pokes a target that is not due, and is taken', async (hint) => {
    const { at, pokes, state } = arrange()
    await state.put(`notify.${hint}`, utf8('x'), 60)
    await at(NOON + MINUTE)
    expect(pokes.sort()).toEqual(['github-tick:acme hinted', 'logout:all 12:01:00'])
    expect(await state.get(`notify.${hint}`)).toBeNull()
  })

  it('that names several kinds pokes each of them', async () => {
    const { at, pokes, state } = arrange()
    await state.put('notify.all', utf8('x'), 60)
    await at(NOON + MINUTE)
    expect(pokes.sort()).toEqual(['keyring:all hinted', 'logout:all 12:01:00', 'logout:all hinted'])
  })

  it('that names no target of ours pokes nothing and is left to lapse', async () => {
    const { at, pokes, state } = arrange()
    await state.put('notify.initech', utf8('x'), 60)
    await at(NOON + MINUTE)
    expect(pokes).toEqual(['logout:all 12:01:00'])
    expect(await state.get('notify.initech')).not.toBeNull()
  })

  it('whose runner could not be poked stands for the next minute', async () => {
    const { at, state } = arrange({ down: (kind) => kind === 'github-tick' })
    await state.put('notify.acme', utf8('x'), 60)
    await at(NOON + MINUTE)
    expect(await state.get('notify.acme')).not.toBeNull()
  })

  it('that came again while it was taken stands for the next minute', async () => {
    const { at, state, events } = arrange()
    await state.put('notify.acme', utf8('first'), 60)
    await at(NOON + MINUTE, {
      poke: async ({ kind }) => {
        if (kind === 'github-tick') await state.put('notify.acme', utf8('second'), 60)
      },
    })
    expect(await state.get('notify.acme')).toMatchObject({ value: utf8('second') })
    expect(events).toEqual([])
  })
})

describe('ticks of records', () => {
  const family = (state: State, ran: Tick['run'], all: () => Promise<string[]>): TickFamily => {
    const of = (target: string) => tickOf(state, ran, { kind: 'refresh', target, every: 15 })
    return { kind: 'refresh', every: 15, state, of, all: async () => (await all()).map(of) }
  }

  it('are each poked when their kind is due, and looked for only then', async () => {
    const { at, pokes, state } = arrange()
    let looked = 0
    const families = [
      family(
        state,
        async () => 'ran',
        async () => {
          looked++
          return ['C01', 'C02']
        },
      ),
    ]
    await at(NOON + MINUTE, { ticks: [], families })
    expect([looked, pokes]).toEqual([0, []])
    await at(NOON + 15 * MINUTE, { ticks: [], families })
    expect(pokes).toEqual(['refresh:C01 12:15:00', 'refresh:C02 12:15:00'])
  })

  it('that can not be looked for keep no other from being poked', async () => {
    const { at, pokes, events, state } = arrange()
    await at(NOON, {
      families: [
        family(
          state,
          async () => 'ran',
          () => Promise.reject(new PortError('Unavailable', 'away')),
        ),
      ],
    })
    expect(pokes).toContain('logout:all 12:00:00')
    expect(events).toContain('tick.targets_unread')
  })

  it('are hinted at by kind and target, also one that this isolate has not heard of', async () => {
    const { at, pokes, state } = arrange()
    await state.put('notify.refresh:C99', utf8(''), 60)
    await at(NOON + MINUTE, {
      ticks: [],
      families: [
        family(
          state,
          async () => 'ran',
          async () => [],
        ),
      ],
    })
    expect(pokes).toEqual(['refresh:C99 hinted'])
    expect(await state.get('notify.refresh:C99')).toBeNull()
  })
})
