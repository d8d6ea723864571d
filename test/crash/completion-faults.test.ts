import { describe, expect, it } from 'vitest'
import { keys } from '../../src/ports/keys.ts'
import { engines, TestBrowser, type TestService, testStore } from '../flows/harness.ts'
import { ADA, anotherTab, codeIn, freshCode, GRACE, handedOut, pick, redeem, roaming, waitingRequest, warmIsolate } from './arrange.ts'
import { countCalls } from './count-calls.ts'
import { type Fault, faultsOn, type Misfortune, misfortune } from './faults.ts'
import { interleaving, seeded } from './interleave.ts'
import { accepted, signInOf, standing } from './observe.ts'

/** Whose sign-in the browser has when ada completes one. */
const browsers: [string, string | null][] = [
  ["nobody's", null],
  ['hers', ADA],
  ["another person's", GRACE],
]

describe.each(engines)('a completion on %s', (engine) => {
  describe.each(browsers)('where the sign-in of the browser is %s', (_whose, before) => {
    it.each(faultsOn[engine])('and the store %s at any call leaves the person able to sign in, and one code at most', async (fault) => {
      const store = testStore(engine)
      const sound = await warmIsolate(store)
      const luck = misfortune()
      const victim = await warmIsolate(store, luck.wrap)
      for (const asked of requests) {
        for (let nth = 1, struck = true; struck; nth++) struck = await completesAfter(fault, nth, { sound, victim, luck, before, asked })
      }
    })
  })
})

/** What a client may ask for that a completion could lose: each sign-in here is of this very moment. */
const requests: Record<string, string>[] = [{}, { max_age: '0', login_hint: GRACE }]

interface Setting {
  sound: TestService
  /** The isolate that has the misfortune. */
  victim: TestService
  luck: Misfortune
  before: string | null
  asked: Record<string, string>
}

/** False when the completion made fewer calls than `nth`, so that nothing befell it. */
async function completesAfter(fault: Fault, nth: number, { sound, victim, luck, before, asked }: Setting): Promise<boolean> {
  const { browser, moveTo } = roaming(sound)
  if (before !== null) await freshCode(sound, browser, before)
  const auth = await waitingRequest(browser, asked)

  moveTo(victim)
  luck.strikes(fault, nth)
  const answer = await luck.outcome(pick(browser, auth))
  moveTo(sound)
  const struck = luck.calls.length >= nth
  if (answer === 'stopped') await startsOver({ fault, auth, browser, sound, luck })
  else await expectSignedIn(sound, browser, await codeOf(answer, browser, auth))
  return struck
}

/** An isolate that died answered nothing: the form again, and where the request was consumed, as the page advises, from the start. */
async function startsOver(of: { fault: Fault; auth: string; browser: TestBrowser; sound: TestService; luck: Misfortune }): Promise<void> {
  const { fault, auth, browser, sound, luck } = of
  expect(fault).toBe('stops')
  const [waits = null] = await standing(sound, [keys.request(auth)])
  const made = luck.calls.filter(({ method, on }) => method === 'create' && on.startsWith('code.')).map(({ on }) => on)
  if (waits !== null) expect(await standing(sound, made)).toEqual([])
  const retried = await pick(browser, auth)
  expect(retried.status).toBe(waits !== null ? 303 : 400)
  expect(codeIn(retried) !== null).toBe(waits !== null)
  await expectSignedIn(sound, browser, codeIn(retried) ?? (await freshCode(sound, browser)))
}

/** The code an answer comes to for who sends the form again when told to try later, and follows redirects; never by another page. */
async function codeOf(answer: Response, browser: TestBrowser, auth: string): Promise<string> {
  const last = answer.status === 503 ? await pick(browser, auth) : answer
  expect(last.status).toBe(303)
  const code = codeIn(last)
  if (code !== null) return code
  const to = last.headers.get('location') ?? ''
  expect(to).toMatch(/^http:\/\/localhost:8787\/authorize\?/)
  const silent = codeIn(await browser.get(to))
  expect(silent, to).not.toBeNull()
  // A reload of it is safe.
  expect(codeIn(await browser.get(to))).not.toBeNull()
  return silent ?? ''
}

async function expectSignedIn(sound: TestService, browser: TestBrowser, code: string): Promise<void> {
  expect((await signInOf(sound, browser))?.identity).toBe(ADA)
  expect(await accepted(sound, handedOut(await redeem(sound, code)))).toHaveLength(1)
}

async function codes(service: TestService): Promise<number> {
  return (await service.services.issuer.state.list('code.', { limit: 1_000 })).entries.length
}

describe.each(engines)('two completions of one request in lock-step on %s', (engine) => {
  it.each(browsers.slice(0, 2))(
    'come to one redirect with a code and to "already completed" for the other, where the sign-in of the browser is %s',
    async (_whose, before) => {
      const store = testStore(engine)
      const sound = await warmIsolate(store)
      const started = new TestBrowser(sound)
      if (before !== null) await freshCode(sound, started, before)
      const auth = await waitingRequest(started)
      const had = await codes(sound)

      const lockstep = countCalls()
      const isolates = await Promise.all([1, 2].map(() => warmIsolate(store, lockstep.wrap)))
      const tabs = isolates.map((service) => anotherTab(started, service))
      const answers = await Promise.all(tabs.map((tab) => pick(tab, auth)))

      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409])
      expect(answers.filter((answer) => codeIn(answer) !== null)).toHaveLength(1)
      expect((await codes(sound)) - had).toBe(1)
    },
  )
})

const RACERS = 5

describe('five completions of one request', () => {
  it.each(Array.from({ length: 20 }, (_, n) => n))(
    'come to one code in whatever order, and to a cookie that resolves for each (%d)',
    async (seed) => {
      const store = testStore('memory')
      const sound = await warmIsolate(store)
      const started = new TestBrowser(sound)
      const auth = await waitingRequest(started)
      const race = interleaving(seeded(seed))
      const racers = await Promise.all(
        Array.from({ length: RACERS }, async () => {
          const racer = race.racer()
          return { racer, tab: anotherTab(started, await warmIsolate(store, racer.wrap)) }
        }),
      )
      const answers = await Promise.all(racers.map(({ racer, tab }) => racer.run(() => pick(tab, auth))))

      expect(answers.filter((answer) => codeIn(answer) !== null)).toHaveLength(1)
      expect(await codes(sound)).toBe(1)
      for (const [n, { status }] of answers.entries()) {
        // Who had read the request is told that it was completed, and signed in all the same; who comes later, that it is gone.
        expect(status).toBeOneOf([303, 409, 400])
        const tab = racers[n]?.tab
        if (tab !== undefined && status !== 400) expect((await signInOf(sound, tab))?.identity).toBe(ADA)
      }
    },
  )
})
