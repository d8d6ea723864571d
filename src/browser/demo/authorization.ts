import { encodeBase64url } from '../../crypto/base64url.ts'
import { utf8 } from '../../crypto/bytes.ts'
import { sha256 } from '../../crypto/digest.ts'
import { fetchJson, textOf } from './json.ts'

export const CLIENT_ID = 'demo'
const SCOPE = 'openid profile email'

/** What this page must remember while the person is away signing in. */
export interface Attempt {
  readonly state: string
  readonly nonce: string
  /** RFC 7636 section 4.1 */
  readonly verifier: string
}

/** The addresses of the issuer, from its own discovery document. */
export interface Discovery {
  readonly issuer: string
  readonly authorization: string
  readonly token: string
  readonly userinfo: string
  readonly keys: string
}

export interface Tokens {
  readonly accessToken: string
  readonly idToken: string
}

/** @throws Error when the document is another issuer's (OpenID Connect Discovery section 4.3) or lacks an address */
export async function discover(origin: string, fetcher: typeof fetch): Promise<Discovery> {
  const document = await fetchJson(fetcher, `${origin}/.well-known/openid-configuration`)
  const issuer = textOf(document, 'issuer')
  if (issuer !== origin) throw new Error(`The discovery document is of ${issuer}, and this page is at ${origin}.`)
  return {
    issuer,
    authorization: textOf(document, 'authorization_endpoint'),
    token: textOf(document, 'token_endpoint'),
    userinfo: textOf(document, 'userinfo_endpoint'),
    keys: textOf(document, 'jwks_uri'),
  }
}

export function newAttempt(): Attempt {
  return { state: random(), nonce: random(), verifier: random() }
}

/** Where to send the browser: code flow with PKCE S256. */
export async function authorizationUrl(discovery: Discovery, attempt: Attempt, redirectUri: string): Promise<string> {
  const url = new URL(discovery.authorization)
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: redirectUri,
    scope: SCOPE,
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: encodeBase64url(await sha256(utf8(attempt.verifier))),
    code_challenge_method: 'S256',
  }).toString()
  return url.href
}

/**
 * The code of an authorization response. Who answered is settled before what they say: first the state, then the issuer (RFC 9207
 * section 2.4), then the error.
 *
 * @throws Error in words for the page
 */
export function codeOf(answer: URLSearchParams, attempt: Attempt | null, issuer: string): string {
  if (attempt === null) throw new Error('This tab did not start a sign-in, or has finished it already.')
  if (answer.get('state') !== attempt.state) throw new Error('The answer’s state is not the one this tab sent.')
  if (answer.get('iss') !== issuer) throw new Error('The answer’s iss is not this issuer.')
  const error = answer.get('error')
  if (error !== null) throw new Error(`The issuer refused: ${error}. ${answer.get('error_description') ?? ''}`.trim())
  const code = answer.get('code')
  if (code === null) throw new Error('The answer has neither a code nor an error.')
  return code
}

/** RFC 6749 section 4.1.3, as a public client. */
export async function exchangeCode(
  discovery: Discovery,
  code: string,
  attempt: Attempt,
  redirectUri: string,
  fetcher: typeof fetch,
): Promise<Tokens> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    client_id: CLIENT_ID,
    code,
    redirect_uri: redirectUri,
    code_verifier: attempt.verifier,
  })
  const answer = await fetchJson(fetcher, discovery.token, { method: 'POST', body })
  return { accessToken: textOf(answer, 'access_token'), idToken: textOf(answer, 'id_token') }
}

/** 32 bytes: what RFC 7636 section 4.1 recommends of a verifier, and plenty for state and nonce */
function random(): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
}
