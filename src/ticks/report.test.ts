import { expect, it } from 'vitest'
import { arrangeRunners, fakeObject, MINUTE, tickOf } from '../../test/crash/runner-builders.ts'
import { memoryBlob } from '../adapters/memory/blob.ts'
import { utf8 } from '../crypto/bytes.ts'
import { readReport, reportName, writeReport } from './report.ts'
import type { Tick } from './tick.ts'

const target = { module: 'oidc', kind: 'logout', target: 'all' } as const

/** A target's runner that reports into a Blob. */
function arrange(run: Tick['run']) {
  const { time, state, runner } = arrangeRunners()
  const blob = memoryBlob()
  const object = fakeObject(time)
  const one = runner(object.memory, [tickOf(state, run)], {
    report: (tick, ran, details, budget) => writeReport(blob, tick, ran, details, budget),
  })
  return {
    blob,
    time,
    async tick() {
      await one.poke({ kind: 'logout', target: 'all', due: time.clock.now() })
      await object.fire(one)
      return readReport(blob, target)
    },
  }
}

it('a run says what it came to, and a later one that fails leaves that beside its own failure', async () => {
  let fails = false
  const { tick, time } = arrange(async ({ report }) => {
    report({ told: 1 })
    report({ told: 2 })
    if (fails) throw new TypeError('broken')
    return 'ran'
  })
  const good = await tick()
  expect(good).toMatchObject({ version: 1, ...{ kind: 'logout', target: 'all' }, tick: { outcome: 'ran' }, details: { told: 2 } })
  fails = true
  await time.advance(MINUTE)
  const failed = await tick()
  expect(failed).toMatchObject({ tick: { outcome: 'failed', error: { name: 'TypeError' } }, details: { told: 2 }, good: good?.good })
})

it.each([
  [{ module: 'oidc', kind: 'keyring', target: 'all' } as const, 'oidc/reports/keyring'],
  [{ module: 'google', kind: 'refresh', target: 'C01abc' } as const, 'google/reports/C01abc'],
])('%o is at %s', (tick, name) => {
  expect(reportName(tick)).toBe(name)
})

it('a report that is none is as good as absent, and replaced', async () => {
  const { blob, tick } = arrange(async () => 'ran')
  for (const text of ['', 'null', '{"version":2}', '\ufffd']) {
    await blob.write('oidc/reports/logout', utf8(text))
    expect(await readReport(blob, target)).toBeNull()
  }
  expect((await tick())?.tick.outcome).toBe('ran')
})
