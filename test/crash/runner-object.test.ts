import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { objectMemory } from '../../src/adapters/object/runner-object.ts'
import { objectRunners, objectTrigger, type RunnerNamespace, type Runners, type Target } from '../../src/adapters/object/runners.ts'
import { noLog } from '../../src/telemetry/log.ts'
import { parseJournal, type Run } from '../../src/ticks/journal.ts'
import { createRunner } from '../../src/ticks/runner.ts'
import type { Tick } from '../../src/ticks/tick.ts'
import { clock, random } from '../conformance/arrange.ts'
import { freshInstance } from '../conformance/shard-network.ts'
import { tickOf } from './runner-builders.ts'

const UNKNOWN = { kind: 'logout', target: 'nobody' } // a target that the service under test has no tick for

function arrange() {
  const instance = freshInstance()
  const runners = objectRunners({ namespace: env.RUNNER, instance })
  const stub = (target: string) => env.RUNNER.getByName(`sluis-${instance}/${target}`)
  return { runners, stub }
}

/** The alarm that a poke sets goes off by itself. */
async function lastRun(runners: Runners, target: Target): Promise<Run> {
  const last = async () => parseJournal(await runners.status(target))?.last ?? null
  await expect.poll(last, { timeout: 10_000 }).not.toBeNull()
  const run = await last()
  if (run === null) throw new Error('it ran, and forgot that')
  return run
}

describe("a target's object", () => {
  it('runs the tick in its alarm, and tells what came of it', async () => {
    const { runners } = arrange()
    expect(await runners.status(UNKNOWN)).toBeNull()
    await runners.poke(UNKNOWN, 60_000)
    expect(await lastRun(runners, UNKNOWN)).toMatchObject({ due: 60_000, outcome: 'skipped' })
    expect(parseJournal(await runners.status(UNKNOWN))).toMatchObject({ ...UNKNOWN, due: 60_000, running: null })
  })

  it('that was torn down knows what it ran, and does not run that again', async () => {
    const { runners, stub } = arrange()
    await runners.poke(UNKNOWN, 60_000)
    const before = await lastRun(runners, UNKNOWN)
    await evictDurableObject(stub('logout:nobody'))
    await runners.poke(UNKNOWN, 60_000)
    expect(await runDurableObjectAlarm(stub('logout:nobody'))).toBe(false)
    expect(await lastRun(runners, UNKNOWN)).toEqual(before)
  })

  it.each(['keyring', 'logout'])('runs the tick of kind %s of the whole service', async (kind) => {
    const { runners } = arrange()
    await runners.poke({ kind, target: 'all' }, 60_000)
    expect(await lastRun(runners, { kind, target: 'all' })).toMatchObject({ due: 60_000, outcome: 'ran' })
  })

  it('sets its alarm in the commit of what it remembers, and leaves an earlier one', async () => {
    const { stub } = arrange()
    const far = Date.now() + 3_600_000
    await runInDurableObject(stub('logout:memory'), async (_object, { storage }) => {
      const memory = objectMemory(storage)
      await memory.update(() => ({ kept: { n: 1 }, alarm: far }))
      await memory.update(() => ({ kept: { n: 2 }, alarm: far + 60_000 }))
      expect([await memory.read(), await storage.getAlarm()]).toEqual([{ n: 2 }, far])
      await memory.update(() => null)
      await memory.update((kept) => ({ kept, alarm: far - 60_000 }))
      expect([await memory.read(), await storage.getAlarm()]).toEqual([{ n: 2 }, far - 60_000])
      await storage.deleteAlarm()
    })
  })

  it('that is poked during a run runs once more', async () => {
    const { stub } = arrange()
    await runInDurableObject(stub('logout:poked'), async (_object, { storage }) => {
      const state = memoryState({ store: createMemoryStore(), clock, module: 'oidc' })
      const poked = { kind: 'logout', target: 'all', due: null }
      const run: Tick['run'] = async () => {
        await Promise.all([runner.poke(poked), runner.poke(poked), runner.poke(poked)])
        return 'ran'
      }
      const options = { ticks: () => ({ fixed: [tickOf(state, run)], families: [] }), subrequests: () => 800, clock, random, log: noLog }
      const runner = createRunner({ ...options, memory: objectMemory(storage) })
      await runner.poke(poked)
      await storage.deleteAlarm() // as the platform does before it runs it
      await runner.run()
      expect(await storage.getAlarm()).not.toBeNull()
      expect(await runner.status()).toMatchObject({ last: { outcome: 'ran' } })
      await storage.deleteAlarm()
    })
  })
})

describe('asking a runner', () => {
  const failing = (errors: unknown[]) => {
    const poked: unknown[] = []
    const call = async (one: unknown) => {
      poked.push(one)
      if (errors.length > 0) throw errors.shift()
    }
    const namespace: RunnerNamespace = { getByName: () => ({ poke: call, status: () => call('status') }) }
    return { poked, runners: objectRunners({ namespace, instance: 'dev' }) }
  }

  it('is done again once when it failed on the way, and then Unavailable', async () => {
    const { runners, poked } = failing([new Error('reset')])
    await runners.poke(UNKNOWN, 1)
    expect(poked).toHaveLength(2)
    await expect(failing([new Error('reset'), new Error('reset')]).runners.poke(UNKNOWN, 1)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('is not repeated to one that has too much to do', async () => {
    const { runners, poked } = failing([Object.assign(new Error('busy'), { overloaded: true })])
    await expect(runners.poke(UNKNOWN, 1)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(poked).toHaveLength(1)
  })
})

describe('a hint by Trigger', () => {
  it('pokes the targets it is for, and drops one that nobody knows', async () => {
    const poked: string[] = []
    const poke = async ({ kind, target }: typeof UNKNOWN, due: number | null) => void poked.push(`${kind}:${target} ${due}`)
    const trigger = objectTrigger({ poke }, (hint) => (hint === 'acme' ? [{ kind: 'github-tick', target: 'acme' }] : []))
    await trigger.notify('acme')
    await trigger.notify('initech')
    expect(poked).toEqual(['github-tick:acme null'])
  })
})
