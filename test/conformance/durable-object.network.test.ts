import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import type { Op } from '../../src/adapters/durable-object/protocol.ts'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { PortError } from '../../src/ports/error.ts'
import { bytes, race, random } from './arrange.ts'
import { connectionLost, type Fate, freshInstance, overloaded, type ShardNetwork, shardNetwork, someDelays } from './shard-network.ts'
import { MINUTE, RACERS, testClock } from './state/subject.ts'

const clock = testClock()

/** An adapter of its own over a network of its own. */
function connect(instance: string, fateOf?: (ops: readonly Op[], message: number) => Fate) {
  const namespace = shardNetwork(fateOf)
  return { state: durableObjectState({ namespace, instance, module: 'oidc', clock, random }), namespace }
}

const first =
  (fate: Fate) =>
  (_ops: readonly Op[], message: number): Fate =>
    message === 0 ? fate : {}

/** Nothing, or one trouble for the first message, each as likely as the others. */
function someTrouble(): (ops: readonly Op[], message: number) => Fate {
  const troubles: Fate[] = [{}, { loses: connectionLost() }, { fails: connectionLost() }]
  const trouble = troubles[Math.floor(Math.random() * troubles.length)]
  return (_ops, message) => ({ delays: someDelays(), ...(message === 0 ? trouble : {}) })
}

