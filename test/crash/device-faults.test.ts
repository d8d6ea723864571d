import { describe, expect, it } from 'vitest'
import { answerDevice, at, beginDevice, poll } from '../flows/clients.ts'
import { type Engine, engines, startService, TestBrowser, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { handedOut, type Redemption, redemption, roaming, warmIsolate } from './arrange.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { interleaving, seeded } from './interleave.ts'
import { accepted, sessionsOf, signedTokens } from './observe.ts'

/** Polls as devices do: again after an interval when told to wait or to try later. */
async function pollAsDevicesDo(service: TestService, deviceCode: string): Promise<Redemption> {
  let answer = await redemption(await poll(service, deviceCode))
  for (let retry = 0; retry < 5 && answer !== 'stopped' && answer.status === 503; retry++) {
    answer = await redemption(await poll(service, deviceCode))
  }
  return answer
}

const REFUSED = { status: 400, error: expect.stringMatching(/^(?:invalid_grant|expired_token)$/) }

interface Setting {
  store: TestStore
  judge: TestService
  browser: TestBrowser
}

async function setting(engine: Engine): Promise<Setting> {
  const store = testStore(engine)
  const judge = await warmIsolate(store)
  const browser = new TestBrowser(judge)
  await at(judge, 'demo', { browser })
  return { store, judge, browser }
}

async function allowedDevice({ judge, browser }: Setting): Promise<string> {
  const { device_code, user_code } = await beginDevice(judge)
  await answerDevice(browser, user_code)
  return device_code
}

async function eachCall(one: (nth: number) => Promise<boolean>): Promise<void> {
  for (let nth = 1, struck = true; struck; nth++) struck = await one(nth)
}

describe.each(engines)('a device on %s', (engine) => {
  it.each(faultsOn[engine])('whose poll meets a store that %s at any call ends with tokens or is told to begin anew', async (fault) => {
    const all = await setting(engine)
    await eachCall((nth) => pollsThrough(fault, nth, all))
  })

  it.each(faultsOn[engine])('that begins while the store %s at any call begins again', async (fault) => {
    const { store, judge, browser } = await setting(engine)
    await eachCall(async (nth) => {
      const luck = misfortune()
      const victim = await warmIsolate(store, luck.wrap)
      luck.strikes(fault, nth)
      const begun = await luck.outcome(beginDevice(victim).catch(() => 'refused' as const))
      const struck = luck.calls.length >= nth
      if (!struck) expect(begun).toMatchObject({ interval: 5 })
      const { device_code, user_code } = typeof begun === 'string' ? await beginDevice(judge) : begun
      expect(await pollAsDevicesDo(judge, device_code)).toMatchObject({ status: 400, error: 'authorization_pending' })
      await answerDevice(browser, user_code)
      expect(await accepted(judge, handedOut(await pollAsDevicesDo(judge, device_code)))).toHaveLength(1)
      return struck
    })
  })

  it.each(faultsOn[engine])(
    'that is allowed while the store %s at any call is allowed, or waits for the person to say it again',
    async (fault) => {
      const { store, judge } = await setting(engine)
      await eachCall(async (nth) => {
        const luck = misfortune()
        const victim = await warmIsolate(store, luck.wrap)
        const { browser, moveTo } = roaming(judge)
        await at(judge, 'demo', { browser })
        const { device_code, user_code } = await beginDevice(judge)

        moveTo(victim)
        luck.strikes(fault, nth)
        await luck.outcome(answerDevice(browser, user_code).catch(() => 'refused' as const))
        const struck = luck.calls.length >= nth
        moveTo(judge)

        const polled = await pollAsDevicesDo(judge, device_code)
        if (handedOut(polled).length === 0) {
          expect({ nth, struck, polled }).toMatchObject({ struck: true, polled: { status: 400, error: 'authorization_pending' } })
          await answerDevice(browser, user_code)
          expect(await accepted(judge, handedOut(await pollAsDevicesDo(judge, device_code)))).toHaveLength(1)
        }
        return struck
      })
    },
  )
})

/** False when the poll made fewer calls than `nth`, so that nothing befell it. */
async function pollsThrough(fault: Fault, nth: number, all: Setting): Promise<boolean> {
  const { store, judge } = all
  const device_code = await allowedDevice(all)
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  const before = (await sessionsOf(judge)).length

  luck.strikes(fault, nth)
  const first = await redemption(await luck.outcome(poll(victim, device_code)))
  const struck = luck.calls.length >= nth
  if (!struck) expect(first).toMatchObject({ status: 200 })
  if (first !== 'stopped') expect(first.status).toBeOneOf([200, 503])

  const retried = await pollAsDevicesDo(judge, device_code)
  const tokens = handedOut(first, retried)
  // What failed once was taken back. Only where nothing could be any more may the code be spent for good.
  const undoable = fault !== 'stops' && fault !== 'goes down'
  if (tokens.length === 0) expect({ nth, undoable, retried }).toMatchObject({ undoable: false, retried: REFUSED })
  expect(tokens.length).toBeLessThanOrEqual(1)
  expect(await accepted(judge, tokens)).toEqual(tokens)
  expect((await sessionsOf(judge)).length - before).toBeLessThanOrEqual(1)
  if (undoable) expect(await sessionsOf(judge)).toHaveLength(before + tokens.length)

  // A second poll is refused and ends nothing, and who begins anew gets there.
  expect(await pollAsDevicesDo(judge, device_code)).toMatchObject(REFUSED)
  expect(await accepted(judge, tokens)).toEqual(tokens)
  if (tokens.length === 0) {
    const anew = handedOut(await pollAsDevicesDo(judge, await allowedDevice(all)))
    expect(await accepted(judge, anew)).toHaveLength(1)
  }
  return struck
}

/** On `memory` a seed is an order; elsewhere it is one more try. */
const seedsOf: Record<Engine, number[]> = { memory: Array.from({ length: 40 }, (_, n) => n), 'durable-object': [0, 1], dynamodb: [0, 1] }

describe.each(engines)('polls that come at once after the approval on %s', (engine) => {
  it('open one session, and one of them has its tokens, in whatever order', async () => {
    for (const seed of seedsOf[engine]) {
      const all = await setting(engine)
      const device_code = await allowedDevice(all)
      const before = (await sessionsOf(all.judge)).length
      const race = interleaving(seeded(seed))
      const racers = Array.from({ length: 2 + (seed % 3) }, () => {
        const racer = race.racer()
        const service = startService(all.store, engine === 'memory' ? racer.wrap : undefined)
        return { service, signed: signedTokens(service), run: engine === 'memory' ? racer.run : <T>(work: () => Promise<T>) => work() }
      })
      const answers = await Promise.all(racers.map(({ service, run }) => run(async () => redemption(await poll(service, device_code)))))
      const tokens = handedOut(...answers)
      expect(tokens).toHaveLength(1)
      for (const answer of answers) if (handedOut(answer).length === 0) expect(answer).toMatchObject(REFUSED)
      expect(
        await accepted(
          all.judge,
          racers.flatMap(({ signed }) => signed),
        ),
      ).toEqual(tokens)
      expect(await sessionsOf(all.judge)).toHaveLength(before + 1)
    }
  })
})
