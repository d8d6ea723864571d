import { describe, expect, it } from 'vitest'
import type { Op } from '../../src/adapters/durable-object/protocol.ts'
import { shardNetwork } from '../conformance/shard-network.ts'
import { at, beginDevice, clientStore, HOUR, introspected, poll, refresh, tokensIn } from '../flows/clients.ts'
import {
  authorizeUrl,
  type Engine,
  engines,
  exchange,
  signedIn,
  TestBrowser,
  type TestService,
  type TestStore,
  testStore,
  userinfo,
} from '../flows/harness.ts'
import { tellable } from '../flows/told-clients.ts'
import { freshCode, waitingRequest, warmIsolate } from './arrange.ts'
import { type CallCounter, type Count, countCalls } from './count-calls.ts'
import { noteCalls, type PortCall, spelled } from './port-calls.ts'

interface Counted {
  store: TestStore
  service: TestService
  counter: CallCounter
}

async function counted(engine: Engine, store = testStore(engine)): Promise<Counted> {
  const counter = countCalls()
  return { store, service: await warmIsolate(store, counter.wrap), counter }
}

describe.each(engines)('at the port of %s', (engine) => {
  it('a sign-in completed in a new browser takes 5 writes and at most 3 reads in 5 rounds', async () => {
    const { service, counter } = await counted(engine)
    const browser = new TestBrowser(service)
    const auth = await waitingRequest(browser)
    counter.reset()
    const answer = await browser.post('/login/picker', { auth, person: 'ada@acme.example' })
    expect(answer.headers.get('location')).toContain('code=')
    const { writes, reads, rounds } = counter.count()
    const calls = spelled(counter.calls).join(', ')
    expect(writes, calls).toBe(5)
    expect(reads, calls).toBeLessThanOrEqual(3)
    expect(rounds, calls).toBeLessThanOrEqual(5)
  })

  it('a code exchange with offline_access takes 5 writes and 2 reads in 4 rounds', async () => {
    const { service, counter } = await counted(engine)
    const code = await freshCode(service)
    counter.reset()
    expect((await exchange(service, code)).status).toBe(200)
    expect(counter.count()).toEqual({ writes: 5, reads: 2, rounds: 4 })
  })

  it('a code exchange at a client that is told of sign-outs takes 2 writes more, in the same rounds', async () => {
    const { service, counter } = await counted(engine, testStore(engine, { edit: tellable(['demo']) }))
    const code = await freshCode(service)
    counter.reset()
    expect((await exchange(service, code)).status).toBe(200)
    expect(counter.count()).toEqual({ writes: 7, reads: 2, rounds: 4 })
  })

  it('userinfo takes 2 reads in one round', async () => {
    const { service, counter } = await counted(engine)
    const { access_token } = await signedIn(service)
    counter.reset()
    expect((await userinfo(service, access_token)).status).toBe(200)
    expect(counter.count()).toEqual({ writes: 0, reads: 2, rounds: 1 })
  })

  it('a refresh takes 3 writes and 2 reads in 3 rounds, the first and the last of a working day', async () => {
    const { service, store } = await counted(engine)
    let { refresh_token } = await signedIn(service)
    for (const hours of [0, 4, 4]) {
      store.clock.advance(hours * HOUR)
      const { service: warm, counter } = await counted(engine, store)
      counter.reset()
      const answer = await refresh(warm, refresh_token)
      expect(counter.count()).toSatisfy(isAtMost({ writes: 3, reads: 2, rounds: 3 }, engine))
      refresh_token = (await tokensIn(answer)).refresh_token
    }
  })

  it('a refresh replayed in the grace takes 1 write and 3 reads in 4 rounds', async () => {
    const { service, counter } = await counted(engine)
    const { refresh_token } = await signedIn(service)
    await refresh(service, refresh_token)
    counter.reset()
    expect((await refresh(service, refresh_token)).status).toBe(200)
    expect(counter.count()).toSatisfy(isAtMost({ writes: 1, reads: 3, rounds: 4 }, engine))
  })

  it('a silent authorization of a client that is covered takes 1 write and 2 reads in 3 rounds', async () => {
    const { service, counter } = await counted(engine)
    const browser = new TestBrowser(service)
    await freshCode(service, browser)
    counter.reset()
    const answer = await browser.get(await authorizeUrl({ prompt: 'none' }))
    expect(answer.headers.get('location')).toContain('code=')
    expect(counter.count()).toEqual({ writes: 1, reads: 2, rounds: 3 })
  })

  it('introspection takes 2 reads in one round', async () => {
    const { service, counter } = await counted(engine, await clientStore(engine))
    const { access_token } = await at(service, 'backend')
    await introspected(service, access_token, 'backend') // the client's secret is held from here on
    counter.reset()
    expect(await introspected(service, access_token, 'backend')).toMatchObject({ active: true })
    expect(counter.count()).toEqual({ writes: 0, reads: 2, rounds: 1 })
  })

  it('a device that polls before it is allowed takes 1 read in one round', async () => {
    const { service, counter } = await counted(engine)
    const { device_code } = await beginDevice(service)
    counter.reset()
    expect(await (await poll(service, device_code)).json()).toMatchObject({ error: 'authorization_pending' })
    expect(counter.count()).toEqual({ writes: 0, reads: 1, rounds: 1 })
  })

  it.each(['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/keys'])(
    '%s asks a warm isolate for nothing',
    async (path) => {
      const { service, counter } = await counted(engine)
      expect((await service.fetch(path)).status).toBe(200)
      counter.reset()
      expect((await service.fetch(path)).status).toBe(200)
      expect(counter.count()).toEqual({ writes: 0, reads: 0, rounds: 0 })
    },
  )

  it('a presentation that does not fit its code writes nothing', async () => {
    const { service, counter } = await counted(engine)
    const code = await freshCode(service)
    counter.reset()
    expect((await exchange(service, code, { code_verifier: 'x'.repeat(43) })).status).toBe(400)
    expect(counter.count()).toEqual({ writes: 0, reads: 1, rounds: 1 })
  })
})

