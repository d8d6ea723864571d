import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { durableObjectIndex } from '../../src/adapters/durable-object/index-set.ts'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { bytes, random } from './arrange.ts'
import { freshInstance } from './shard-network.ts'
import { MINUTE } from './state/subject.ts'

const HOUR = 3_600 // seconds

/** Adapters of an instance whose clock is `ago` seconds behind the object's own. */
function connect(instance: string, ago = 0) {
  const options = { namespace: env.STATE_SHARD, instance, module: 'oidc', clock: { now: () => Date.now() - ago * 1_000 }, random } as const
  return { state: durableObjectState(options), index: durableObjectIndex(options) }
}

function small(instance: string) {
  return env.STATE_SHARD.getByName(`sluis-${instance}-oidc/small`)
}

/** What the object's table holds, dead rows too. */
function rowsIn(instance: string): Promise<string[]> {
  return runInDurableObject(small(instance), (_object, { storage }) =>
    storage.sql
      .exec<{ lkey: string }>('SELECT lkey FROM record ORDER BY lkey')
      .toArray()
      .map((row) => row.lkey),
  )
}

function alarmOf(instance: string): Promise<number | null> {
  return runInDurableObject(small(instance), (_object, { storage }) => storage.getAlarm())
}

describe('an object', () => {
  it('that was torn down answers from its storage', async () => {
    const instance = freshInstance()
    const { state, index } = connect(instance)
    const rev = await state.create('lease.tick:all', bytes('x'), MINUTE)
    await index.add('issuer:sso-of:ada@acme.example', 's1', MINUTE)
    await evictDurableObject(small(instance))
    expect(await state.get('lease.tick:all')).toEqual({ key: 'lease.tick:all', value: bytes('x'), rev })
    expect(await index.members('issuer:sso-of:ada@acme.example')).toEqual(['s1'])
    await evictDurableObject(small(instance))
    await expect(state.create('lease.tick:all', bytes('y'), MINUTE)).rejects.toMatchObject({ code: 'Exists' })
    await evictDurableObject(small(instance))
    await state.deleteIfRevision('lease.tick:all', rev)
  })

  it('keeps the attributes of the layout', async () => {
    const instance = freshInstance()
    const { state, index } = connect(instance)
    const before = Math.ceil(Date.now() / 1_000)
    const rev = await state.create('keyring.ES256:k1', bytes('x'), MINUTE)
    await index.add('issuer:sso-of:ada@acme.example', 's1', 'permanent')
    const rows = await runInDurableObject(small(instance), (_object, { storage }) =>
      storage.sql.exec('SELECT * FROM record ORDER BY pk').toArray(),
    )
    expect(rows).toEqual([
      { pk: 'keyring', sk: 'ES256/k1', lkey: 'keyring.ES256:k1', v: bytes('x').buffer, rev, expires: expect.any(Number), k: null },
      {
        pk: 'sso-of',
        sk: 'ada@acme.example/s1',
        lkey: 'issuer:sso-of:ada@acme.example',
        v: null,
        rev: expect.stringMatching(/^[1-9]\d{0,19}$/),
        expires: null,
        k: 'i',
      },
    ])
    expect(Number(rows[0]?.expires) - before - MINUTE).toBeLessThanOrEqual(1)
  })

  it('finds one record, one prefix and the dead without walking its table', async () => {
    const instance = freshInstance()
    await connect(instance).state.put('lease.tick:all', bytes('x'), MINUTE)
    const plans = await runInDurableObject(small(instance), (_object, { storage }) =>
      [
        `SELECT v FROM record WHERE pk = 'a' AND sk = 'b'`,
        `SELECT sk FROM record WHERE pk = 'a' AND sk >= 'b' AND sk < 'c'`,
        'SELECT 1 FROM record WHERE expires <= 7',
      ].map((statement) => String(storage.sql.exec(`EXPLAIN QUERY PLAN ${statement}`).one().detail)),
    )
    for (const plan of plans) expect(plan).toMatch(/^SEARCH record USING/)
  })
})

describe('the alarm of an object', () => {
  it('removes what has been dead for an hour, members too, and nothing else', async () => {
    const instance = freshInstance()
    const long = connect(instance, 2 * HOUR)
    await long.state.put('lease.tick:dead-for-hours', bytes('x'), MINUTE)
    await long.state.put('lease.tick:alive', bytes('x'), 3 * HOUR)
    await long.index.add('a set', 'dead for hours', MINUTE)
    await connect(instance, HOUR / 2).state.put('lease.tick:dead-for-minutes', bytes('x'), MINUTE)
    await connect(instance, 2 * HOUR).index.add('another set', 'permanent', 'permanent')
    expect(await rowsIn(instance)).toHaveLength(5)

    expect(await runDurableObjectAlarm(small(instance))).toBe(true)
    expect(await rowsIn(instance)).toEqual(['another set', 'lease.tick:alive', 'lease.tick:dead-for-minutes'])
  })

  it('is set by the first write that ends, in an hour, and left where it is by the others', async () => {
    const instance = freshInstance()
    const { state, index } = connect(instance)
    await index.add('a set', 'permanent', 'permanent')
    expect(await alarmOf(instance)).toBeNull()
    await state.put('lease.tick:all', bytes('x'), MINUTE)
    const alarm = await alarmOf(instance)
    expect(Math.abs(Number(alarm) - Date.now() - HOUR * 1_000)).toBeLessThan(10_000)

    await scheduler.wait(20)
    await state.put('lease.tick:all', bytes('y'), MINUTE)
    await evictDurableObject(small(instance))
    await state.put('lease.tick:all', bytes('z'), MINUTE)
    expect(await alarmOf(instance)).toBe(alarm)
  })

  it('is set again while a row with an end remains, and not after', async () => {
    const instance = freshInstance()
    const { state } = connect(instance)
    await state.put('lease.tick:all', bytes('x'), MINUTE)
    await runDurableObjectAlarm(small(instance))
    expect(await alarmOf(instance)).toBeGreaterThan(Date.now())

    await state.delete('lease.tick:all')
    await runDurableObjectAlarm(small(instance))
    expect(await alarmOf(instance)).toBeNull()

    await state.put('lease.tick:all', bytes('x'), MINUTE)
    expect(await alarmOf(instance)).toBeGreaterThan(Date.now())
  })
})
