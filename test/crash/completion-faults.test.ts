import { describe, expect, it } from 'vitest'
import { keys } from '../../src/ports/keys.ts'
import { engines, TestBrowser, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import {
  ADA,
  accepted,
  anotherTab,
  codeIn,
  freshCode,
  GRACE,
  pick,
  redeem,
  roaming,
  signInOf,
  tokenOf,
  waitingRequest,
  warmIsolate,
} from './arrange.ts'
import { countCalls } from './count-calls.ts'
import { type Fault, faults, misfortune } from './faults.ts'
import { interleaving, seeded } from './interleave.ts'

/** Whose sign-in the browser has when ada completes one. */
const browsers = [
  ['new', null],
  ['hers', ADA],
  ["another person's", GRACE],
] as const

async function codes(service: TestService): Promise<number> {
  return (await service.services.issuer.state.list('code.', { limit: 1_000 })).entries.length
}

describe.each(engines)('a completion on %s', (engine) => {
  describe.each(browsers)('in a browser whose sign-in is %s', (_whose, before) => {
    it.each(faults)('whose store %s at any call leaves the person able to sign in, and at most one code', async (fault) => {
      const store = testStore(engine)
      const sound = await warmIsolate(store)
      for (let nth = 1, struck = true; struck; nth++) struck = await completesAfter(fault, nth, { store, sound, before })
    })
  })
})

interface Setting {
  store: TestStore
  sound: TestService
  /** Whose sign-in the browser has. */
  before: string | null
}

/** False when the completion made fewer calls than `nth`, so that nothing befell it. */
async function completesAfter(fault: Fault, nth: number, { store, sound, before }: Setting): Promise<boolean> {
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  const { browser, moveTo } = roaming(sound)
  if (before !== null) await freshCode(sound, browser, before)
  const auth = await waitingRequest(browser)

  moveTo(victim)
  luck.strikes(fault, nth)
  const answer = await luck.outcome(pick(browser, auth))
  moveTo(sound)
  if (luck.calls.length < nth) {
    expect(answer === 'stopped' ? null : codeIn(answer)).not.toBeNull()
    return false
  }
  if (answer === 'stopped') expect(fault).toBe('stops')
  else expect(answer.status).toBe(503)

  // The form again: the request is there still, or it was consumed and the page says so.
  const { state } = sound.services.issuer
  const waits = (await state.get(keys.request(auth))) !== null
  const kept = await Promise.all(luck.calls.map(({ on }) => (on.startsWith('code.') ? state.get(on) : null)))
  const retried = await pick(browser, auth)
  expect(retried.status).toBe(waits ? 303 : 400)
  expect(codeIn(retried) !== null).toBe(waits)
  if (waits) expect(kept.filter((code) => code !== null)).toEqual([])

  // Then from the start, as the page advises.
  const code = codeIn(retried) ?? (await freshCode(sound, browser))
  expect((await signInOf(sound, browser))?.identity).toBe(ADA)
  expect(await accepted(sound, [tokenOf(await redeem(sound, code)) ?? ''])).toHaveLength(1)
  return true
}

const RACERS = 5

describe.each(engines)('two completions of one request in lock-step on %s', (engine) => {
  it.each([
    ['new', null],
    ['hers', ADA],
  ])('come to one redirect with a code, and to "already completed" for the other, where the sign-in is %s', async (_whose, before) => {
    const store = testStore(engine)
    const lockstep = countCalls()
    const isolates = await Promise.all([1, 2].map(() => warmIsolate(store, lockstep.wrap)))
    const sound = await warmIsolate(store)
    const started = new TestBrowser(sound)
    if (before !== null) await freshCode(sound, started, before)
    const auth = await waitingRequest(started)
    const had = await codes(sound)

    const tabs = isolates.map((service) => anotherTab(started, service))
    const answers = await Promise.all(tabs.map((tab) => pick(tab, auth)))

    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
    expect(answers.filter((answer) => codeIn(answer) !== null)).toHaveLength(1)
    expect((await codes(sound)) - had).toBe(1)
    for (const tab of tabs) expect((await signInOf(sound, tab))?.identity).toBe(ADA)
  })
})

describe('five completions of one request in parallel', () => {
  it.each(Array.from({ length: 40 }, (_, n) => n))('come to one code in whatever order (%d)', async (seed) => {
    const store = testStore('memory')
    const sound = await warmIsolate(store)
    const started = new TestBrowser(sound)
    const auth = await waitingRequest(started)
    const had = await codes(sound)

    const race = interleaving(seeded(seed))
    const racers = await Promise.all(
      Array.from({ length: RACERS }, async () => {
        const racer = race.racer()
        return { racer, tab: anotherTab(started, await warmIsolate(store, racer.wrap)) }
      }),
    )
    const answers = await Promise.all(racers.map(({ racer, tab }) => racer.run(() => pick(tab, auth))))

    expect(answers.filter((answer) => codeIn(answer) !== null)).toHaveLength(1)
    // Who comes when it is gone is told that; who had read it, that it was completed.
    for (const answer of answers) expect(codeIn(answer) !== null ? 303 : answer.status).toBeOneOf([303, 400, 409])
    expect((await codes(sound)) - had).toBe(1)
  })
})
