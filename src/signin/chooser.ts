import { declared } from '../config/policy.ts'
import { pageResponse } from '../http/page.tsx'
import { queryParameters } from '../http/parameters.ts'
import { type Issuer, requestGone } from '../issuer/authorize/complete.ts'
import { signInPage } from '../pages/sign-in.tsx'
import { personId } from '../ports/keys.ts'
import { pendingRequest } from './pending-request.ts'
import type { WaysIn } from './sign-in.ts'
import { startPath, type UpstreamProvider } from './upstream/providers.ts'

/**
 * `GET /login?auth=<request>`: the ways to sign in for a request that waits. Where the company's provider is the only one there is nothing to
 * choose, and the browser goes straight on to it.
 */
export async function chooser(request: Request, issuer: Issuer, ways: WaysIn): Promise<Response> {
  const auth = queryParameters(request).get('auth')
  const pending = await pendingRequest(request, auth, issuer)
  if (pending === null) return requestGone(issuer)

  const { id, request: asked, hint_subject, own } = pending.value
  // Consent is a sign-in on the page that names the client; and a form of a page of ours goes to no other origin, redirects included.
  const only = own === true || asked.prompt?.includes('consent') === true ? null : onlyProvider(ways)
  if (only !== null) return new Response(null, { status: 303, headers: { location: startPath(only, id) } })

  const client = declared(issuer.policy.clients, asked.client_id)
  const people = ways.picker?.filter((person) => !person.suspended)
  const page = signInPage({
    auth: id,
    client: { name: client?.display_name ?? (asked.client_id || issuer.site.name), description: client?.description },
    redirectUri: asked.redirect_uri,
    people: people?.map((person) => ({ email: personId(person.email), name: nameOf(person) })),
    loginHint: hint_subject ?? asked.login_hint,
    providers: ways.upstream.map((provider) => ({ name: provider.name, start: startPath(provider, id) })),
    accounts: ways.password?.accounts ?? [],
  })
  return pageResponse(page, { site: issuer.site, formActionTo: asked.redirect_uri })
}

function onlyProvider({ picker, upstream, password }: WaysIn): UpstreamProvider | null {
  const [first, ...others] = upstream
  return first !== undefined && others.length === 0 && picker === null && password === null ? first : null
}

function nameOf({ given_name, family_name, email }: NonNullable<WaysIn['picker']>[number]): string {
  return [given_name, family_name].filter(Boolean).join(' ') || email
}
