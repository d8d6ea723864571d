import { describe, expect, it } from 'vitest'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { type Module, shardOfSegment } from '../../src/ports/layout5.ts'
import { type Rev, STATE_VALUE_LIMIT } from '../../src/ports/state.ts'
import { bytes, patterned, random } from './arrange.ts'
import { freshInstance, shardNetwork } from './shard-network.ts'
import { MINUTE, testClock } from './state/subject.ts'

const clock = testClock()

function connect(instance = freshInstance(), module: Module = 'oidc') {
  const namespace = shardNetwork()
  return { state: durableObjectState({ namespace, instance, module, clock, random }), namespace, instance }
}

describe('calls of one turn', () => {
  it('four creations at one object are one message', async () => {
    const { state, namespace, instance } = connect()
    await Promise.all(['s1', 's2', 's3', 's4'].map((sid) => state.create(`ses.ada.${sid}`, bytes(sid), MINUTE)))
    expect(namespace.messages).toHaveLength(1)
    expect(namespace.messages[0]).toMatchObject({ ops: { length: 4 } })
    expect(namespace.messages[0]?.object).toMatch(new RegExp(`^sluis-${instance}-oidc/\\d+$`))
    expect((await state.list('ses.ada.')).entries).toHaveLength(4)
  })

  it('reads and writes of every sort travel together, in the order they were called', async () => {
    const { state, namespace } = connect()
    const rev = await state.put('ses.ada.s1', bytes('1'), MINUTE)
    const [, before, , after, listed, peeked] = await Promise.all([
      state.update('ses.ada.s1', bytes('2'), MINUTE, rev),
      state.get('ses.ada.s1'),
      state.delete('ses.ada.s1'),
      state.get('ses.ada.s1'),
      state.list('ses.ada.'),
      state.peekRevision('ses.ada.s1'),
    ])
    expect(before?.value).toEqual(bytes('2'))
    expect([after, listed, peeked]).toEqual([null, { entries: [] }, null])
    expect(namespace.messages).toHaveLength(2)
  })

  it('a caller a few awaits behind still travels along; one of a later turn does not', async () => {
    const { state, namespace } = connect()
    const behind = async () => {
      await null
      await null
      return state.create('ses.ada.s2', bytes('x'), MINUTE)
    }
    await Promise.all([state.create('ses.ada.s1', bytes('x'), MINUTE), behind()])
    expect(namespace.messages).toHaveLength(1)
    await state.create('ses.ada.s3', bytes('x'), MINUTE)
    expect(namespace.messages).toHaveLength(2)
  })

  it('a refusal is its own, and fails none of the others', async () => {
    const { state, namespace } = connect()
    await state.create('ses.ada.taken', bytes('x'), MINUTE)
    const outcomes = await Promise.allSettled([
      state.create('ses.ada.one', bytes('1'), MINUTE),
      state.create('ses.ada.taken', bytes('y'), MINUTE),
      state.update('ses.ada.taken', bytes('y'), MINUTE, '1' as Rev),
      state.deleteIfRevision('ses.ada.absent', '1' as Rev),
      state.create('ses.ada.two', bytes('2'), MINUTE),
    ])
    expect(outcomes.map((outcome) => (outcome.status === 'fulfilled' ? 'done' : outcome.reason.code))).toEqual([
      'done',
      'Exists',
      'Conflict',
      'NotFound',
      'done',
    ])
    expect(namespace.messages).toHaveLength(2)
    expect((await state.list('ses.ada.')).entries.map((entry) => entry.key)).toEqual(['ses.ada.one', 'ses.ada.taken', 'ses.ada.two'])
  })

  it('objects are told apart: small kinds share one, a person has one shard, every module its own', async () => {
    const { state, namespace, instance } = connect()
    await Promise.all([
      state.put('keyring.ES256:k', bytes('x'), MINUTE),
      state.put('lease.tick:all', bytes('x'), MINUTE),
      state.put('ses.ada.s1', bytes('x'), MINUTE),
    ])
    expect(namespace.messages.map(({ ops }) => ops.length).sort()).toEqual([1, 2])
    expect(namespace.messages.map(({ object }) => object)).toContain(`sluis-${instance}-oidc/small`)

    const github = connect(instance, 'github')
    await github.state.put('gh.org.acme', bytes('x'), 'permanent')
    expect(github.namespace.messages.map(({ object }) => object)).toEqual([`sluis-${instance}-github/small`])
  })

  it('more than one message can carry is carried by several', async () => {
    const { state, namespace } = connect()
    const value = patterned(STATE_VALUE_LIMIT)
    const sids = Array.from({ length: 140 }, (_, n) => String(n).padStart(3, '0')) // 35 MiB, over the platform's 32
    await Promise.all(sids.map((sid) => state.create(`ses.ada.${sid}`, value, MINUTE)))
    expect(namespace.messages.length).toBeGreaterThan(1)

    const read = await Promise.all(sids.map((sid) => state.get(`ses.ada.${sid}`)))
    expect(read.filter((entry) => entry?.value.length === STATE_VALUE_LIMIT)).toHaveLength(140)
    const { entries, next } = await state.list('ses.ada.', { limit: 139 })
    expect(entries.map((entry) => entry.key)).toEqual(sids.slice(0, 139).map((sid) => `ses.ada.${sid}`))
    expect(next).toBeDefined()
  })
})

