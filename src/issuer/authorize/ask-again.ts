import { temporarilyUnavailable } from '../../http/oauth-error.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import type { Issuer } from '../issuer.ts'
import { authorizationUrl, LONGEST_LOCATION } from './authorization-url.ts'

/** seconds: what a request that wanted the person proved anew takes for that; long enough for a redirect and a reload or two */
const JUST_NOW = 300

const RETRY_AFTER = 5 // s, as everywhere a store is away

/**
 * Sends a browser whose sign-in has just begun to the authorization endpoint with what its client asked, by GET, to be completed without a
 * page: for a completion whose store failed when the request may be gone already, so that the form can't be sent again
 * (docs/decisions/0021-after-the-gate.md).
 *
 * @param failed what failed, and the cookie of that sign-in
 * @throws OAuthError temporarily_unavailable, with the cookie: the request is longer than a redirect can be
 */
export function askAgain(
  pending: AuthorizationRequest,
  failed: { cause: unknown; headers: Readonly<Record<string, string>> },
  issuer: Issuer,
): Response {
  const location = authorizationUrl(parametersOf(pending), issuer)
  if (location.length > LONGEST_LOCATION) throw temporarilyUnavailable(RETRY_AFTER, failed)
  return new Response(null, { status: 303, headers: { location, ...failed.headers } })
}

/**
 * The request as its client could have sent it. `prompt` is left out, for the page has been shown. A request for a fresh proof asks for one
 * of the last minutes instead, so that the address, opened later from a history, is no way around it. `login_hint` has served, and the person
 * may have chosen another account; whom `id_token_hint` named stands as the `sub` asked for.
 */
function parametersOf({ request, resource, hint_subject }: AuthorizationRequest): [string, string][] {
  const { client_id, redirect_uri, response_mode, scopes, state, nonce, code_challenge, prompt, max_age } = request
  const parameters: Record<string, string | undefined> = {
    ...{ client_id, redirect_uri, response_type: 'code', response_mode, scope: scopes.join(' '), state, nonce },
    ...{ code_challenge, code_challenge_method: code_challenge === undefined ? undefined : 'S256' },
    resource,
    claims: claimsParameter(request, hint_subject),
    max_age: prompt === undefined && max_age === undefined ? undefined : String(Math.max(max_age ?? 0, JUST_NOW)),
  }
  return Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
}

/** OpenID Connect Core section 5.5. */
function claimsParameter({ claims = {} }: AuthorizationRequest['request'], subject: string | undefined): string | undefined {
  const wishes = (names: readonly string[] = []) => Object.fromEntries(names.map((name) => [name, null]))
  const id_token = { ...wishes(claims.id_token), ...(subject === undefined ? {} : { sub: { value: subject } }) }
  const userinfo = wishes(claims.userinfo)
  if (Object.keys(id_token).length + Object.keys(userinfo).length === 0) return undefined
  return JSON.stringify({ id_token, userinfo })
}
