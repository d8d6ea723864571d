import fc from 'fast-check'
import { expect, it } from 'vitest'
import { answerDevice, basic, beginDevice, clientStore, introspected, poll, post, refresh, revoke } from '../flows/clients.ts'
import {
  authorizeUrl,
  claimsOf,
  type Engine,
  engines,
  exchange,
  signIn,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from '../flows/harness.ts'
import { ADA, codeIn, GRACE, warmIsolate } from './arrange.ts'
import {
  type AccessToken,
  type Code,
  isAccepted,
  isLive,
  isSilent,
  judge,
  judgeCode,
  LIMITS,
  type RefreshToken,
  type Session,
  type SignIn,
  stands,
} from './session-model.ts'

/** What somebody does. `n` is which of the codes, tokens or sessions there are: the nth from the last. */
type Act =
  | { does: 'sign in'; browser: number; client: string; person: string }
  | { does: 'sign in silently'; browser: number; client: string }
  | { does: 'exchange' | 'refresh' | 'revoke' | 'revoke access' | 'look'; n: number }
  | { does: 'use a device'; browser: number }
  | { does: 'end session'; browser: number; n: number }
  | { does: 'sign out' | 'end everything'; browser: number }
  | { does: 'wait'; seconds: number }

const BROWSERS = 2
const browser = fc.nat({ max: BROWSERS - 1 })
const client = fc.constantFrom('demo', 'backend')
const person = fc.oneof({ weight: 5, arbitrary: fc.constant(ADA) }, { weight: 1, arbitrary: fc.constant(GRACE) })
const n = fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 1 }) }, { weight: 1, arbitrary: fc.nat({ max: 7 }) })
// Around every limit there is, on both sides of it.
const seconds = fc.constantFrom(1, 10, 29, 30, 32, 33, 299, 300, 1_800, 3_599, 3_600, 14_400, 43_199, 43_200, 43_260)

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant('sign in' as const), browser, client, person }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('sign in silently' as const), browser, client }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('exchange' as const), n }) },
  { weight: 9, arbitrary: fc.record({ does: fc.constant('refresh' as const), n }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('revoke' as const, 'revoke access' as const), n }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('look' as const), n }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('use a device' as const), browser }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('end session' as const), browser, n }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('sign out' as const, 'end everything' as const), browser }) },
  { weight: 7, arbitrary: fc.record({ does: fc.constant('wait' as const), seconds }) },
)

/** A client that lost so many answers goes back to the token it had, at an age around the grace. */
const replay: fc.Arbitrary<Act[]> = fc
  .record({ lost: fc.integer({ min: 1, max: 4 }), seconds: fc.constantFrom(0, 29, 30, 31, 32, 33) })
  .map(({ lost, seconds }) => [
    ...Array.from({ length: lost }, (): Act => ({ does: 'refresh', n: 0 })),
    { does: 'wait', seconds },
    { does: 'refresh', n: lost },
    { does: 'look', n: 0 },
  ])

/** A session that is refreshed as late as it can be comes to its absolute limit: a second before it, at it and after it. */
const toTheLimit: fc.Arbitrary<Act[]> = fc.constantFrom(43_200, 43_201, 43_202).map((seconds) => [
  { does: 'sign in', browser: 0, client: 'backend', person: ADA },
  { does: 'exchange', n: 0 },
  { does: 'wait', seconds: 43_199 },
  { does: 'refresh', n: 0 },
  { does: 'wait', seconds: seconds - 3_600 },
  { does: 'refresh', n: 0 },
  { does: 'wait', seconds: 3_600 },
  { does: 'look', n: 0 },
  { does: 'refresh', n: 0 },
])

const acts = fc
  .array(
    fc.oneof({ weight: 36, arbitrary: act.map((one) => [one]) }, { weight: 2, arbitrary: replay }, { weight: 1, arbitrary: toTheLimit }),
    { minLength: 4, maxLength: 20, size: 'max' },
  )
  .map((parts) => parts.flat())

const redirects: Record<string, string> = { demo: 'http://localhost:8787/demo', backend: 'http://localhost:3000/callback' }

const asked = (client_id: string) => ({ client_id, redirect_uri: redirects[client_id] ?? '' })
const proof = (client_id: string): Record<string, string> => (client_id === 'backend' ? basic('backend') : {})

/** The service, and beside it what is believed of it. Every step says what it must come to before it is taken. */
class Machine {
  private readonly service: TestService
  private readonly store: TestStore
  private readonly browsers: TestBrowser[]
  private readonly signIns: (SignIn | undefined)[] = []
  private readonly allSignIns: SignIn[] = []
  private readonly sessions: { sid: string; session: Session }[] = []
  private readonly codes: Code[] = []
  private readonly access: AccessToken[] = []
  private readonly refreshTokens: RefreshToken[] = []

