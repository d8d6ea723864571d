import { expect, it } from 'vitest'
import { arrangeRunners, fakeObject, MINUTE, tickOf } from '../../test/crash/runner-builders.ts'
import { jsonLog } from '../telemetry/log.ts'
import { createMeter, type Series } from '../telemetry/metrics.ts'
import { noteRun } from './note-run.ts'
import type { Tick } from './tick.ts'

it('a run leaves a line, and is counted with what became of its lease', async () => {
  const { time, open, runner } = arrangeRunners()
  const object = fakeObject(time)
  const lines: string[] = []
  const sent: Series[] = []
  const meter = createMeter((series) => sent.push(...series))
  meter.know('kind', ['logout'])
  const log = jsonLog((line) => lines.push(line), time.clock)
  const runs: Tick['run'][] = [async () => 'ran', () => Promise.reject(new Error('ada@acme.example'))]
  const tick = tickOf(open(), (slice) => runs.shift()?.(slice) ?? Promise.resolve('skipped'))
  const one = runner(object.memory, [tick], { ended: (ended) => noteRun(ended, { log, meter }) })
  for (let minute = 0; minute < 2; minute++) {
    await time.advance(MINUTE)
    await one.poke({ kind: 'logout', target: 'all', due: time.clock.now() })
    await object.fire(one)
  }
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { event: 'tick.ended', kind: 'logout', target: 'all', reason: 'ran', ms: 0 },
    { event: 'tick.ended', kind: 'logout', target: 'all', reason: 'failed', ms: 0 },
  ])
  expect(sent.map(({ name, labels }) => [name, ...labels])).toEqual([
    ['ticks', 'logout', 'ran'],
    ['leases', 'logout', 'held'],
    ['ticks', 'logout', 'failed'],
    ['leases', 'logout', 'held'],
  ])
})
