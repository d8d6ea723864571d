import { readSignInCookie } from '../http/cookies.ts'
import type { Found } from '../records/record.ts'
import { findSignInByCookie, type SignIn } from '../records/sign-in.ts'
import { cookieHash } from './authorize/begin-sign-in.ts'
import { type Issuer, nowSeconds } from './issuer.ts'

/**
 * Who is signed in in this browser, as far as pages of ours are concerned.
 *
 * @param within seconds since they were proved; without it, as long as a sign-in completes others silently
 */
export async function signedInPerson(request: Request, issuer: Issuer, within?: number): Promise<Found<SignIn> | null> {
  const found = await browserSignIn(request, issuer)
  if (found === null) return null
  const { silent_until, auth_time } = found.value
  const until = within === undefined ? silent_until : Math.min(silent_until, auth_time + within)
  return nowSeconds(issuer) < until ? found : null
}

/** The live sign-in this browser's cookie stands for, also when it completes nothing silently any more: a late sign-out still ends it. */
export async function browserSignIn(request: Request, issuer: Issuer): Promise<Found<SignIn> | null> {
  const cookie = readSignInCookie(request, issuer.url)
  return cookie === undefined ? null : findSignInByCookie(issuer.state, await cookieHash(cookie), issuer.log)
}
