import { pageResponse } from '../http/page.tsx'
import { requireSameOrigin } from '../http/same-origin.ts'
import { signOutPage } from '../pages/sign-out.tsx'
import { signedOutPage } from '../pages/signed-out.tsx'
import { land, seeOther } from './landing.ts'
import { type SignOutParts, signOut, withoutCookie } from './sign-out.ts'

/** `GET /logout`: asks, since a link anybody can make leads here. Who is not signed in has nothing to be asked. */
export async function askToSignOut(request: Request, parts: SignOutParts): Promise<Response> {
  const signIn = await parts.browserSignIn(request)
  if (signIn === null) return land({ headers: withoutCookie(request, parts.url) }, parts)
  return pageResponse(signOutPage({ person: signIn.identity, action: '/logout', fields: {} }), { site: parts.site })
}

/**
 * `POST /logout`: signs this browser out.
 *
 * @throws Refusal 403 (another site's form). PortError Unavailable: the cookie is kept, nothing is claimed
 */
export async function signOutHere(request: Request, parts: SignOutParts): Promise<Response> {
  requireSameOrigin(request, parts.url)
  const signIn = await parts.browserSignIn(request)
  const frames = signIn === null ? [] : await signOut(signIn, parts)
  return land({ frames, headers: withoutCookie(request, parts.url) }, parts)
}

/** `GET /signed-out`: where a sign-out ends that was asked for by no client. It says so only where it is so. */
export async function signedOut(request: Request, parts: SignOutParts): Promise<Response> {
  if ((await parts.browserSignIn(request)) !== null) return seeOther(`${parts.url}/account`)
  return pageResponse(signedOutPage({ frames: [] }), { site: parts.site })
}
