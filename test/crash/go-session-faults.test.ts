import { describe, expect, it } from 'vitest'
import { endSessions } from '../../src/logout/endings.ts'
import { personId } from '../../src/ports/keys.ts'
import { listSessions } from '../../src/records/sessions.ts'
import { refresh, revoke } from '../flows/clients.ts'
import { type GoTable, goRecords } from '../flows/go-records.ts'
import { type Engine, engines, type TestService, type TestStore, testStore } from '../flows/harness.ts'
import { ADA, GRACE, handedOut, warmIsolate } from './arrange.ts'
import { gaps } from './between-calls.ts'
import { type Fault, faultsOn, misfortune } from './faults.ts'
import { accepted, signedTokens } from './observe.ts'
import { spelled } from './port-calls.ts'
import { refreshAnswer, refreshAsClientsDo, successorIn } from './refreshing.ts'

async function goTable(store: TestStore): Promise<GoTable> {
  const { issuer, instance } = store.documents.service
  return goRecords(store.adapters(), { now: store.clock.now(), issuer, instance })
}

/** Ids of the live sessions of a person, in whichever form they stand. */
async function sessionsOf(service: TestService, person: string): Promise<string[]> {
  const { issuer } = service.services
  return (await listSessions(issuer, personId(person), issuer.log)).map(({ id }) => id).sort()
}

/** Which token is presented first of a session of the Go service: the live one, or one that was spent seconds ago. */
const presentations = ['live', 'spent'] as const

/** Port calls of that when nothing befalls it: of the live one 3 reads and 5 writes. */
const calls = { live: 8, spent: 7 }

/** On memory all; elsewhere a failure is what the lost answer is, and one half of it. */
function faultsOf(engine: Engine): readonly Fault[] {
  return faultsOn[engine].filter((fault) => engine === 'memory' || fault !== 'fails')
}

describe.each(engines)('the first refresh of a session of the Go service on %s', (engine) => {
  it.each(presentations.flatMap((presented) => faultsOf(engine).map((fault) => ({ presented, fault }))))(
    'by the $presented token, whose store $fault at any call, signs nobody out: the client tries again',
    async ({ presented, fault }) => {
      let nth = 0
      for (let struck = true; struck; ) struck = await isAdopted(presented, fault, ++nth, testStore(engine))
      expect(nth).toBe(calls[presented] + 1)
    },
  )
})

/** False when it made fewer calls than `nth`, so that nothing befell it. */
async function isAdopted(presented: 'live' | 'spent', fault: Fault, nth: number, store: TestStore): Promise<boolean> {
  const { sessions } = await goTable(store)
  const token = sessions.graces[presented]
  const judge = await warmIsolate(store)
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  const signed = signedTokens(victim)

  luck.strikes(fault, nth)
  const first = await refreshAnswer(await luck.outcome(refresh(victim, token)))
  const struck = luck.calls.length >= nth
  if (!struck) expect(spelled(luck.calls)).toContainEqual(expect.stringMatching(/^create ses\./))
  else if (fault === 'stops') expect(first).toBe('stopped')
  else if (first !== 'stopped') expect(first.status).toBeOneOf([200, 503])

  const retried = await refreshAsClientsDo(judge, token)
  expect({ nth, retried }).toMatchObject({ nth, retried: { status: 200 } })
  if (first !== 'stopped' && first.status === 200) expect(successorIn(retried)).toBe(successorIn(first))
  expect(await sessionsOf(judge, GRACE)).toEqual([sessions.graces.sid])
  const next = await refreshAsClientsDo(judge, successorIn(retried))
  const tokens = [sessions.graces.accessToken, ...handedOut(first, retried, next)]
  expect(await accepted(judge, tokens)).toEqual(tokens)

  // Every token there is hangs from the session, whichever service signed it, handed out or not.
  expect((await revoke(judge, successorIn(next))).status).toBe(200)
  expect(await sessionsOf(judge, GRACE)).toEqual([])
  expect(await accepted(judge, [...tokens, ...signed])).toEqual([])
  for (const left of [sessions.graces.live, sessions.graces.spent, successorIn(next)])
    expect(await refreshAsClientsDo(judge, left)).toMatchObject({ status: 400, error: 'invalid_grant' })
  return struck
}

