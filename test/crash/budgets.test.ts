import { describe, expect, it } from 'vitest'
import type { Op } from '../../src/adapters/durable-object/protocol.ts'
import { shardNetwork } from '../conformance/shard-network.ts'
import { type Engine, engines, exchange, signedIn, TestBrowser, type TestService, testStore, userinfo } from '../flows/harness.ts'
import { freshCode, waitingRequest, warmIsolate } from './arrange.ts'
import { type CallCounter, countCalls } from './count-calls.ts'
import { noteCalls, type PortCall, spelled } from './port-calls.ts'

async function counted(engine: Engine): Promise<{ service: TestService; counter: CallCounter }> {
  const counter = countCalls()
  const service = await warmIsolate(testStore(engine), counter.wrap)
  return { service, counter }
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

  it('userinfo takes 2 reads in one round', async () => {
    const { service, counter } = await counted(engine)
    const { access_token } = await signedIn(service)
    counter.reset()
    expect((await userinfo(service, access_token)).status).toBe(200)
    expect(counter.count()).toEqual({ writes: 0, reads: 2, rounds: 1 })
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
