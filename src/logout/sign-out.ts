import type { Policy } from '../config/policy.ts'
import { clearCookie, readCookie, ssoCookie } from '../http/cookies.ts'
import type { Site } from '../pages/site.ts'
import { type PersonId, personId } from '../ports/keys.ts'
import { listSessions } from '../records/sessions.ts'
import type { SignIn } from '../records/sign-in.ts'
import type { EndingParts } from './ending-parts.ts'
import { endSessions } from './endings.ts'
import { type FrontChannelTarget, frontChannelFrames } from './front-channel.ts'

/** What signing a browser out works with. */
export interface SignOutParts extends EndingParts {
  /** The issuer identifier. */
  url: string
  site: Site
  policy: Policy
  /** The live sign-in that this request's cookie proves, also one that completes no others silently any more. */
  browserSignIn(request: Request): Promise<SignIn | null>
}

/**
 * Signs a browser out: its sign-in ends, and every session opened under it. Devices rest on no sign-in and stay. Clients told through the
 * browser are listed first, since nothing is left to list them by afterwards.
 *
 * @returns the addresses the signed-out page loads in frames
 * @throws PortError Unavailable: nothing may be claimed; what an ending that was written down leaves, the next tick ends
 */
export async function signOut(signIn: SignIn, parts: Omit<SignOutParts, 'browserSignIn' | 'site'>): Promise<string[]> {
  const person = personId(signIn.identity)
  const frames = await framesOf(signIn, parts)
  await endSessions({ person, which: { of: 'sign_ins', ids: [signIn.id] }, cause: 'sign_out', by: person }, parts)
  return frames
}

/** What a signed-out page loads for the sessions under a sign-in that is about to end. Reads nothing where no client is told this way. */
export async function framesOf(signIn: SignIn, parts: Pick<SignOutParts, 'url' | 'policy' | 'state' | 'index' | 'log'>): Promise<string[]> {
  const isTold = Object.values(parts.policy.clients).some((client) => client.frontchannel_logout_uri !== undefined)
  return isTold ? frontChannelFrames(await targetsUnder(signIn.id, personId(signIn.identity), parts), parts) : []
}

async function targetsUnder(
  id: string,
  person: PersonId,
  parts: Pick<SignOutParts, 'state' | 'index' | 'log'>,
): Promise<FrontChannelTarget[]> {
  const sessions = await listSessions(parts, person, parts.log)
  return sessions.filter(({ sso }) => sso === id).map((session) => ({ client_id: session.client_id, sid: session.id }))
}

/** The header that takes the sign-in's cookie away, also one that stands for nothing any more; none when the browser has none. */
export function withoutCookie(request: Request, url: string): Record<string, string> {
  const cookie = ssoCookie(url)
  return readCookie(request, cookie) === undefined ? {} : { 'set-cookie': clearCookie(cookie) }
}