const causes = ['one by one', 'everything'] as const

describe.each(engines)('an ending of sessions of the Go service on %s', (engine) => {
  it.each(causes.flatMap((how) => faultsOf(engine).map((fault) => ({ how, fault }))))(
    '$how, whose store $fault at any call, is done whole by the retry or the next tick',
    async ({ how, fault }) => {
      // On objects every fifth call: what an ending does to one record it does to the next.
      for (let nth = 1, struck = true; struck; nth += engine === 'memory' ? 1 : 5)
        struck = await isEnded(how, fault, nth, testStore(engine))
    },
  )
})

async function isEnded(how: (typeof causes)[number], fault: Fault, nth: number, store: TestStore): Promise<boolean> {
  const { sessions } = await goTable(store)
  const judge = await warmIsolate(store)
  const luck = misfortune()
  const victim = await warmIsolate(store, luck.wrap)
  // One stands in our form too, one does not.
  const adopted = handedOut(await refreshAsClientsDo(judge, sessions.demo.live))
  const { issuer } = victim.services

  luck.strikes(fault, nth)
  if (how === 'everything') {
    const ending = { person: personId(ADA), which: { of: 'everything' as const }, cause: 'operator' as const, by: ADA }
    await luck.outcome(endSessions(ending, issuer).catch(() => 'failed' as const))
    // Before the ending was written down nobody was told that it will be done.
    if (luck.calls.length < 2 || nth === 1) await endSessions(ending, judge.services.issuer)
    await judge.tick()
  } else {
    for (const { live, client } of [sessions.demo, sessions.native]) {
      await luck.outcome(revoke(victim, live, { client_id: client }))
      luck.mend()
      expect((await revoke(judge, live, { client_id: client })).status).toBe(200)
    }
  }
  const struck = luck.calls.length >= nth
  const ended = how === 'everything' ? [sessions.demo, sessions.native, sessions.backend] : [sessions.demo, sessions.native]
  const left = await sessionsOf(judge, ADA)
  for (const { sid } of ended) expect({ nth, left }).not.toMatchObject({ left: expect.arrayContaining([sid]) })
  expect(await accepted(judge, [...adopted, ...ended.map(({ accessToken }) => accessToken)])).toEqual([])
  // The mark has lapsed or not: nothing comes back.
  store.clock.advance(301)
  for (const { live, client } of [sessions.demo, sessions.native])
    expect(await refreshAnswer(await refresh(judge, live, { client_id: client }))).toMatchObject({ status: 400, error: 'invalid_grant' })
  expect(await sessionsOf(judge, GRACE)).toEqual([sessions.graces.sid])
  return struck
}

describe('a refresh that brings a session of the Go service into our form', () => {
  it.each(presentations)('by the %s token brings nothing back that was revoked at any moment of it', async (presented) => {
    for (let mark = 0, more = true; more; mark++) {
      const store = testStore('memory' satisfies Engine)
      const { sessions } = await goTable(store)
      const judge = await warmIsolate(store)
      const gap = gaps()
      const racing = await warmIsolate(store, gap.wrap)
      gap.after(mark, async () => {
        expect((await revoke(judge, sessions.graces.live)).status).toBe(200)
      })
      const raced = await refreshAnswer(await refresh(racing, sessions.graces[presented]))
      more = gap.calls.length > mark
      if (raced !== 'stopped' && raced.status === 200)
        expect(await refreshAnswer(await refresh(judge, successorIn(raced)))).toMatchObject({ status: 400, error: 'invalid_grant' })
      expect(await accepted(judge, [sessions.graces.accessToken, ...handedOut(raced)])).toEqual([])
      expect(await sessionsOf(judge, GRACE)).toEqual([])
    }
  })
})
