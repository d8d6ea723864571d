import { declared } from '../config/policy.ts'
import { pageResponse } from '../http/page.tsx'
import { queryParameters } from '../http/parameters.ts'
import { type Issuer, requestGone } from '../issuer/authorize/complete.ts'
import { signInPage } from '../pages/sign-in.tsx'
import { personId } from '../ports/keys.ts'
import { pendingRequest } from './pending-request.ts'
import type { WaysIn } from './sign-in.ts'

/** `GET /login?auth=<request>`: the ways to sign in for a request that waits. */
export async function chooser(request: Request, issuer: Issuer, ways: WaysIn): Promise<Response> {
  const auth = queryParameters(request).get('auth')
  const pending = await pendingRequest(request, auth, issuer)
  if (pending === null) return requestGone(issuer)

  const { id, request: asked, hint_subject } = pending.value
  const client = declared(issuer.policy.clients, asked.client_id)
  const people = (ways.picker ?? []).filter((person) => !person.suspended)
  const page = signInPage({
    auth: id,
    client: { name: client?.display_name ?? (asked.client_id || issuer.site.name), description: client?.description },
    redirectUri: asked.redirect_uri,
    people: people.map((person) => ({ email: personId(person.email), name: nameOf(person) })),
    loginHint: hint_subject ?? asked.login_hint,
  })
  return pageResponse(page, { site: issuer.site, formActionTo: asked.redirect_uri })
}

function nameOf({ given_name, family_name, email }: NonNullable<WaysIn['picker']>[number]): string {
  return [given_name, family_name].filter(Boolean).join(' ') || email
}