describe('an answer that was lost after the object did what it was asked', () => {
  it('a creation knows its own revision again and is success', async () => {
    const { state, namespace } = connect(freshInstance(), first({ loses: connectionLost() }))
    const rev = await state.create('tok.a', bytes('x'), MINUTE)
    expect(namespace.messages).toHaveLength(2)
    expect(await state.get('tok.a')).toEqual({ key: 'tok.a', value: bytes('x'), rev })
  })

  it('an update knows its own revision again and is success', async () => {
    const instance = freshInstance()
    const made = await connect(instance).state.create('tok.a', bytes('x'), MINUTE)
    const { state, namespace } = connect(instance, first({ loses: connectionLost() }))
    const rev = await state.update('tok.a', bytes('y'), MINUTE, made)
    expect(namespace.messages).toHaveLength(2)
    expect(await state.get('tok.a')).toEqual({ key: 'tok.a', value: bytes('y'), rev })
  })

  it('a creation over an expired record knows its own revision again too', async () => {
    const instance = freshInstance()
    await connect(instance).state.create('tok.a', bytes('old'), 1)
    clock.advance(2_000)
    const { state } = connect(instance, first({ loses: connectionLost() }))
    const rev = await state.create('tok.a', bytes('new'), MINUTE)
    expect(await state.get('tok.a')).toMatchObject({ value: bytes('new'), rev })
  })

  it('a conditional deletion is not repeated: Unavailable, and the record is gone once', async () => {
    const instance = freshInstance()
    const rev = await connect(instance).state.create('tok.a', bytes('x'), MINUTE)
    const { state, namespace } = connect(instance, first({ loses: connectionLost() }))
    await expect(state.deleteIfRevision('tok.a', rev)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(namespace.messages).toHaveLength(1)
    expect(await state.get('tok.a')).toBeNull()
  })

  it('put, get, peek, list and delete are asked again', async () => {
    const instance = freshInstance()
    const rev = await connect(instance, first({ loses: connectionLost() })).state.put('ses.ada.s', bytes('x'), MINUTE)
    const entry = { key: 'ses.ada.s', value: bytes('x'), rev }
    expect(await connect(instance, first({ loses: connectionLost() })).state.get('ses.ada.s')).toEqual(entry)
    expect(await connect(instance, first({ loses: connectionLost() })).state.peekRevision('ses.ada.s')).toBe(rev)
    expect(await connect(instance, first({ loses: connectionLost() })).state.list('ses.ada.')).toEqual({ entries: [entry] })
    await connect(instance, first({ loses: connectionLost() })).state.delete('ses.ada.s')
    expect(await connect(instance).state.get('ses.ada.s')).toBeNull()
  })

  it('a batch is asked again without its conditional deletions, and each op has its own answer', async () => {
    const instance = freshInstance()
    const rev = await connect(instance).state.create('ses.ada.old', bytes('x'), MINUTE)
    const { state, namespace } = connect(instance, first({ loses: connectionLost() }))
    const [made, deleted] = await Promise.allSettled([
      state.create('ses.ada.new', bytes('x'), MINUTE),
      state.deleteIfRevision('ses.ada.old', rev),
    ])
    expect(made.status).toBe('fulfilled')
    expect(deleted).toMatchObject({ status: 'rejected', reason: { code: 'Unavailable' } })
    expect(namespace.messages.map(({ ops }) => ops.map((op) => op.do))).toEqual([['create', 'deleteIfRevision'], ['create']])
  })
})

describe('an object that can not be reached', () => {
  it('a write is sent once more, by a stub of its own', async () => {
    const { state, namespace } = connect(freshInstance(), first({ fails: connectionLost() }))
    const rev = await state.create('tok.a', bytes('x'), MINUTE)
    expect(namespace).toMatchObject({ stubs: 2, messages: { length: 2 } })
    expect(await state.peekRevision('tok.a')).toBe(rev)
  })

  it('a second failure is Unavailable with its cause, and nothing is sent a third time', async () => {
    const cause = connectionLost()
    const { state, namespace } = connect(freshInstance(), () => ({ fails: cause }))
    const error = await state.create('tok.a', bytes('x'), MINUTE).catch((thrown) => thrown)
    expect(error).toBeInstanceOf(PortError)
    expect(error).toMatchObject({ code: 'Unavailable', cause })
    expect(namespace.messages).toHaveLength(2)
  })

  it('one that has too much to do is Unavailable at once', async () => {
    const { state, namespace } = connect(freshInstance(), first({ fails: overloaded() }))
    await expect(state.create('tok.a', bytes('x'), MINUTE)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(namespace.messages).toHaveLength(1)
  })

  it('a listing that one shard fails is Unavailable, not shorter', async () => {
    const { state } = connect(freshInstance(), (_ops, message) => (message % 5 === 4 ? { fails: overloaded() } : {}))
    await expect(state.list('tok.')).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('a watch ends with Unavailable when three polls in a row fail, and outlives two', async () => {
    const instance = freshInstance()
    const polls = (failing: (poll: number) => boolean) => {
      const namespace = shardNetwork((_ops, message) => (failing(message) ? { fails: overloaded() } : {}))
      const state = durableObjectState({ namespace, instance, module: 'oidc', clock, random, interval: 5 })
      return { watch: (signal: AbortSignal) => state.watch('ses.ada.', { signal }), namespace }
    }
    const down = polls((poll) => poll > 0)
    await expect(readAll(down.watch(new AbortController().signal))).rejects.toMatchObject({ code: 'Unavailable' })
    expect(down.namespace.messages).toHaveLength(4)

    const stop = new AbortController()
    const shaky = polls((poll) => poll % 3 !== 0)
    const reading = readAll(shaky.watch(stop.signal))
    await expect.poll(() => shaky.namespace.messages.length).toBeGreaterThan(10)
    stop.abort()
    await reading

    await expect(readAll(polls(() => true).watch(new AbortController().signal))).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

/** Each round draws its troubles anew. */
const ROUNDS = 15

describe(`races over a network that loses a message or an answer, ${ROUNDS} times over`, () => {
  it(`of ${RACERS} creations exactly one lands, and the others are Exists`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const instance = freshInstance()
      const { won, lost } = await race(RACERS, (n) => connect(instance, someTrouble()).state.create('tok.a', bytes(`racer ${n}`), MINUTE))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Exists'))
      expect(await connect(instance).state.get('tok.a')).toMatchObject({ value: bytes(`racer ${won[0]?.n}`), rev: won[0]?.value })
    }
  })

  it(`of ${RACERS} updates over one revision exactly one lands, and the others are Conflict`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const instance = freshInstance()
      const rev = await connect(instance).state.create('tok.a', bytes('start'), MINUTE)
      const { won, lost } = await race(RACERS, (n) =>
        connect(instance, someTrouble()).state.update('tok.a', bytes(`racer ${n}`), MINUTE, rev),
      )
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Conflict'))
      expect(await connect(instance).state.get('tok.a')).toMatchObject({ value: bytes(`racer ${won[0]?.n}`), rev: won[0]?.value })
    }
  })

  it(`of ${RACERS} conditional deletions at most one is told it deleted; one that can not know is told Unavailable`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const instance = freshInstance()
      const rev = await connect(instance).state.create('tok.a', bytes('x'), MINUTE)
      const networks: ShardNetwork[] = []
      const { won, lost } = await race(RACERS, (_n) => {
        const { state, namespace } = connect(instance, someTrouble())
        networks.push(namespace)
        return state.deleteIfRevision('tok.a', rev)
      })
      expect(won.length).toBeLessThanOrEqual(1)
      expect(lost.filter((code) => code !== 'NotFound' && code !== 'Unavailable')).toEqual([])
      expect(networks.map(({ messages }) => messages.length)).toEqual(Array(RACERS).fill(1))
      if (lost.includes('NotFound') || won.length === 1) expect(await connect(instance).state.get('tok.a')).toBeNull()
    }
  })

  it('objects torn down in the middle change none of it', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const instance = freshInstance()
      const { state, namespace } = connect(instance)
      const rev = await state.create('ses.ada.s', bytes('start'), MINUTE)
      const object = namespace.messages[0]?.object ?? ''
      const evicting = (async () => {
        for (let times = 0; times < 3; times++) {
          await scheduler.wait(1)
          // Already torn down is as good.
          await evictDurableObject(env.STATE_SHARD.getByName(object)).catch(() => undefined)
        }
      })()
      const { won, lost } = await race(RACERS, (n) =>
        connect(instance, someTrouble()).state.update('ses.ada.s', bytes(`racer ${n}`), MINUTE, rev),
      )
      await evicting
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Conflict'))
      expect(await connect(instance).state.get('ses.ada.s')).toMatchObject({ value: bytes(`racer ${won[0]?.n}`), rev: won[0]?.value })
    }
  })
})

async function readAll<T>(items: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = []
  for await (const item of items) read.push(item)
  return read
}