describe('a listing', () => {
  it('that names a first segment, or a small kind, asks one object', async () => {
    const { state, namespace } = connect()
    await state.list('ses.ada.')
    await state.list('keyring.ES256:')
    expect(namespace.messages).toHaveLength(2)
  })

  it('over a kind that grows asks its sixteen shards, six at a time; over every kind the small ones too', async () => {
    const { state, namespace } = connect()
    await state.list('tok.')
    expect(new Set(namespace.messages.map(({ object }) => object)).size).toBe(16)
    await state.list('')
    expect(namespace.messages).toHaveLength(16 + 17)
    expect(namespace.busiest).toBe(6)
  })

  it('over shards asks one again only for what it has not shown', async () => {
    const { state, namespace } = connect()
    const keys = Array.from({ length: 400 }, (_, n) => `tok.${String(n).padStart(3, '0')}`)
    await Promise.all(keys.map((key) => state.put(key, bytes('x'), MINUTE)))
    const before = namespace.messages.length
    const { entries } = await state.list('tok.', { limit: 400 })
    expect(entries.map((entry) => entry.key)).toEqual(keys)
    // Twice a fair share of rows in each answer: a second round at a shard is the exception.
    expect(namespace.messages.length - before).toBeLessThan(2 * 16)

    const small = namespace.messages.length
    expect((await state.list('tok.', { limit: 3 })).entries.map((entry) => entry.key)).toEqual(keys.slice(0, 3))
    expect(namespace.messages.length - small).toBe(16)
  })
})

describe('a read that follows', () => {
  const names = Array.from({ length: 200 }, (_, n) => `t${n}`)
  const inAdasObject = (name: string) => shardOfSegment(name) === shardOfSegment('ada')
  const [beside = '', elsewhere = ''] = [names.find(inAdasObject), names.find((name) => !inAdasObject(name))]

  it('is one message where both records stand in one object, and says nothing of one that stands elsewhere', async () => {
    const { state, namespace } = connect()
    const rev = await state.create('ses.ada.s1', bytes('a session'), MINUTE)
    for (const name of [beside, elsewhere]) await state.create(`rt.${name}`, bytes('ada.s1'), MINUTE)
    const before = namespace.messages.length
    const followed = await state.get(`rt.${beside}`, { follow: 'ses.' })
    expect(followed).toMatchObject({ value: bytes('ada.s1'), next: { key: 'ses.ada.s1', value: bytes('a session'), rev } })
    expect(await state.get(`rt.${elsewhere}`, { follow: 'ses.' })).not.toHaveProperty('next')
    expect(namespace.messages.length - before).toBe(2)
  })

  it('says of a record that is not there that it is not', async () => {
    const { state } = connect()
    await state.create(`rt.${beside}`, bytes('ada.gone'), MINUTE)
    expect(await state.get(`rt.${beside}`, { follow: 'ses.' })).toMatchObject({ value: bytes('ada.gone'), next: null })
  })
})
