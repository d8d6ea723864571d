import { readForm } from '../http/body.ts'
import { invalidRequest, OAuthError } from '../http/oauth-error.ts'
import { pageResponse } from '../http/page.tsx'
import { type Parameters, queryParameters } from '../http/parameters.ts'
import { Refusal } from '../http/refusal.ts'
import { isSameOrigin } from '../http/same-origin.ts'
import { signOutPage } from '../pages/sign-out.tsx'
import type { SignIn } from '../records/sign-in.ts'
import { askingClient } from './end-session/asking-client.ts'
import { type Hint, type HintParts, idTokenHint } from './end-session/id-token-hint.ts'
import { isOfSignIn } from './end-session/own-hint.ts'
import { postLogoutRedirectUri } from './end-session/post-logout-redirect-uri.ts'
import { land, seeOther } from './landing.ts'
import { type SignOutParts, signOut, withoutCookie } from './sign-out.ts'

export interface EndSessionParts extends SignOutParts, HintParts {
  /** Where this endpoint is: the confirmation's form is sent back to it. */
  path: string
}

/**
 * The end session endpoint (OpenID Connect RP-Initiated Logout 1.0). What ends is the sign-in that the browser's cookie proves, or nothing;
 * the request only says whether to ask first, and where the person goes then. Nothing ends before all of it is checked.
 *
 * @throws Refusal 400 invalid_request: nothing has ended. PortError Unavailable: the cookie is kept, nothing is claimed
 */
export async function answerEndSession(request: Request, parts: EndSessionParts): Promise<Response> {
  try {
    const isPost = request.method === 'POST'
    const parameters = isPost ? await readForm(request, RULES) : queryParameters(request, RULES)
    const fields = fieldsOf(parameters)
    // Lax cookies don't come with a cross-site POST: by GET they do.
    if (isPost && !isSameOrigin(request, parts.url)) return seeOther(`${parts.url}${parts.path}?${new URLSearchParams(fields)}`)
    return await answerAsked(request, { ...(await check(parameters, parts)), fields }, parts)
  } catch (error) {
    throw error instanceof OAuthError ? nothingEnded(error, parts.url) : error
  }
}

/** A request that has passed its checks. */
interface Asked {
  hint: Hint | undefined
  /** What people call the client that asks. */
  client: string | undefined
  returnTo: { url: string; client: string } | undefined
  /** What was sent of what this endpoint knows: the confirmation sends it again, and it is checked again. */
  fields: Record<string, string>
}

async function check(parameters: Parameters, parts: EndSessionParts): Promise<Omit<Asked, 'fields'>> {
  const hint = await idTokenHint(parameters, parts)
  const asking = askingClient(parameters, hint, parts.policy)
  const url = postLogoutRedirectUri(parameters, asking)
  return { hint, client: asking?.name, returnTo: asking === null || url === undefined ? undefined : { url, client: asking.name } }
}

async function answerAsked(request: Request, asked: Asked, parts: EndSessionParts): Promise<Response> {
  const { hint, returnTo } = asked
  const headers = withoutCookie(request, parts.url)
  const signIn = await parts.browserSignIn(request)
  if (signIn === null) return land({ returnTo, headers }, parts)
  if (!(await mayEnd(request, hint, signIn, parts))) return confirmation(asked, signIn, parts)
  return land({ frames: await signOut(signIn, parts), returnTo, headers }, parts)
}

/** A POST that got here is of our confirmation. HEAD is asked by what looks and does not act (RFC 9110 section 9.2.1). */
async function mayEnd(request: Request, hint: Hint | undefined, signIn: SignIn, parts: EndSessionParts): Promise<boolean> {
  if (request.method === 'POST') return true
  return request.method === 'GET' && hint !== undefined && isOfSignIn(hint, signIn, parts)
}

function confirmation({ client, fields, returnTo }: Asked, { identity }: SignIn, { site, path }: EndSessionParts): Promise<Response> {
  const page = signOutPage({ person: identity, client, action: path, fields })
  return pageResponse(page, { site, ...(returnTo === undefined ? {} : { formActionTo: returnTo.url }) })
}

/**
 * What this endpoint knows (OpenID Connect RP-Initiated Logout 1.0 section 2). `logout_hint` and `ui_locales` change nothing: a browser has
 * one sign-in, and our pages one language.
 */
const NAMES = ['id_token_hint', 'logout_hint', 'client_id', 'post_logout_redirect_uri', 'state', 'ui_locales']
const RULES = { repeatable: [] }

/** bytes: what HTTP clients and proxies take in one header, and less than a form of ours may hold */
const LONGEST = 15_000

function fieldsOf(parameters: Parameters): Record<string, string> {
  const fields = Object.fromEntries(NAMES.flatMap((name) => parameters.all(name).map((value) => [name, value])))
  if (new URLSearchParams(fields).toString().length > LONGEST) throw invalidRequest(`the request is longer than ${LONGEST} bytes`)
  return fields
}

/** Who asked to be signed out and is not must know. */
function nothingEnded({ code, description, status, headers }: OAuthError, url: string): Refusal {
  return new Refusal(status, {
    code,
    description,
    headers,
    title: 'Nothing was signed out',
    advice: `The application asked for a sign-out in a way that cannot be followed, and its developer needs the code and the request number below. To sign out of this browser, open ${url}/logout.`,
  })
}
