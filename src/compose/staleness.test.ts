import { expect, it } from 'vitest'
import { tickOf } from '../../test/crash/runner-builders.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import type { Log, LogFields } from '../telemetry/log.ts'
import { logStale } from './staleness.ts'

const MINUTE = 60_000
const NOON = Date.parse('2026-12-01T12:00:00Z')

/** The ticks `logout:all` and `refresh:C01`, whose last good runs were so many minutes ago (null: never poked), and what is said of them. */
async function said(good: Record<string, number | null>, now = NOON): Promise<(string | number | undefined)[][]> {
  const clock = { now: () => now }
  const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
  const ran = async () => 'ran' as const
  const of = (target: string) => tickOf(state, ran, { kind: 'refresh', target, every: 15 })
  const ticks = { fixed: [tickOf(state, ran)], families: [{ kind: 'refresh', every: 15, state, of, all: async () => [of('C01')] }] }
  const runners = {
    poke: async () => {},
    async status({ kind, target }: { kind: string; target: string }) {
      const minutes = good[`${kind}:${target}`]
      if (minutes === null || minutes === undefined) return null
      const run = { due: null, startedAt: now - minutes * MINUTE, finishedAt: now - minutes * MINUTE, outcome: 'ran' as const }
      return { kind, target, since: 0, due: null, running: null, last: run, good: run }
    },
  }
  const lines: (string | number | undefined)[][] = []
  const error = (event: string, fields: LogFields = {}) => void lines.push([event, String(fields.kind), Number(fields.seconds)])
  const log: Log = { info() {}, warn() {}, error, with: () => log }
  await logStale(now, ticks, { runners, clock, log })
  return lines
}

it('a tick that has not gone well for two of its periods and a few minutes is said to be stale, every quarter of an hour', async () => {
  expect(await said({ 'logout:all': 8, 'refresh:C01': 36 })).toEqual([
    ['tick.stale', 'logout', 480],
    ['tick.stale', 'refresh', 2_160],
  ])
  expect(await said({ 'logout:all': 8, 'refresh:C01': 36 }, NOON + MINUTE)).toEqual([])
})

it('one that runs, or was never asked to, is not', async () => {
  expect(await said({ 'logout:all': 7, 'refresh:C01': 35 })).toEqual([])
  expect(await said({ 'logout:all': null, 'refresh:C01': null })).toEqual([])
})