  constructor(service: TestService, store: TestStore) {
    this.service = service
    this.store = store
    this.browsers = Array.from({ length: BROWSERS }, () => new TestBrowser(service))
  }

  private get now(): number {
    return this.store.clock.now() / 1_000
  }

  async take(act: Act): Promise<void> {
    switch (act.does) {
      case 'sign in':
        return this.signIn(act.browser, act.client, act.person)
      case 'sign in silently':
        return this.signInSilently(act.browser, act.client)
      case 'exchange':
        return this.onNth(this.codes, act.n, (code) => this.exchange(code))
      case 'refresh':
        return this.onNth(this.refreshTokens, act.n, (token) => this.refresh(token))
      case 'revoke':
        return this.onNth(this.refreshTokens, act.n, (token) => this.revoke(token))
      case 'revoke access':
        return this.onNth(this.access, act.n, (token) => this.revokeAccess(token))
      case 'look':
        await this.onNth(this.access, act.n, (token) => this.look(token))
        return this.onNth(this.refreshTokens, act.n, (token) => this.lookAtRefreshToken(token))
      case 'use a device':
        return this.useDevice(act.browser)
      case 'end session':
        return this.onNth(this.sessions, act.n, ({ sid, session }) => this.endSession(act.browser, sid, session))
      case 'sign out':
      case 'end everything':
        return this.signOut(act.browser, act.does === 'end everything')
      case 'wait':
        return this.store.clock.advance(act.seconds)
    }
  }

  /** Every token there ever was is as it must be. */
  async lookAtAll(): Promise<void> {
    for (const token of this.access) await this.look(token)
    for (const token of this.refreshTokens) await this.lookAtRefreshToken(token)
  }

  private async onNth<T>(of: readonly T[], n: number, work: (one: T) => Promise<void>): Promise<void> {
    const one = of[of.length - 1 - (n % Math.max(of.length, 1))]
    if (one !== undefined) await work(one)
  }

  private browser(n: number): TestBrowser {
    return this.browsers[n] ?? new TestBrowser(this.service)
  }

  private async signIn(n: number, client: string, person: string): Promise<void> {
    const code = (await signIn(this.browser(n), asked(client), person)).searchParams.get('code')
    this.begin(n, person)
    this.issued(n, client, code)
  }

  /** One person's stays theirs, with its time renewed. Another's ends, and with it what it opened. */
  private begin(n: number, person: string): void {
    const standing = this.signIns[n]
    if (standing !== undefined && stands(standing, this.now)) {
      if (standing.person === person) {
        standing.authTime = this.now
        return
      }
      this.ended(standing)
    }
    const begun = { person, authTime: this.now, ended: false }
    this.signIns[n] = begun
    this.allSignIns.push(begun)
  }

  private ended(signIn: SignIn): void {
    signIn.ended = true
    for (const { session } of this.sessions) if (session.signIn === signIn) session.ended = true
  }

  private issued(n: number, client: string, code: string | null): void {
    const signIn = this.signIns[n]
    if (code === null || signIn === undefined) throw new Error('no code was issued')
    this.codes.push({ code, client, signIn, authTime: signIn.authTime, expires: this.now + LIMITS.code, opened: null })
  }

  private async signInSilently(n: number, client: string): Promise<void> {
    const answer = await this.browser(n).get(await authorizeUrl({ ...asked(client), prompt: 'none' }))
    expect(codeIn(answer) !== null).toBe(isSilent(this.signIns[n], this.now))
    if (codeIn(answer) !== null) this.issued(n, client, codeIn(answer))
  }

  private async exchange(code: Code): Promise<void> {
    const verdict = judgeCode(code, this.now)
    const answer = await exchange(this.service, code.code, asked(code.client), proof(code.client))
    expect([verdict, answer.status]).toEqual([verdict, verdict === 'opens' ? 200 : 400])
    if (verdict === 'ends' && code.opened !== null) {
      code.opened.session.ended = true
      code.opened.revoked = true
    }
    if (verdict === 'opens') {
      const { client, signIn, authTime } = code
      code.opened = this.opened({ person: signIn.person, client, signIn, authTime, ended: false }, await answer.json())
    }
  }

  private opened(session: Session, tokens: Tokens): AccessToken {
    this.sessions.push({ sid: String(claimsOf(tokens.id_token).sid), session })
    this.refreshTokens.push(this.issuedRefresh(session, tokens))
    return this.issuedAccess(session, tokens)
  }

  private issuedAccess(session: Session, { access_token: token }: Tokens): AccessToken {
    const issued = { token, session, expires: this.until(session, LIMITS.token), revoked: false }
    this.access.push(issued)
    return issued
  }

