import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exchange, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { EXCHANGE_CALLS, freshCode, handedOut, INVALID_GRANT, type Redemption, redeem, redemption, warmIsolate } from './arrange.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { type Choice, type Interleaving, interleaving } from './interleave.ts'
import { accepted, sessionsOf, signedTokens, signInOfCode } from './observe.ts'
import { endSessionsUnder, endSignIn } from './sign-out.ts'

/** What somebody does to one code and the sign-in it was issued under. */
type Act =
  | { does: 'redeem'; right: boolean; misfortune: { fault: Fault; nth: number } | null }
  /** Marks the sign-in as ended, then ends the sessions under it. */
  | { does: 'sign out' }

interface Outcome {
  act: Act
  answer: Redemption | 'signed out'
  signed: string[]
}

/** A fault strikes one of the calls of an undisturbed exchange; one that strikes an undo has a test of its own, in sign-out-race. */
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      does: fc.constant('redeem' as const),
      right: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
      misfortune: fc.option(fc.record({ fault: fc.constantFrom(...faultsOn.memory), nth: fc.integer({ min: 1, max: EXCHANGE_CALLS }) })),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Act>({ does: 'sign out' }) },
)

/** Who goes on, one number a choice; when they run out, the first of those that wait. */
const choices = fc.array(fc.nat({ max: 11 }), { minLength: 0, maxLength: 60, size: 'max' })

it('a code comes to one answer with tokens at most, and to none that outlives a second or a sign-out', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 4 }), choices, async (acts, numbers) => {
      const store = testStore('memory')
      const judge = await warmIsolate(store)
      const code = await freshCode(judge)
      const signIn = await signInOfCode(judge, code)

      const outcomes = await race(acts, inOrder(numbers), { store, code, signIn })
      await expectAllowed(outcomes, judge)
      await expectEnd(outcomes, judge, code)
    }),
    { numRuns: 300 },
  )
})

function inOrder(numbers: readonly number[]): Choice {
  let next = 0
  return (of) => (numbers[next++] ?? 0) % of
}

interface Setting {
  store: TestStore
  code: string
  signIn: string
}

async function race(acts: readonly Act[], choose: Choice, setting: Setting): Promise<Outcome[]> {
  const all = interleaving(choose)
  const ready = await Promise.all(acts.map((one) => prepare(one, all, setting)))
  return Promise.all(ready.map((go) => go()))
}

async function prepare(act: Act, all: Interleaving, { store, code, signIn }: Setting): Promise<() => Promise<Outcome>> {
  const racer = all.racer()
  const luck = misfortune()
  const service = await warmIsolate(store, (adapters) => luck.wrap(racer.wrap(adapters)))
  const signed = signedTokens(service)
  return async () => {
    const answer = await racer.run(async () => {
      if (act.does === 'sign out') {
        await endSignIn(service, signIn)
        await endSessionsUnder(service, signIn)
        return 'signed out'
      }
      if (act.misfortune !== null) luck.strikes(act.misfortune.fault, act.misfortune.nth)
      return redemption(await luck.outcome(exchange(service, code, act.right ? {} : { code_verifier: 'x'.repeat(43) })))
    })
    return { act, answer, signed }
  }
}

/** What anybody may have been answered, and which tokens are good now. */
async function expectAllowed(outcomes: readonly Outcome[], judge: TestService): Promise<void> {
  for (const { act, answer } of outcomes) {
    if (act.does === 'sign out' || answer === 'signed out') continue
    if (answer === 'stopped') expect(act.misfortune?.fault).toBe('stops')
    else expect(answer.status).toBeOneOf([200, 400, 503])
    if (answer !== 'stopped' && answer.status === 400) expect(answer.error).toBe('invalid_grant')
    if (!act.right) expect(deliveredBy(answer)).toEqual([])
    if (!act.right && act.misfortune === null) expect(answer).toMatchObject({ status: 400 })
  }

  const delivered = outcomes.flatMap(({ answer }) => deliveredBy(answer))
  expect(delivered.length).toBeLessThanOrEqual(1)
  const rights = outcomes.filter(({ act }) => act.does === 'redeem' && act.right)
  const good = await accepted(judge, delivered)
  if (rights.some(isRefused) || signedOut(outcomes)) expect(good).toEqual([])
  else if (rights.length === 1) expect(good).toEqual(delivered)
}

/** Where the code ends when a client goes on presenting it. */
async function expectEnd(outcomes: readonly Outcome[], judge: TestService, code: string): Promise<void> {
  const rights = outcomes.filter(({ act }) => act.does === 'redeem' && act.right)
  const last = await redeem(judge, code)
  // Who was told that it was presented twice is told so for good.
  if (signedOut(outcomes) || rights.some(isRefused)) expect(last).toMatchObject(INVALID_GRANT)
  else if (rights.length === 0) expect(last).toMatchObject({ status: 200 })
  else if (rights.length === 1 && rights[0] !== undefined) expect(last).toMatchObject({ status: goodAgain(rights[0]) ? 200 : 400 })

  if (handedOut(last).length > 0) expect(await redeem(judge, code)).toMatchObject(INVALID_GRANT)
  const signed = outcomes.flatMap((outcome) => outcome.signed)
  expect(await accepted(judge, [...signed, ...handedOut(last)])).toEqual([])
  expect(await sessionsOf(judge)).toEqual([])
}

/** Whether the one who presented the code rightly left it as it was: nothing was written yet, or all of it was taken back. */
function goodAgain({ act, answer }: Outcome): boolean {
  if (act.does === 'sign out' || act.misfortune === null) return false
  const { fault, nth } = act.misfortune
  if (answer === 'stopped') return nth === 1
  if (answer === 'signed out' || answer.status !== 503) return false
  return fault !== 'goes down' || nth <= 2 // down from the tombstone's creation on: nothing stands
}

function isRefused({ answer }: Outcome): boolean {
  return answer !== 'signed out' && answer !== 'stopped' && answer.status === 400
}

function signedOut(outcomes: readonly Outcome[]): boolean {
  return outcomes.some(({ answer }) => answer === 'signed out')
}

function deliveredBy(answer: Outcome['answer']): string[] {
  return answer === 'signed out' ? [] : handedOut(answer)
}
