import { readForm } from '../http/body.ts'
import { invalidRequest } from '../http/oauth-error.ts'
import { pageResponse } from '../http/page.tsx'
import type { Parameters } from '../http/parameters.ts'
import { requireSameOrigin } from '../http/same-origin.ts'
import { endSession, endSessions } from '../logout/endings.ts'
import { framesOf, signOut, withoutCookie } from '../logout/sign-out.ts'
import { type AccountSession, accountPage } from '../pages/account.tsx'
import type { Page } from '../pages/layout.tsx'
import { signedOutPage } from '../pages/signed-out.tsx'
import { audienceOf } from '../policy/admission.ts'
import { absoluteEnd } from '../policy/lifetimes.ts'
import { type PersonId, personId } from '../ports/keys.ts'
import type { Session } from '../records/session.ts'
import { listSessions } from '../records/sessions.ts'
import { listSignIns, type SignIn } from '../records/sign-in.ts'
import { signInFor } from './authorize/send-to-sign-in.ts'
import type { Issuer } from './issuer.ts'
import { sessionView } from './sessions/view.ts'
import { signedInPerson } from './signed-in.ts'

/** `GET /account`: a person's sign-ins and sessions, what each is, and a button to end it. */
export async function account(request: Request, issuer: Issuer): Promise<Response> {
  const here = await signedInPerson(request, issuer)
  if (here === null) return signInFor('/account', request, issuer)
  const person = personId(here.value.identity)
  const [signIns, sessions] = await Promise.all([listSignIns(issuer, person, issuer.log), listSessions(issuer, person, issuer.log)])
  const shown = (wanted: (session: Session) => boolean) => sessions.filter(wanted).map((session) => shownSession(session, issuer))
  const page = accountPage({
    person,
    signIns: thisFirst(signIns, here.value.id).map((signIn) => ({
      id: signIn.id,
      how: signIn.how,
      since: moment(signIn.auth_time),
      here: signIn.id === here.value.id,
      sessions: shown(({ sso }) => sso === signIn.id),
    })),
    devices: shown(({ sso }) => sso === undefined),
    left: shown(({ sso }) => sso !== undefined && !signIns.some(({ id }) => id === sso)),
  })
  return pageResponse(page, { site: issuer.site })
}

/**
 * `POST /account`: ends one session, one sign-in and what it opened, or everything.
 *
 * @throws Refusal 403 (another site's form). OAuthError invalid_request. PortError Unavailable: what is left is ended by the next tick
 */
export async function endOnAccount(request: Request, issuer: Issuer): Promise<Response> {
  requireSameOrigin(request, issuer.url)
  const form = await readForm(request)
  const here = await signedInPerson(request, issuer)
  if (here === null) return signInFor('/account', request, issuer)
  const person = personId(here.value.identity)
  const page = await end(form, person, here.value, issuer)
  if (page === null) return new Response(null, { status: 303, headers: { location: `${issuer.url}/account` } })
  return pageResponse(page, { site: issuer.site, headers: withoutCookie(request, issuer.url) })
}

/** The page that says so, when the sign-in of this browser has ended with it. */
async function end(form: Parameters, person: PersonId, here: SignIn, issuer: Issuer): Promise<Page | null> {
  const by = { person, cause: 'sign_out' as const, by: person }
  const session = form.get('session')
  const signIn = form.get('sign_in')
  if (session !== undefined) {
    await endSession({ ...by, sid: session }, issuer)
    return null
  }
  if (signIn === here.id) return signedOutPage({ frames: await signOut(here, issuer) })
  if (signIn !== undefined) {
    const own = (await listSignIns(issuer, person, issuer.log)).some(({ id }) => id === signIn)
    if (own) await endSessions({ ...by, which: { of: 'sign_ins', ids: [signIn] } }, issuer)
    return null
  }
  if (form.get('everything') === undefined) throw invalidRequest('session, sign_in or everything is missing')
  const frames = await framesOf(here, issuer)
  await endSessions({ ...by, which: { of: 'everything' } }, issuer)
  return signedOutPage({ frames, everywhere: true })
}

function shownSession(session: Session, issuer: Issuer): AccountSession {
  const { sid, client_name, how, issued_at } = sessionView(session, issuer.policy)
  const on = how === 'device' ? 'a device' : 'a browser'
  return { sid, client: client_name, on, since: moment(issued_at), until: moment(untilAtMost(session, issuer)) }
}

function thisFirst(signIns: readonly SignIn[], here: string): SignIn[] {
  return [...signIns].sort((a, b) => Number(b.id === here) - Number(a.id === here) || b.auth_time - a.auth_time)
}

function untilAtMost({ client_id, resource, auth_time }: Session, { policy }: Issuer): number {
  const audience = audienceOf(policy, client_id, resource)
  return audience === null ? auth_time : absoluteEnd(policy, audience, auth_time)
}

/** `30 Nov 2026, 19:55 UTC`: the Worker does not know the reader's time zone. */
function moment(seconds: number): string {
  const text = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' }).format(seconds * 1000)
  return `${text} UTC`
}
