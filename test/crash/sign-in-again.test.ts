import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { engines, TestBrowser, type TestService, testStore } from '../flows/harness.ts'
import {
  ADA,
  anotherTab,
  codeIn,
  freshCode,
  GRACE,
  handedOut,
  INVALID_GRANT,
  KATHERINE,
  pick,
  redeem,
  roaming,
  waitingRequest,
  warmIsolate,
} from './arrange.ts'
import { countCalls } from './count-calls.ts'
import { misfortune } from './faults.ts'
import { interleaving, seeded } from './interleave.ts'
import { accepted, isSignedIn, signInOf, signInOfCode } from './observe.ts'

const HOUR = 3_600 // seconds

describe.each(engines)('a second sign-in in one browser on %s', (engine) => {
  it("keeps the sign-in's id for the same person, under a new cookie alone", async () => {
    const service = await warmIsolate(testStore(engine))
    const { state } = service.services.issuer
    const browser = new TestBrowser(service)
    const first = await signInOfCode(service, await freshCode(service, browser))
    const before = anotherTab(browser, service)
    const pointer = keys.signInCookie((await signInOf(service, before))?.cookie_hash ?? '')

    const second = await signInOfCode(service, await freshCode(service, browser))
    expect(second).toBe(first)
    expect((await signInOf(service, browser))?.id).toBe(first)
    expect(await state.get(pointer)).toBeNull()
  })

  it('leaves the cookie before good until the next sign-in when a crash left its pointer: the new one may never have arrived', async () => {
    const service = await warmIsolate(testStore(engine))
    const { state } = service.services.issuer
    const browser = new TestBrowser(service)
    const first = await signInOfCode(service, await freshCode(service, browser))
    const before = anotherTab(browser, service)
    const pointer = keys.signInCookie((await signInOf(service, before))?.cookie_hash ?? '')
    await freshCode(service, browser)
    await state.put(pointer, utf8(first), HOUR) // as a crash before its deletion leaves it

    expect((await signInOf(service, before))?.id).toBe(first)
    await freshCode(service, browser)
    expect(await state.get(pointer)).toBeNull()
    expect(await signInOf(service, before)).toBeNull()
  })

  it("ends the first person's when it is another's, and with it the codes issued under it", async () => {
    const service = await warmIsolate(testStore(engine))
    const browser = new TestBrowser(service)
    const code = await freshCode(service, browser)
    const first = await signInOfCode(service, code)
    const before = anotherTab(browser, service)

    await freshCode(service, browser, GRACE)
    expect(await isSignedIn(service, first)).toBe(false)
    expect(await signInOf(service, before)).toBeNull()
    expect((await signInOf(service, browser))?.identity).toBe(GRACE)
    expect(await redeem(service, code)).toMatchObject(INVALID_GRANT)
  })

  it("leaves the sign-in among the person's for as long as it now lives", async () => {
    const store = testStore(engine)
    const service = await warmIsolate(store)
    const browser = new TestBrowser(service)
    const id = await signInOfCode(service, await freshCode(service, browser))
    store.clock.advance(20 * HOUR)
    await freshCode(service, browser)
    store.clock.advance(10 * HOUR) // past the first one's day, not past the second's

    expect((await signInOf(service, browser))?.id).toBe(id)
    expect(await service.services.issuer.index.members(keys.signInsOf(personId(ADA)))).toEqual([id])
  })

  it("keeps the sign-in's id when its store fails at any call and the person tries again", async () => {
    const store = testStore(engine)
    const sound = await warmIsolate(store)
    const luck = misfortune()
    const victim = await warmIsolate(store, luck.wrap)
    const another: number[] = []
    for (let nth = 1, struck = true; struck; nth++) {
      const { browser, moveTo } = roaming(sound)
      const id = await signInOfCode(sound, await freshCode(sound, browser))
      const auth = await waitingRequest(browser)

      moveTo(victim)
      luck.strikes('fails', nth)
      const answer = await pick(browser, auth)
      struck = luck.calls.length >= nth
      moveTo(sound)
      if ((await signInOfCode(sound, await freshCode(sound, browser))) !== id) another.push(nth)
      if (!struck) expect(answer.status).toBe(303)
    }
    expect(another).toEqual([])
  })
})

/** Who is picked in tabs of one browser at once, and whose sign-in it has. */
const tabs: [string, Tabs][] = [
  ['one person twice in a new browser', { people: [ADA, ADA], before: null }],
  ['one person twice, whose sign-in stands', { people: [ADA, ADA], before: ADA }],
  ['one person three times, whose sign-in stands', { people: [ADA, ADA, ADA], before: ADA }],
  ['two people where the sign-in of a third stands', { people: [GRACE, KATHERINE], before: ADA }],
  ['two people where the sign-in of one of them stands', { people: [ADA, GRACE], before: ADA }],
]

interface Tabs {
  people: string[]
  before: string | null
}

describe.each(tabs)('tabs of one browser that sign in %s', (_who, { people, before }) => {
  it.each(engines)('in lock-step each come to a code and a cookie that resolves, on %s', async (engine) => {
    const store = testStore(engine)
    const lockstep = countCalls()
    const isolates = await Promise.all(people.map(() => warmIsolate(store, lockstep.wrap)))
    await expectSignedIn(await warmIsolate(store), { people, before }, isolates, (_n, work) => work())
  })

  it('in whatever order each come to a code and a cookie that resolves', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const store = testStore('memory')
      const race = interleaving(seeded(seed))
      const racers = people.map(() => race.racer())
      const isolates = await Promise.all(racers.map((racer) => warmIsolate(store, racer.wrap)))
      await expectSignedIn(await warmIsolate(store), { people, before }, isolates, (n, work) => racers[n]?.run(work) ?? work())
    }
  })
})

async function expectSignedIn(
  sound: TestService,
  { people, before }: Tabs,
  isolates: TestService[],
  run: (n: number, work: () => Promise<Response>) => Promise<Response>,
): Promise<void> {
  const started = new TestBrowser(sound)
  const first = before === null ? null : await signInOfCode(sound, await freshCode(sound, started, before))
  const requests = await inTurn(people, () => waitingRequest(started))
  const opened = isolates.map((service) => anotherTab(started, service))
  const answers = await Promise.all(opened.map((tab, n) => run(n, () => pick(tab, requests[n] ?? '', people[n]))))

  expect(answers.map(({ status }) => status)).toEqual(people.map(() => 303))
  const redeemed = await Promise.all(answers.map((answer) => redeem(sound, codeIn(answer) ?? '')))
  // Another person's sign-in may have ended what was issued to one before it. One person's own never does.
  if (new Set(people).size === 1) expect(await accepted(sound, handedOut(...redeemed))).toHaveLength(people.length)
  else for (const answer of redeemed) if (handedOut(answer).length === 0) expect(answer).toMatchObject(INVALID_GRANT)
  if (first !== null && before !== null && !people.includes(before)) expect(await isSignedIn(sound, first)).toBe(false)

  // The browser has one of the cookies, whichever came last: a superseded one is nobody's.
  const signIns = await Promise.all(opened.map((tab) => signInOf(sound, tab)))
  expect(signIns.filter((signIn) => signIn !== null)).not.toEqual([])
  for (const [n, signIn] of signIns.entries()) expect(signIn?.identity ?? people[n]).toBe(people[n])
}

async function inTurn<T>(of: readonly unknown[], work: () => Promise<T>): Promise<T[]> {
  const done: T[] = []
  for (const _ of of) done.push(await work())
  return done
}
