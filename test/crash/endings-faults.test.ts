import { describe, expect, it } from 'vitest'
import { endSessions } from '../../src/logout/endings.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { answerDevice, at, beginDevice, poll, tokensIn } from '../flows/clients.ts'
import { type Engine, engines, signIn, TestBrowser, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { ADA, anotherTab, GRACE, KATHERINE, pick, waitingRequest, warmIsolate } from './arrange.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { accepted, isSignedIn, signInOf } from './observe.ts'

/** Grace in two browsers and with a device, Katherine in hers, and Ada, who is an operator. */
interface World {
  here: TestBrowser
  operator: TestBrowser
  /** The sign-in of the browser `here`. */
  signInHere: string
  /** Access tokens and sign-ins, by name. */
  tokens: Record<string, string>
  signIns: Record<string, string>
}

async function world(service: TestService): Promise<World> {
  const [here, there, hers, operator] = [
    new TestBrowser(service),
    new TestBrowser(service),
    new TestBrowser(service),
    new TestBrowser(service),
  ]
  const token = async (client: string, browser: TestBrowser, person: string) =>
    (await at(service, client, { browser, person })).access_token
  const tokens: Record<string, string> = {
    'demo here': await token('demo', here, GRACE),
    'native here': await token('native', here, GRACE),
    'demo hers': await token('demo', hers, KATHERINE),
  }
  const { device_code, user_code } = await beginDevice(service)
  await answerDevice(there, user_code, 'allow', GRACE)
  tokens.device = (await tokensIn(await poll(service, device_code))).access_token
  await signIn(operator, {}, ADA)
  const id = async (browser: TestBrowser) => (await signInOf(service, browser))?.id ?? ''
  return {
    ...{ here, operator, tokens, signInHere: await id(here) },
    signIns: { here: await id(here), there: await id(there), hers: await id(hers), "the operator's": await id(operator) },
  }
}

/** What of it stands. */
async function alive(service: TestService, { tokens, signIns }: World): Promise<string[]> {
  const good = await accepted(service, Object.values(tokens))
  const standing = await Promise.all(Object.values(signIns).map((id) => isSignedIn(service, id)))
  return [...Object.keys(tokens).filter((name) => good.includes(tokens[name] ?? '')), ...Object.keys(signIns).filter((_, n) => standing[n])]
}

interface EndingCase {
  /** Anything it has to do before the store fails. */
  prepare?(tab: TestBrowser): Promise<string>
  act(tab: TestBrowser, of: World, prepared: string): Promise<Response>
  by: 'here' | 'operator'
  ends: string[]
}

const all = ['demo here', 'native here', 'demo hers', 'device', 'here', 'there', 'hers', "the operator's"]

const endings: [string, EndingCase][] = [
  [
    'a sign-out of one sign-in from /account',
    { by: 'here', act: (tab, { signInHere }) => tab.post('/account', { sign_in: signInHere }), ends: ['demo here', 'native here', 'here'] },
  ],
  [
    'a sign-out of everything from /account',
    {
      by: 'here',
      act: (tab) => tab.post('/account', { everything: 'yes' }),
      ends: ['demo here', 'native here', 'device', 'here', 'there'],
    },
  ],
  [
    'another person in the browser',
    { by: 'here', prepare: waitingOnPage, act: (tab, _of, auth) => pick(tab, auth, KATHERINE), ends: ['demo here', 'native here', 'here'] },
  ],
  [
    "an operator's ending of a person",
    {
      by: 'operator',
      act: (tab) => tab.ask('DELETE', `/api/sessions?person=${GRACE}`),
      ends: ['demo here', 'native here', 'device', 'here', 'there'],
    },
  ],
  [
    "an operator's ending of a client",
    { by: 'operator', act: (tab) => tab.ask('DELETE', '/api/sessions?client=demo'), ends: ['demo here', 'demo hers'] },
  ],
]

/** A request that waits for somebody, though Grace is signed in. */
function waitingOnPage(tab: TestBrowser): Promise<string> {
  return waitingRequest(tab, { prompt: 'login' })
}

async function due(service: TestService): Promise<string[]> {
  return (await service.services.issuer.state.list(keys.logoutsDue)).entries.map(({ key }) => key)
}

/** On the others every fifth call: what an ending does to one record it does to the next. */
const steps: Record<Engine, number> = { memory: 1, 'durable-object': 5, dynamodb: 5 }

describe.each(engines)('on %s', (engine) => {
  describe.each(endings)('%s', (_what, ending) => {
    it.each(engine === 'memory' ? faultsOn[engine] : (['stops'] as const))(
      'whose store %s at any call is ended whole by the next tick, and nothing else is',
      async (fault) => {
        await eachCall(engine, (isolate, nth) => endsWhole(isolate, ending, fault, nth))
      },
    )
  })
})

type Isolate = (wrap?: Parameters<typeof warmIsolate>[1]) => Promise<TestService>

/** Runs `one` for each nth from 1 until nothing befalls it any more; in between everybody is signed out. */
async function eachCall(engine: Engine, one: (isolate: Isolate, nth: number) => Promise<boolean>): Promise<void> {
  const store = testStore(engine)
  const isolate: Isolate = (wrap) => warmIsolate(store, wrap)
  for (let nth = 1, struck = true; struck; nth += steps[engine]) {
    expect(nth).toBeLessThan(100)
    struck = await one(isolate, nth)
    const { issuer } = (await isolate()).services
    for (const person of [GRACE, KATHERINE, ADA].map(personId)) {
      await endSessions({ person, which: { of: 'everything' }, cause: 'operator', by: ADA }, issuer)
    }
  }
}

async function endsWhole(isolate: Isolate, { prepare, act, by, ends }: EndingCase, fault: Fault, nth: number): Promise<boolean> {
  const judge = await isolate()
  const luck = misfortune()
  const victim = await isolate(luck.wrap)
  const of = await world(judge)
  const prepared = (await prepare?.(of[by])) ?? ''
  expect(await alive(judge, of)).toEqual(all)

  luck.strikes(fault, nth)
  const answer = await luck.outcome(act(anotherTab(of[by], victim), of, prepared))
  const struck = luck.calls.length >= nth
  const done = answer !== 'stopped' && answer.status < 400
  if (!struck) expect(done).toBe(true)

  const left = all.filter((name) => !ends.includes(name))
  const wasDue = (await due(judge)).length > 0
  await judge.tick()
  const stands = await alive(judge, of)
  // It was written down, or it was all done, or it never began.
  if (wasDue || done || stands.length < all.length) expect({ nth, stands }).toEqual({ nth, stands: left })
  expect(await due(judge)).toEqual([])
  return struck
}

describe('an ending that was cut short', () => {
  it.each(faultsOn.memory)('is done though the store %s at any call of the tick that takes it up', async (fault) => {
    await eachCall('memory', async (isolate, nth) => {
      const [judge, luck] = [await isolate(), misfortune()]
      const [first, second] = [await isolate(luck.wrap), misfortune()]
      const tick = await isolate(second.wrap)
      const of = await world(judge)
      luck.strikes('stops', AFTER_IT_WAS_WRITTEN_DOWN)
      expect(await luck.outcome(anotherTab(of.here, first).post('/account', { everything: 'yes' }))).toBe('stopped')
      expect(await due(judge)).toHaveLength(1)

      second.strikes(fault, nth)
      await second.outcome(tick.tick()).catch(() => undefined)
      await judge.tick()
      expect(await alive(judge, of)).toEqual(['demo hers', 'hers', "the operator's"])
      expect(await due(judge)).toEqual([])
      return second.calls.length >= nth
    })
  })

  it.each(endings.filter(([, { prepare }]) => prepare === undefined))(
    '%s: leaves what its people signed in to since',
    async (_what, { by, act }) => {
      const { store, judge } = await cutShort(by, act)
      store.clock.advance(10)
      const anew = (await at(judge, 'demo', { person: GRACE })).access_token
      await judge.tick()
      expect(await due(judge)).toEqual([])
      expect(await accepted(judge, [anew])).toEqual([anew])
    },
  )
})

/** A store in which an ending stopped as soon as it was written down. */
async function cutShort(by: EndingCase['by'], act: EndingCase['act']): Promise<{ store: TestStore; judge: TestService }> {
  for (let nth = 1; nth < 20; nth++) {
    const store = testStore('memory')
    const [judge, luck] = [await warmIsolate(store), misfortune()]
    const victim = await warmIsolate(store, luck.wrap)
    const of = await world(judge)
    luck.strikes('stops', nth)
    expect(await luck.outcome(act(anotherTab(of[by], victim), of, ''))).toBe('stopped')
    if ((await due(judge)).length > 0) return { store, judge }
  }
  throw new Error('nothing was written down')
}

/** The sign-in's pointer and record are read, and the ending is created. */
const AFTER_IT_WAS_WRITTEN_DOWN = 3
