import { describe, expect, it } from 'vitest'
import { at, basic, clientStore, introspected, post, refresh } from '../flows/clients.ts'
import { claimsOf, engines, signIn, TestBrowser, type TestService, type TestStore, type Tokens } from '../flows/harness.ts'
import { ADA, GRACE, KATHERINE, warmIsolate } from './arrange.ts'
import { gaps } from './between-calls.ts'
import { interleaving, seeded } from './interleave.ts'
import { accepted, sessionsOf, signedTokens } from './observe.ts'
import { refreshAnswer, successorIn } from './refreshing.ts'

/** Grace at a confidential client, so that introspection can be asked too. */
interface Victim {
  browser: TestBrowser
  first: Tokens
  /** The refresh token in use: the successor of `first`'s. */
  current: string
}

/** Something that ends Grace's session, and is answered. */
type Revocation = (by: TestService, of: Victim) => Promise<Response>

const asBackend = { client_id: 'backend' }

const revocations: [string, Revocation][] = [
  ['a revocation of the token in use', (by, { current }) => post(by, '/revoke', { token: current }, basic('backend'))],
  ['a revocation of a token spent before', (by, { first }) => post(by, '/revoke', { token: first.refresh_token }, basic('backend'))],
  ['reuse of a token spent before', (by, { first }) => refresh(by, first.refresh_token, asBackend, basic('backend'))],
  ['the person, who ends it on /account', (by, of) => within(by, of).post('/account', { session: sidOf(of.first) })],
  ['the person, who ends the sign-in on /account', (by, of) => signOut(by, of)],
  ['the person, who ends everything on /account', (by, of) => within(by, of).post('/account', { everything: 'yes' })],
  ['the person, by the sessions API', (by, of) => within(by, of).ask('DELETE', `/api/sessions/${sidOf(of.first)}`)],
  ['an operator', (by) => asOperator(by, `/api/sessions?person=${GRACE}`)],
  ['an operator, client-wide', (by) => asOperator(by, '/api/sessions?client=backend')],
  ['another person in the browser', (by, of) => anotherPerson(by, of)],
]

const REUSE_AFTER = 33 // s: past grace and tolerance

async function graceAtBackend(service: TestService, store: TestStore): Promise<Victim> {
  const browser = new TestBrowser(service)
  const first = await at(service, 'backend', { browser, person: GRACE })
  const current = successorIn(await refreshAnswer(await refresh(service, first.refresh_token, asBackend, basic('backend'))))
  store.clock.advance(REUSE_AFTER)
  return { browser, first, current }
}

function sidOf({ id_token }: Tokens): string {
  return String(claimsOf(id_token).sid)
}

/** Her browser, answered by this isolate. */
function within(service: TestService, { browser }: Victim): TestBrowser {
  const tab = new TestBrowser(service)
  for (const [name, value] of browser.cookies) tab.cookies.set(name, value)
  return tab
}

async function signOut(service: TestService, of: Victim): Promise<Response> {
  const sign_in = (await sessionsOf(service, GRACE)).find(({ id }) => id === sidOf(of.first))?.sso
  if (sign_in === undefined) throw new Error('the session was ended before')
  return within(service, of).post('/account', { sign_in })
}

async function asOperator(service: TestService, path: string): Promise<Response> {
  const browser = new TestBrowser(service)
  await signIn(browser, {}, ADA)
  return browser.ask('DELETE', path)
}

async function anotherPerson(service: TestService, of: Victim): Promise<Response> {
  await signIn(within(service, of), {}, KATHERINE)
  return new Response()
}

/** No token of the session is accepted anywhere, and none is minted by who tries to refresh now. */
async function expectRevoked(judge: TestService, accessTokens: string[], refreshTokens: string[]): Promise<void> {
  expect(await accepted(judge, accessTokens)).toEqual([])
  for (const token of [...accessTokens, ...refreshTokens]) expect(await introspected(judge, token, 'backend')).toEqual({ active: false })
  const minted = signedTokens(judge)
  for (const token of refreshTokens) {
    const answer = await refreshAnswer(await refresh(judge, token, asBackend, basic('backend')))
    expect(answer).toMatchObject({ status: 400, error: 'invalid_grant' })
  }
  expect(await accepted(judge, minted)).toEqual([])
  expect(await sessionsOf(judge, GRACE)).toEqual([])
}

/** Port calls of a refresh, and of a replay of it in the grace. */
const CALLS = { refresh: 5, replay: 4 }

describe.each(engines)('on %s', (engine) => {
  describe.each(revocations)('%s', (_who, revocation) => {
    it.each(['refresh', 'replay'] as const)(
      'ends what a %s in flight mints, at whichever of its port calls it is answered',
      async (kind) => {
        const store = await clientStore(engine)
        const judge = await warmIsolate(store)
        for (let nth = 0; nth <= CALLS[kind]; nth++) {
          const between = gaps()
          const service = await warmIsolate(store, between.wrap)
          const signed = signedTokens(service)
          const victim = await graceAtBackend(judge, store)
          const presented = victim.current
          const given = kind === 'replay' ? [successorIn(await refreshed(judge, presented))] : []

          let answered = 0
          between.after(nth, async () => {
            answered = (await revocation(judge, victim)).status
          })
          const answer = await refreshed(service, presented)
          if (answered === 0 && engine === 'durable-object' && nth === CALLS[kind]) continue // the session was read along with its token
          expect(answered).toBeOneOf([200, 303, 400])
          expect(answer === 'stopped' ? 0 : answer.status).toBeOneOf([200, 400])
          const successor = answer !== 'stopped' && answer.status === 200 ? [successorIn(answer)] : []
          const spent = [victim.first.refresh_token, presented, ...given, ...successor]
          await expectRevoked(judge, [victim.first.access_token, ...signed], spent)
        }
      },
    )
  })
})

async function refreshed(service: TestService, token: string) {
  return refreshAnswer(await refresh(service, token, asBackend, basic('backend')))
}

describe('a revocation whose own calls come between those of three refreshes', () => {
  it.each(revocations.slice(0, 8))('%s: leaves nothing that is accepted, in whatever order', async (_who, revocation) => {
    for (let seed = 0; seed < 12; seed++) {
      const store = await clientStore('memory')
      const judge = await warmIsolate(store)
      const victim = await graceAtBackend(judge, store)
      const race = interleaving(seeded(seed))
      const racers = await Promise.all(
        Array.from({ length: 3 }, async () => {
          const racer = race.racer()
          const service = await warmIsolate(store, racer.wrap)
          return { service, signed: signedTokens(service), run: racer.run }
        }),
      )
      const revoker = race.racer()
      const revoking = await warmIsolate(store, revoker.wrap)
      const [, ...answers] = await Promise.all([
        revoker
          .run(async () => expect((await revocation(revoking, victim)).status).toBeOneOf([200, 303, 400]))
          .then(() => 'stopped' as const),
        ...racers.map(({ service, run }) => run(() => refreshed(service, victim.current))),
      ])
      const given = answers.flatMap((answer) => (answer !== 'stopped' && answer.status === 200 ? [successorIn(answer)] : []))
      const signed = racers.flatMap((racer) => racer.signed)
      await expectRevoked(judge, [victim.first.access_token, ...signed], [victim.first.refresh_token, victim.current, ...given])
    }
  })
})