  private issuedRefresh(session: Session, { refresh_token: token }: Tokens): RefreshToken {
    return { token, session, expires: this.until(session, LIMITS.idle), spent: null }
  }

  private until({ authTime }: Session, lifetime: number): number {
    return Math.min(this.now + lifetime, authTime + LIMITS.absolute)
  }

  private async refresh(presented: RefreshToken): Promise<void> {
    const { session } = presented
    const verdict = judge(presented, this.now)
    const answer = await refresh(this.service, presented.token, { client_id: session.client }, proof(session.client))
    expect([verdict.is, answer.status]).toEqual([verdict.is, verdict.is === 'refused' || verdict.is === 'reuse' ? 400 : 200])
    if (verdict.is === 'reuse') session.ended = true
    if (answer.status !== 200) return
    const tokens = await answer.json<Tokens>()
    if (verdict.is === 'answered') expect(tokens.refresh_token).toBe(verdict.with.token)
    else {
      const successor = this.issuedRefresh(session, tokens)
      presented.spent = { at: this.now, successor }
      this.refreshTokens.push(successor)
    }
    this.issuedAccess(session, tokens)
  }

  private async revoke(token: RefreshToken): Promise<void> {
    const { session, spent } = token
    const answer = await revoke(this.service, token.token, { client_id: session.client }, proof(session.client))
    expect(answer.status).toBe(200)
    if (spent !== null || isLive(token, this.now)) session.ended = true
  }

  private async revokeAccess(token: AccessToken): Promise<void> {
    const { client } = token.session
    expect((await post(this.service, '/revoke', { token: token.token, client_id: client }, proof(client))).status).toBe(200)
    token.revoked = true
  }

  private async look(token: AccessToken): Promise<void> {
    const must = isAccepted(token, this.now)
    expect((await userinfo(this.service, token.token)).status).toBe(must ? 200 : 401)
    if (token.session.client === 'backend') expect(await introspected(this.service, token.token, 'backend')).toHaveProperty('active', must)
  }

  private async lookAtRefreshToken(token: RefreshToken): Promise<void> {
    if (token.session.client !== 'backend') return
    expect(await introspected(this.service, token.token, 'backend')).toHaveProperty('active', isLive(token, this.now))
  }

  private async useDevice(n: number): Promise<void> {
    await this.signIn(n, 'demo', ADA)
    const { device_code, user_code } = await beginDevice(this.service)
    expect(await (await poll(this.service, device_code)).json()).toMatchObject({ error: 'authorization_pending' })
    await answerDevice(this.browser(n), user_code)
    const session = { person: ADA, client: 'native', signIn: null, authTime: this.now, ended: false }
    this.opened(session, await (await poll(this.service, device_code)).json())
    expect((await poll(this.service, device_code)).status).toBe(400)
  }

  private async endSession(n: number, sid: string, session: Session): Promise<void> {
    const signIn = this.signIns[n]
    await this.browser(n).post('/account', { session: sid })
    if (isSilent(signIn, this.now) && signIn.person === session.person) session.ended = true
  }

  private async signOut(n: number, everything: boolean): Promise<void> {
    const signIn = this.signIns[n]
    if (!isSilent(signIn, this.now)) {
      expect((await this.browser(n).post('/account', { everything: 'yes' })).status).toBe(303) // to sign in
      return
    }
    const form = everything ? { everything: 'yes' } : { sign_in: await this.shownSignIn(n) }
    expect((await this.browser(n).post('/account', form)).status).toBe(200)
    this.ended(signIn)
    if (!everything) return
    for (const one of this.allSignIns) if (one.person === signIn.person) one.ended = true
    for (const { session } of this.sessions) if (session.person === signIn.person) session.ended = true
  }

  /** The sign-in that /account shows first: this browser's. */
  private async shownSignIn(n: number): Promise<string> {
    const html = await (await this.browser(n).get('/account')).text()
    return /name="sign_in" value="([^"]+)"/.exec(html)?.[1] ?? ''
  }
}

/** As many as a minute of CI allows; each is a store of its own. */
const RUNS: Record<Engine, number> = { memory: 1_000, 'durable-object': 25, dynamodb: 25 }

it.each(engines)(
  'whatever a person does with clients, browsers and time on %s, each token is accepted exactly as long as it may be',
  async (engine) => {
    await fc.assert(
      fc.asyncProperty(acts, async (acts) => {
        const store = await clientStore(engine)
        const machine = new Machine(await warmIsolate(store), store)
        await machine.take({ does: 'sign in', browser: 0, client: 'backend', person: ADA })
        await machine.take({ does: 'exchange', n: 0 })
        for (const act of acts) await machine.take(act)
        await machine.lookAtAll()
      }),
      { numRuns: RUNS[engine] },
    )
  },
  180_000,
)
