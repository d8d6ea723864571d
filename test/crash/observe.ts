import { sha256Hex } from '../../src/crypto/digest.ts'
import { cookieHash } from '../../src/issuer/authorize/begin-sign-in.ts'
import { keys, personId } from '../../src/ports/keys.ts'
import { findCode } from '../../src/records/authorization-code.ts'
import { findSession, type Session } from '../../src/records/session.ts'
import { findSignIn, findSignInByCookie, type SignIn } from '../../src/records/sign-in.ts'
import { type TestBrowser, type TestService, userinfo } from '../flows/harness.ts'
import { ADA } from './arrange.ts'

const SSO_COOKIE = 'sluis_sso' // on a loopback issuer it has no __Host-

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

/** Which of these access tokens userinfo accepts. @throws Error: it says neither yes nor no */
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
  const prefix = keys.sessionsOf(personId(person))
  const { entries, next } = await state.list(prefix, { limit: 1_000 })
  if (next !== undefined) throw new Error('one test has over a thousand sessions')
  const found = await Promise.all(entries.map(({ key }) => findSession(state, personId(person), key.slice(prefix.length), log)))
  return found.flatMap((session) => (session === null ? [] : session.value))
}

/** The live sign-in a browser's cookie stands for, or null. */
export async function signInOf(service: TestService, browser: TestBrowser): Promise<SignIn | null> {
  const { state, log } = service.services.issuer
  const cookie = browser.cookies.get(SSO_COOKIE)
  return cookie === undefined ? null : ((await findSignInByCookie(state, await cookieHash(cookie), log))?.value ?? null)
}

/** The id of the sign-in that a live code was issued under. */
export async function signInOfCode(service: TestService, code: string): Promise<string> {
  const { state, log } = service.services.issuer
  const found = await findCode(state, await sha256Hex(code), log)
  if (found === null) throw new Error('the code is not live')
  return found.sso
}

export async function isSignedIn(service: TestService, signIn: string): Promise<boolean> {
  const { state, log } = service.services.issuer
  return (await findSignIn(state, signIn, log)) !== null
}

/** Which of these keys a live record stands at. */
export async function standing(service: TestService, of: readonly string[]): Promise<string[]> {
  const entries = await Promise.all(of.map((key) => service.services.issuer.state.get(key)))
  return of.filter((_, at) => entries[at] !== null)
}
