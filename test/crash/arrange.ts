import type { Adapters } from '../../src/compose.ts'
import { authorizeUrl, exchange, signIn, startService, TestBrowser, type TestService, type TestStore } from '../flows/harness.ts'

export const ADA = 'ada@acme.example'
export const GRACE = 'grace@acme.example'
export const KATHERINE = 'katherine@acme.example'

/** Port calls of an exchange with offline_access that nothing befalls: 5 writes and 2 reads, of which the last reads the sign-in. */
export const EXCHANGE_CALLS = 7

/** `first` to `last`, both included. */
export function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, n) => first + n)
}

/** An isolate that has signed before, and knows the state secret: its caches are full, so that what is counted or broken is the flow's own. */
export async function warmIsolate(store: TestStore, wrap?: (adapters: Adapters) => Adapters): Promise<TestService> {
  const service = startService(store, wrap)
  const { keyring } = service.services.issuer
  const iat = Math.floor(store.clock.now() / 1000)
  await keyring.sign(keyring.defaultAlg, 'at+jwt', { iat, exp: iat + 60 })
  await service.services.stateSecret.pass()
  return service
}

/** A fresh code for a person who signs in in a browser of their own, unless one is given. */
export async function freshCode(service: TestService, browser = new TestBrowser(service), person = ADA): Promise<string> {
  const code = (await signIn(browser, {}, person)).searchParams.get('code')
  if (code === null) throw new Error('the redirect has no code')
  return code
}

/** Begins an authorization in a browser: the id of the request that waits for a person. */
export async function waitingRequest(browser: TestBrowser, changes: Record<string, string> = {}): Promise<string> {
  const answer = await browser.get(await authorizeUrl({ prompt: 'login', ...changes }))
  const auth = new URL(answer.headers.get('location') ?? '', 'http://localhost').searchParams.get('auth')
  if (auth === null) throw new Error(`no request waits: ${answer.status}`)
  return auth
}

/** Picks a person for a request that waits. */
export function pick(browser: TestBrowser, auth: string, person = ADA): Promise<Response> {
  return browser.post('/login/picker', { auth, person })
}

/** The code that a completed sign-in sends to the client; null in any other answer. */
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

/** What an attempt at the token endpoint came to; `stopped`: its process died. */
export type Redemption = { status: number; error?: string; access_token?: string } | 'stopped'

export const INVALID_GRANT = { status: 400, error: 'invalid_grant' }

export async function redemption(answer: Response | 'stopped'): Promise<Redemption> {
  return answer === 'stopped' ? 'stopped' : { status: answer.status, ...(await answer.json<object>()) }
}

/** Presents a code as clients do: again when told to try later, at most five times. */
export async function redeem(service: TestService, code: string): Promise<Redemption> {
  let answer = await exchange(service, code)
  for (let retry = 0; retry < 5 && answer.status === 503; retry++) answer = await exchange(service, code)
  return redemption(answer)
}

/** The access tokens handed out with these answers. */
export function handedOut(...answers: readonly Redemption[]): string[] {
  return answers.flatMap((answer) => (answer === 'stopped' || answer.access_token === undefined ? [] : answer.access_token))
}
