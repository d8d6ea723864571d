import { describe, expect, it } from 'vitest'
import { MINUTE, refresh, revoke } from '../flows/clients.ts'
import { type Engine, engines, signedIn, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { handedOut, warmIsolate } from './arrange.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { accepted, sessionsOf, signedTokens } from './observe.ts'
import { spelled } from './port-calls.ts'
import { livePointers, refreshAnswer, refreshAsClientsDo, successorIn } from './refreshing.ts'

const IDLE = 60 * MINUTE // the idle limit of these tests: short of half the absolute one, so that a session has to be kept

function startStore(engine: Engine): TestStore {
  return testStore(engine, { edit: ({ policy }) => Object.assign(policy.lifetimes, { refresh: IDLE }) })
}

/** A flow that presents a refresh token: what was there before, the token presented, and the write that tells it from the others. */
interface Flow {
  arrange(service: TestService, store: TestStore): Promise<string>
  writes: RegExp
  /** Port calls when nothing befalls it. */
  calls: number
}

const flows: [string, Flow][] = [
  [
    'a refresh',
    {
      arrange: async (service) => (await signedIn(service)).refresh_token,
      writes: /^update rt\./,
      calls: 5,
    },
  ],
  [
    'a refresh that keeps its session from lapsing',
    {
      async arrange(service, store) {
        const { refresh_token } = await signedIn(service)
        store.clock.advance(50 * MINUTE)
        const second = successorIn(await refreshAnswer(await refresh(service, refresh_token)))
        store.clock.advance(50 * MINUTE) // the successor would live until 160 min, the session until 120
        return second
      },
      writes: /^update ses\./,
      calls: 7,
    },
  ],
  [
    'a replay in the grace',
    {
      async arrange(service) {
        const { refresh_token } = await signedIn(service)
        await refresh(service, refresh_token)
        return refresh_token
      },
      writes: /^create tok\./,
      calls: 4,
    },
  ],
  [
    'a replay whose successor was itself refreshed in the grace',
    {
      async arrange(service) {
        const { refresh_token } = await signedIn(service)
        await refresh(service, successorIn(await refreshAnswer(await refresh(service, refresh_token))))
        return refresh_token
      },
      writes: /^create tok\./,
      calls: 5,
    },
  ],
]

describe.each(engines)('on %s', (engine) => {
  describe.each(flows)('%s', (_what, flow) => {
    it.each(faultsOn[engine])('whose store %s at any call signs nobody out: the client tries again', async (fault) => {
      const store = startStore(engine)
      const setting = { store, judge: await warmIsolate(store) }
      let nth = 0
      for (let struck = true; struck; ) struck = await survives(flow, fault, ++nth, setting)
      // On objects the session is read along with its token, where both stand in one.
      expect(nth).toBeOneOf(engine === 'durable-object' ? [flow.calls, flow.calls + 1] : [flow.calls + 1])
    })
  })
})

interface Setting {
  store: TestStore
  judge: TestService
}

/** False when the flow made fewer calls than `nth`, so that nothing befell it. */
async function survives(flow: Flow, fault: Fault, nth: number, { store, judge }: Setting): Promise<boolean> {
  const before = new Set(await livePointers(judge)) // of sessions that have ended
  const live = async () => (await livePointers(judge)).filter((key) => !before.has(key))
  const presented = await flow.arrange(judge, store)
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  const signed = signedTokens(victim)

  luck.strikes(fault, nth)
  const first = await refreshAnswer(await luck.outcome(refresh(victim, presented)))
  const struck = luck.calls.length >= nth
  if (!struck) {
    expect(first).toMatchObject({ status: 200 })
    expect(spelled(luck.calls)).toContainEqual(expect.stringMatching(flow.writes))
  } else if (fault === 'stops') expect(first).toBe('stopped')
  else if (first !== 'stopped') expect(first.status).toBeOneOf([200, 503]) // 200 where what stands told that it was done after all

  const retried = await refreshAsClientsDo(judge, presented)
  expect({ nth, retried }).toMatchObject({ nth, retried: { status: 200 } })
  if (first !== 'stopped' && first.status === 200) expect(successorIn(retried)).toBe(successorIn(first))
  const tokens = handedOut(first, retried)
  expect(await accepted(judge, tokens)).toEqual(tokens)
  expect(await live()).toHaveLength(1)
  expect(await sessionsOf(judge)).toHaveLength(1)

  // Idle means idle: left for all but a second of the limit, what the retry was given refreshes.
  store.clock.advance(IDLE - 1)
  const last = await refreshAsClientsDo(judge, successorIn(retried))
  expect({ nth, last }).toMatchObject({ nth, last: { status: 200 } })
  expect(await live()).toHaveLength(1)

  // Every token there is hangs from the session, handed out or not.
  expect((await revoke(judge, successorIn(last))).status).toBe(200)
  expect(await sessionsOf(judge)).toEqual([])
  expect(await accepted(judge, [...tokens, ...signed, ...handedOut(last)])).toEqual([])
  expect(await refreshAsClientsDo(judge, successorIn(last))).toMatchObject({ status: 400, error: 'invalid_grant' })
  return struck
}

describe.each(engines)('reuse on %s', (engine) => {
  it.each(faultsOn[engine])('whose store %s at any call has ended its session once the token comes again', async (fault) => {
    const store = startStore(engine)
    const judge = await warmIsolate(store)
    for (let nth = 1, struck = true; struck; nth++) {
      const luck = misfortune()
      const victim = await warmIsolate(store, luck.wrap)
      const [spent, bystander] = [await signedIn(judge), await signedIn(judge)]
      const live = await refreshAnswer(await refresh(judge, spent.refresh_token))
      store.clock.advance(33)

      luck.strikes(fault, nth)
      const first = await refreshAnswer(await luck.outcome(refresh(victim, spent.refresh_token)))
      struck = luck.calls.length >= nth
      if (!struck) expect(first).toMatchObject({ status: 400, error: 'invalid_grant' })
      expect(first === 'stopped' ? 503 : first.status).toBeOneOf([400, 503])

      expect(await refreshAsClientsDo(judge, spent.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' })
      expect(await accepted(judge, handedOut(live))).toEqual([])
      expect(await refreshAsClientsDo(judge, successorIn(live))).toMatchObject({ status: 400, error: 'invalid_grant' })
      expect(await sessionsOf(judge)).toHaveLength(nth)
      expect(await accepted(judge, [bystander.access_token])).toHaveLength(1)
    }
  })
})
