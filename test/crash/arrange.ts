import type { Adapters } from '../../src/compose.ts'
import { sha256Hex } from '../../src/crypto/digest.ts'
import { cookieHash } from '../../src/issuer/authorize/begin-sign-in.ts'
import { isPortError } from '../../src/ports/error.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { findCode } from '../../src/records/authorization-code.ts'
import { findSession, type Session } from '../../src/records/session.ts'
import { findSignIn, findSignInByCookie, markSignInEnded, type SignIn } from '../../src/records/sign-in.ts'
import { authorizeUrl, exchange, signIn, startService, TestBrowser, type TestService, type TestStore, userinfo } from '../flows/harness.ts'

export const ADA = 'ada@acme.example'
export const GRACE = 'grace@acme.example'
export const SSO_COOKIE = 'sluis_sso' // on loopback it has no __Host-

/** An isolate that has signed before: its caches hold the keys, so that what is counted or broken is the flow's own. */
export async function warmIsolate(store: TestStore, wrap?: (adapters: Adapters) => Adapters): Promise<TestService> {
  const service = startService(store, wrap)
  const { keyring } = service.services.issuer
  const iat = Math.floor(store.clock.now() / 1000)
  await keyring.sign(keyring.defaultAlg, 'at+jwt', { iat, exp: iat + 60 })
  return service
}

/** A fresh code for a person who signs in in a browser of their own, unless one is given. */
export async function freshCode(service: TestService, browser = new TestBrowser(service), person = ADA): Promise<string> {
  const code = (await signIn(browser, {}, person)).searchParams.get('code')
  if (code === null) throw new Error('the redirect has no code')
  return code
}

/** Begins an authorization in a browser: the id of the request that waits for a person. */
export async function waitingRequest(browser: TestBrowser): Promise<string> {
  const answer = await browser.get(await authorizeUrl())
  const auth = new URL(answer.headers.get('location') ?? '', 'http://localhost').searchParams.get('auth')
  if (auth === null) throw new Error(`no request waits: ${answer.status}`)
  return auth
}

/** What an attempt at the token endpoint came to; `stopped`: its process died. */
export type Redemption = { status: number; error?: string; access_token?: string; refresh_token?: string } | 'stopped'

export async function redemption(answer: Response | 'stopped'): Promise<Redemption> {
  return answer === 'stopped' ? 'stopped' : { status: answer.status, ...(await answer.json<object>()) }
}

/** Presents a code as clients do: again when told to try later, at most five times. */
export async function redeem(service: TestService, code: string, changes: Record<string, string> = {}): Promise<Redemption> {
  let answer = await exchange(service, code, changes)
  for (let retry = 0; retry < 5 && answer.status === 503; retry++) answer = await exchange(service, code, changes)
  return redemption(answer)
}

export function tokenOf(answer: Redemption): string | undefined {
  return answer === 'stopped' ? undefined : answer.access_token
}

/** Every access token the isolate signs from now on, handed out or not. */
export function signedTokens(service: TestService): string[] {
  const { issuer } = service.services
  const { keyring } = issuer
  const signed: string[] = []
  issuer.keyring = {
    ...keyring,
    async sign(alg, typ, claims) {
      const token = await keyring.sign(alg, typ, claims)
      if (typ === 'at+jwt') signed.push(token)
      return token
    },
  }
  return signed
}

/** Which of these access tokens userinfo accepts; any other answer than yes or no is an error. */
export async function accepted(service: TestService, tokens: readonly string[]): Promise<string[]> {
  const answers = await Promise.all(tokens.map((token) => userinfo(service, token)))
  return tokens.filter((_, at) => {
    const status = answers[at]?.status
    if (status !== 200 && status !== 401) throw new Error(`userinfo answered ${status}`)
    return status === 200
  })
}

/** The live sessions of a person. */
export async function sessionsOf(service: TestService, person = ADA): Promise<Session[]> {
  const { state, log } = service.services.issuer
  const found: Session[] = []
  for (let page: string | undefined, first = true; first || page !== undefined; first = false) {
    const part = await state.list(keys.sessionsOf(personId(person)), { page })
    const sids = part.entries.map(({ key }) => key.slice(keys.sessionsOf(personId(person)).length))
    for (const sid of sids) {
      const session = await findSession(state, personId(person), sid, log)
      if (session !== null) found.push(session.value)
    }
    page = part.next
  }
  return found
}

/** The live sign-in a browser's cookie stands for, or null. */
export async function signInOf(service: TestService, browser: TestBrowser): Promise<SignIn | null> {
  const { state, log } = service.services.issuer
  const cookie = browser.cookies.get(SSO_COOKIE)
  return cookie === undefined ? null : ((await findSignInByCookie(state, await cookieHash(cookie), log))?.value ?? null)
}

/** The sign-in that a live code was issued under. */
export async function signInOfCode(service: TestService, code: string): Promise<string> {
  const { state, log } = service.services.issuer
  const found = await findCode(state, await sha256Hex(code), log)
  if (found === null) throw new Error('the code is not live')
  return found.sso
}

/** What a sign-out does first: from here on nothing new rests on the sign-in. One that moved meanwhile is read again. */
export async function endSignIn(service: TestService, id: string): Promise<void> {
  const { state, log, clock } = service.services.issuer
  for (let found = await findSignIn(state, id, log); found !== null; found = await findSignIn(state, id, log)) {
    const ttl = found.value.expires_at - Math.floor(clock.now() / 1000)
    try {
      return await markSignInEnded(state, found, { ms: clock.now(), ttl })
    } catch (error) {
      if (!isPortError(error, 'Conflict')) throw error
    }
  }
}

/** What a sign-out does after that: it lists the person's sessions and ends those under the sign-in. */
export async function endSessionsUnder(service: TestService, id: string, person = ADA): Promise<void> {
  const { state } = service.services.issuer
  for (const session of await sessionsOf(service, person)) {
    if (session.sso !== id) continue
    await Promise.all([state.delete(keys.session(personId(person), session.id)), state.delete(keys.sessionPointer(session.id))])
  }
}

/** Picks a person for a request that waits. */
export function pick(browser: TestBrowser, auth: string, person = ADA): Promise<Response> {
  return browser.post('/login/picker', { auth, person })
}

/** The code that a completed sign-in sends to the client; null for any other answer. */
export function codeIn(answer: Response): string | null {
  return new URL(answer.headers.get('location') ?? 'about:blank').searchParams.get('code')
}

/** Another tab, answered by an isolate of its own: it comes with the cookies the browser has now. */
export function anotherTab(browser: TestBrowser, service: TestService): TestBrowser {
  const tab = new TestBrowser(service)
  for (const [name, value] of browser.cookies) tab.cookies.set(name, value)
  return tab
}

/** One browser, answered by whichever isolate it was moved to last. */
export function roaming(service: TestService): { browser: TestBrowser; moveTo(other: TestService): void } {
  let current = service
  const browser = new TestBrowser({ ...service, fetch: (input, init) => current.fetch(input, init) })
  return {
    browser,
    moveTo(other) {
      current = other
    },
  }
}