/** Exactly, but where an engine answers the session with its token: one read and one round less, as often as they stand in one object. */
function isAtMost(most: Count, engine: Engine): (count: Count) => boolean {
  const followed = { ...most, reads: most.reads - 1, rounds: most.rounds - 1 }
  const allowed = engine === 'durable-object' ? [most, followed] : [most]
  return (count) => allowed.some((one) => JSON.stringify(one) === JSON.stringify(count))
}

describe('at the engine of durable-object', () => {
  it('what the port writes is written once, and what an exchange writes together is one commit', async () => {
    const network = shardNetwork()
    const calls: PortCall[] = []
    const service = await warmIsolate(testStore('durable-object', { namespace: network }), (adapters) => noteCalls(adapters, calls))

    const exchanges = []
    for (let n = 0; n < EXCHANGES; n++) {
      const code = await freshCode(service)
      const [sent, asked] = [network.messages.length, calls.length]
      expect((await exchange(service, code)).status).toBe(200)
      const messages = network.messages.slice(sent)
      const creates = messages.filter(({ ops }) => ops.some(opensSession))
      expect(messages.flatMap(({ ops }) => ops.filter(isWrite))).toHaveLength(
        calls.slice(asked).filter(({ kind }) => kind === 'write').length,
      )
      // One message to each object, so one to all where the ids fell into one shard.
      expect(creates).toHaveLength(new Set(creates.map(({ object }) => object)).size)
      expect(creates.flatMap(({ ops }) => ops)).toHaveLength(4)
      exchanges.push({
        messages: messages.length,
        commits: messages.filter(({ ops }) => ops.some(isWrite)).length,
        creates: creates.length,
      })
    }
    const together = exchanges.filter(({ creates }) => creates === 1)
    // code; its tombstone; session, pointer, token and refresh token; sign-in
    for (const { messages, commits } of together) expect({ messages, commits }).toEqual({ messages: 4, commits: 2 })
    // Ids that miss their shard (one in 60 each) cost a message: never most of them.
    expect(together.length).toBeGreaterThan(EXCHANGES / 2)
  })

  it('a sign-in in a new browser writes once what the port writes', async () => {
    const network = shardNetwork()
    const service = await warmIsolate(testStore('durable-object', { namespace: network }))
    const browser = new TestBrowser(service)
    const auth = await waitingRequest(browser)
    const sent = network.messages.length
    expect((await browser.post('/login/picker', { auth, person: 'ada@acme.example' })).status).toBe(303)
    expect(network.messages.slice(sent).flatMap(({ ops }) => ops.filter(isWrite))).toHaveLength(5)
    expect(network.messages.length - sent).toBeLessThanOrEqual(6)
  })
})

const EXCHANGES = 16

function isWrite({ do: kind }: Op): boolean {
  return !['get', 'peek', 'list', 'members'].includes(kind)
}

/** A record of an opened session, by its kind. */
function opensSession(op: Op): boolean {
  return op.do === 'create' && ['session', 'session-pointer', 'session-token', 'token'].includes(op.pk)
}
