import { encodeBase64url } from '../../crypto/base64url.ts'
import { utf8 } from '../../crypto/bytes.ts'
import { sha256 } from '../../crypto/digest.ts'
import { invalidRequest } from '../../http/oauth-error.ts'
import { queryParameters } from '../../http/parameters.ts'
import { type Issuer, requestGone } from '../../issuer/authorize/complete.ts'
import { isPortError } from '../../ports/error.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import { pendingRequest } from '../pending-request.ts'
import { credentials } from './credentials.ts'
import type { Metadata } from './discovery-document.ts'
import { oldestProof } from './freshness.ts'
import { upstreamMetadata } from './metadata.ts'
import { callbackUri, providerOf, type UpstreamProvider, type UpstreamWays } from './providers.ts'
import { refuse, UpstreamRefusal } from './refusals.ts'
import { type Started, sealStart } from './started.ts'

const VERIFIER_BYTES = 32 // RFC 7636 section 4.1

/**
 * `GET /login/<provider>/start?auth=<request>[&prompt=login|select_account]`: sends the person to the provider, with PKCE, a nonce and a state
 * of this start's own. `prompt` is what the links of our pages add to what the client asked.
 *
 * @throws OAuthError invalid_request. Refusal 404 (no such provider). PortError Unavailable
 */
export async function startUpstream(request: Request, issuer: Issuer, ways: UpstreamWays): Promise<Response> {
  const provider = providerOf(request, ways)
  const parameters = queryParameters(request)
  const prompt = parameters.get('prompt')
  if (prompt !== undefined && prompt !== 'login' && prompt !== 'select_account')
    throw invalidRequest('prompt must be login or select_account')
  const pending = await pendingRequest(request, parameters.get('auth'), issuer)
  if (pending === null) return requestGone(issuer)

  const { id, browser } = pending.value
  try {
    const start = {
      request: id,
      browser,
      verifier: encodeBase64url(issuer.random.bytes(VERIFIER_BYTES)),
      nonce: encodeBase64url(issuer.random.bytes(16)),
      at: Math.floor(issuer.clock.now() / 1000),
    }
    return await sendTo(provider, start, { ...pending.value, ownPrompt: prompt }, request, issuer)
  } catch (error) {
    const refusal = isPortError(error, 'NotFound') ? new UpstreamRefusal('not_set_up', 'no state secret', { cause: error }) : error
    if (!(refusal instanceof UpstreamRefusal)) throw error
    return refuse(request, refusal, { provider, issuer, auth: id, asked: pending.value })
  }
}

type Asked = AuthorizationRequest & { ownPrompt: string | undefined }

async function sendTo(provider: UpstreamProvider, start: Started, asked: Asked, request: Request, issuer: Issuer): Promise<Response> {
  const [server, { clientId }] = await Promise.all([upstreamMetadata(provider, issuer), credentials(provider, issuer)])
  const { state, setCookies } = await sealStart(start, request, provider, issuer)
  const location = new URL(server.authorization_endpoint)
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callbackUri(provider, issuer.url),
    scope: scopesOf(provider),
    state,
    nonce: start.nonce,
    code_challenge: encodeBase64url(await sha256(utf8(start.verifier))),
    code_challenge_method: 'S256',
    ...passedOn(provider, server, asked, issuer),
  }
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value)
  const headers = new Headers({ location: location.href, 'cache-control': 'no-store' })
  for (const line of setCookies) headers.append('set-cookie', line)
  return new Response(null, { status: 303, headers })
}

function scopesOf({ settings }: UpstreamProvider): string {
  return [...new Set(['openid', 'email', ...(settings.kind === 'oidc' ? settings.scopes : [])])].join(' ')
}

/** What the client asked about how the person is proved (OpenID Connect Core section 3.1.2.1), as far as it is the provider's to do. */
function passedOn(provider: UpstreamProvider, server: Metadata, asked: Asked, issuer: Issuer): Record<string, string> {
  const { request, hint_subject, ownPrompt } = asked
  const prompt = promptOf(asked, provider, server)
  const hint = ownPrompt === 'select_account' ? undefined : (hint_subject ?? request.login_hint)
  const maxAge = oldestProof(provider, asked, issuer)
  return {
    ...(prompt === '' ? {} : { prompt }),
    ...(maxAge === null ? {} : { max_age: String(maxAge) }),
    ...(hint === undefined ? {} : { login_hint: hint }),
    ...(provider.settings.kind === 'google' ? { hd: onlyOf(provider.settings.hosted_domains) } : {}),
  }
}

/**
 * `login` every provider has, and with it anybody can become somebody else; `select_account` some answer with an error, so it is for those that
 * say they know it. Google documents `select_account` and no `login`.
 */
function promptOf({ request, ownPrompt }: Asked, { settings }: UpstreamProvider, { prompt_values_supported }: Metadata): string {
  const asked = [...(request.prompt ?? []), ...(request.max_age === 0 ? ['login'] : []), ownPrompt]
  const isGoogle = settings.kind === 'google'
  const selects = isGoogle || prompt_values_supported.includes('select_account')
  const words = ['login', 'select_account'].filter((word) => asked.includes(word))
  const known = words.map((word) => ((word === 'login' && !isGoogle) || !selects ? 'login' : 'select_account'))
  return [...new Set(known)].join(' ')
}

/** Which accounts Google offers: of one domain, or of any company's. A courtesy: what counts is what comes back. */
function onlyOf([first = '*', ...more]: readonly string[]): string {
  return more.length === 0 ? first : '*'
}
