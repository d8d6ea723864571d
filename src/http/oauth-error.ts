import { ownMessage } from '../telemetry/describe-error.ts'

/** The error codes a client may be answered, by the specification that names them. */
export type OAuthErrorCode =
  // RFC 6749 sections 4.1.2.1 and 5.2
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'access_denied'
  | 'server_error'
  | 'temporarily_unavailable'
  // RFC 6750 section 3.1
  | 'invalid_token'
  | 'insufficient_scope'
  // RFC 7009 section 2.2.1
  | 'unsupported_token_type'
  // RFC 8628 section 3.5
  | 'authorization_pending'
  | 'slow_down'
  | 'expired_token'
  // RFC 8707 section 2
  | 'invalid_target'
  // OpenID Connect Core section 3.1.2.6; RFC 9101 and RFC 9126 use the request ones too
  | 'interaction_required'
  | 'login_required'
  | 'account_selection_required'
  | 'consent_required'
  | 'invalid_request_uri'
  | 'invalid_request_object'
  | 'request_not_supported'
  | 'request_uri_not_supported'
  | 'registration_not_supported'
  // OpenID Connect Core Error Code unmet_authentication_requirements 1.0
  | 'unmet_authentication_requirements'

export interface OAuthErrorOptions {
  /** HTTP status; 400 unless the code has its own */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly cause?: unknown
  /** Whom it concerns, for the audit: never part of the answer. */
  readonly subject?: string | undefined
}

/** A refusal a client can act on. `code` is the contract; `description` is for its developer and holds no secret and no person. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly [ownMessage] = true
  readonly code: OAuthErrorCode
  /** Only the characters RFC 6749 section 5.2 allows, at most 300 of them. */
  readonly description: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly subject: string | undefined

  constructor(code: OAuthErrorCode, description: string, options: OAuthErrorOptions = {}) {
    const allowed = describable(description)
    super(`${code}: ${allowed}`, { cause: options.cause })
    this.code = code
    this.description = allowed
    this.status = options.status ?? STATUS[code] ?? 400
    this.headers = options.headers ?? {}
    this.subject = options.subject
  }
}

/** The same refusal, about a person: known where it is caught, and not where it was thrown. */
export function about(subject: string, { code, description, status, headers, cause, subject: known = subject }: OAuthError): OAuthError {
  return new OAuthError(code, description, { status, headers, cause, subject: known })
}

/** Where it isn't 400. */
const STATUS: { readonly [code in OAuthErrorCode]?: number } = {
  invalid_client: 401,
  invalid_token: 401,
  insufficient_scope: 403,
  server_error: 500,
  temporarily_unavailable: 503,
}

export function invalidRequest(description: string, options?: OAuthErrorOptions): OAuthError {
  return new OAuthError('invalid_request', description, options)
}

/** RFC 6749 section 5.2: a client that tried the Authorization header must be told the scheme. */
export function invalidClient(description: string, { basic = false } = {}): OAuthError {
  return new OAuthError(
    'invalid_client',
    description,
    basic ? { headers: { 'www-authenticate': 'Basic realm="token", charset="UTF-8"' } } : {},
  )
}

export function invalidGrant(description: string, options?: OAuthErrorOptions): OAuthError {
  return new OAuthError('invalid_grant', description, options)
}

export function invalidScope(description: string): OAuthError {
  return new OAuthError('invalid_scope', description)
}

export function invalidTarget(description: string): OAuthError {
  return new OAuthError('invalid_target', description)
}

export function unauthorizedClient(description: string): OAuthError {
  return new OAuthError('unauthorized_client', description)
}

export function unsupportedGrantType(description: string): OAuthError {
  return new OAuthError('unsupported_grant_type', description)
}

export function accessDenied(description: string): OAuthError {
  return new OAuthError('access_denied', description)
}

/** RFC 6750 section 3. A request with no token at all is answered without an error code: `bearerRequired`. */
export function invalidToken(description: string): OAuthError {
  return bearerError('invalid_token', description)
}

/** `scope`: the scopes that would do, separated by spaces. */
export function insufficientScope(description: string, scope: string): OAuthError {
  return bearerError('insufficient_scope', description, `, scope="${describable(scope)}"`)
}

/** RFC 6750 section 3.1: who sent no authentication is told the scheme, and nothing that reads as a verdict on a token. */
export function bearerRequired(): OAuthError {
  return new OAuthError('invalid_token', 'an access token is required', { headers: { 'www-authenticate': 'Bearer' } })
}

export function serverError(description: string, cause?: unknown): OAuthError {
  return new OAuthError('server_error', description, { cause })
}

/** `retryAfter`: whole seconds (RFC 9110 section 10.2.3). */
export function temporarilyUnavailable(
  retryAfter: number,
  { cause, headers = {} }: OAuthErrorOptions = {},
  description = 'this cannot be answered right now; try again shortly',
): OAuthError {
  return new OAuthError('temporarily_unavailable', description, { headers: { ...headers, 'retry-after': String(retryAfter) }, cause })
}

function bearerError(code: 'invalid_token' | 'insufficient_scope', description: string, attributes = ''): OAuthError {
  const challenge = `Bearer error="${code}", error_description="${describable(description)}"${attributes}`
  return new OAuthError(code, description, { headers: { 'www-authenticate': challenge } })
}

/** RFC 6749 section 5.2: %x20-21 / %x23-5B / %x5D-7E. It is also what a quoted string of a header can hold without escapes. */
function describable(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?').slice(0, 300)
}
