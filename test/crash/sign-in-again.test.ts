import { describe, expect, it } from 'vitest'
import { keys, personId } from '../../src/ports/keys.ts'
import { findSignIn } from '../../src/records/sign-in.ts'
import { engines, TestBrowser, type TestService, testStore } from '../flows/harness.ts'
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
  signInOfCode,
  tokenOf,
  waitingRequest,
  warmIsolate,
} from './arrange.ts'
import { countCalls } from './count-calls.ts'
import { misfortune } from './faults.ts'
import { interleaving, seeded } from './interleave.ts'

const KATHERINE = 'katherine@acme.example'
const HOUR = 3_600

async function isLive(service: TestService, signIn: string): Promise<boolean> {
  const { state, log } = service.services.issuer
  return (await findSignIn(state, signIn, log)) !== null
}

describe.each(engines)('a second sign-in in one browser on %s', (engine) => {
  it("keeps the sign-in's id for the same person, under a new cookie alone", async () => {
    const service = await warmIsolate(testStore(engine))
    const browser = new TestBrowser(service)
    const first = await signInOfCode(service, await freshCode(service, browser))
    const before = anotherTab(browser, service)

    const second = await signInOfCode(service, await freshCode(service, browser))
    expect(second).toBe(first)
    expect((await signInOf(service, browser))?.id).toBe(first)
    expect(await signInOf(service, before)).toBeNull()
  })

  it("ends the first person's when it is another's, and the codes issued under it", async () => {
    const service = await warmIsolate(testStore(engine))
    const browser = new TestBrowser(service)
    const code = await freshCode(service, browser)
    const first = await signInOfCode(service, code)
    const before = anotherTab(browser, service)

    await freshCode(service, browser, GRACE)
    expect(await isLive(service, first)).toBe(false)
    expect(await signInOf(service, before)).toBeNull()
    expect((await signInOf(service, browser))?.identity).toBe(GRACE)
    expect(await redeem(service, code)).toMatchObject({ status: 400, error: 'invalid_grant' })
  })

  it("stands among the person's for as long as it lives, renewed or not", async () => {
    const store = testStore(engine)
    const service = await warmIsolate(store)
    const { index } = service.services.issuer
    const browser = new TestBrowser(service)
    const id = await signInOfCode(service, await freshCode(service, browser))
    store.clock.advance(20 * HOUR)
    await freshCode(service, browser)
    store.clock.advance(10 * HOUR) // past the first one's day, not past the second's

    expect((await signInOf(service, browser))?.id).toBe(id)
    expect(await index.members(keys.signInsOf(personId(ADA)))).toEqual([id])
  })

  it.each(['fails', 'loses the answer'] as const)(
    "keeps the sign-in's id when its store %s at any call and the person tries again",
    async (fault) => {
      const store = testStore(engine)
      const sound = await warmIsolate(store)
      const moved: number[] = []
      for (let nth = 1, struck = true; struck; nth++) {
        const luck = misfortune()
        const victim = await warmIsolate(store, luck.wrap)
        const { browser, moveTo } = roaming(sound)
        const id = await signInOfCode(sound, await freshCode(sound, browser))
        const auth = await waitingRequest(browser)

        moveTo(victim)
        luck.strikes(fault, nth)
        const answer = await pick(browser, auth)
        struck = luck.calls.length >= nth
        expect(answer.status).toBe(struck ? 503 : 303)
        moveTo(sound)
        if ((await signInOfCode(sound, await freshCode(sound, browser))) !== id) moved.push(nth)
      }
      expect(moved).toEqual([])
    },
  )
})

/** Who picks whom, in tabs of one browser at once, when ada's sign-in stands there or none. */
const tabs: [string, string[], string | null][] = [
  ['one person twice in a new browser', [ADA, ADA], null],
  ['one person twice, whose sign-in stands', [ADA, ADA], ADA],
  ['one person three times, whose sign-in stands', [ADA, ADA, ADA], ADA],
  ['two people after a third', [GRACE, KATHERINE], ADA],
  ['one person and another after the first', [ADA, GRACE], ADA],
]

describe.each(tabs)('tabs of one browser that sign in %s', (_who, people, standing) => {
  it.each(engines)('in lock-step each come to a code that is good, on %s', async (engine) => {
    const store = testStore(engine)
    const sound = await warmIsolate(store)
    const lockstep = countCalls()
    const isolates = await Promise.all(people.map(() => warmIsolate(store, lockstep.wrap)))
    await expectCodes(sound, standing, people, isolates, (_n, work) => work())
  })

  it('in whatever order each come to a code that is good', async () => {
    for (let seed = 0; seed < 25; seed++) {
      const store = testStore('memory')
      const sound = await warmIsolate(store)
      const race = interleaving(seeded(seed))
      const racers = people.map(() => race.racer())
      const isolates = await Promise.all(racers.map((racer) => warmIsolate(store, racer.wrap)))
      await expectCodes(sound, standing, people, isolates, (n, work) => racers[n]?.run(work) ?? work())
    }
  })
})

async function expectCodes(
  sound: TestService,
  standing: string | null,
  people: string[],
  isolates: TestService[],
  run: (n: number, work: () => Promise<Response>) => Promise<Response>,
): Promise<void> {
  const started = new TestBrowser(sound)
  const first = standing === null ? null : await signInOfCode(sound, await freshCode(sound, started, standing))
  if (standing === null) await waitingRequest(started) // so that the tabs share the browser's own cookie
  const opened = await Promise.all(
    isolates.map(async (service) => {
      const auth = await waitingRequest(started)
      return { auth, tab: anotherTab(started, service) }
    }),
  )
  const answers = await Promise.all(opened.map(({ auth, tab }, n) => run(n, () => pick(tab, auth, people[n]))))

  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 303))
  const tokens = await Promise.all(answers.map(async (answer) => tokenOf(await redeem(sound, codeIn(answer) ?? ''))))
  const good = await accepted(
    sound,
    tokens.filter((token) => token !== undefined),
  )
  // A tab of another person may end what was issued to one before it; nobody else ends anything.
  expect(good).toHaveLength(new Set(people).size === 1 ? people.length : good.length)
  if (first !== null && !people.includes(ADA)) expect(await isLive(sound, first)).toBe(false)
  const cookies = await Promise.all(opened.map(({ tab }) => signInOf(sound, tab)))
  expect(cookies.some((signIn) => signIn !== null)).toBe(true)
  for (const [n, signIn] of cookies.entries()) expect(signIn?.identity ?? people[n]).toBe(people[n])
}
