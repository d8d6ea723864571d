import { json } from '../http/respond.ts'
import { challengeMethods } from './authorize/checks/pkce.ts'
import { prompts } from './authorize/checks/prompt.ts'
import { responseModes } from './authorize/checks/response-mode.ts'
import { responseTypes } from './authorize/checks/response-type.ts'
import { personClaims } from './claims.ts'
import { endpoints } from './endpoints.ts'
import type { Issuer } from './issuer.ts'
import { scopes } from './scopes.ts'
import { clientAuthenticationMethods } from './token/client-authentication.ts'
import { grants } from './token/grants.ts'

/** s: metadata changes with a deploy; a client that keeps it for five minutes misses little */
const MAX_AGE = 300

/** The claims of every ID token (OpenID Connect Core section 2), before those of the person. */
const protocolClaims = ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'acr', 'amr', 'at_hash', 'sid'] as const

/** Discovery (OpenID Connect Discovery 1.0 section 3), built from the tables the endpoints work by, so that it can't lie. */
export function openidConfiguration(_request: Request, issuer: Issuer): Response {
  return published(metadata(issuer))
}

/** What only ID tokens and userinfo need: RFC 8414 has no such members. */
const openidOnly = new Set([
  'userinfo_endpoint',
  'subject_types_supported',
  'id_token_signing_alg_values_supported',
  'acr_values_supported',
  'claim_types_supported',
  'claims_supported',
  'claims_parameter_supported',
  'prompt_values_supported',
])

/** The same for clients that know OAuth only (RFC 8414 section 2). */
export function authorizationServerMetadata(_request: Request, issuer: Issuer): Response {
  return published(Object.fromEntries(Object.entries(metadata(issuer)).filter(([name]) => !openidOnly.has(name))))
}

function metadata(issuer: Issuer) {
  return {
    issuer: issuer.url,
    authorization_endpoint: issuer.url + endpoints.authorization,
    token_endpoint: issuer.url + endpoints.token,
    userinfo_endpoint: issuer.url + endpoints.userinfo,
    end_session_endpoint: issuer.url + endpoints.endSession,
    jwks_uri: issuer.url + endpoints.jwks,
    revocation_endpoint: issuer.url + endpoints.revocation,
    revocation_endpoint_auth_methods_supported: clientAuthenticationMethods,
    introspection_endpoint: issuer.url + endpoints.introspection,
    introspection_endpoint_auth_methods_supported: clientAuthenticationMethods.filter((method) => method !== 'none'),
    device_authorization_endpoint: issuer.url + endpoints.deviceAuthorization,
    scopes_supported: scopes,
    response_types_supported: responseTypes,
    response_modes_supported: responseModes,
    grant_types_supported: [...grants.keys()],
    token_endpoint_auth_methods_supported: clientAuthenticationMethods,
    code_challenge_methods_supported: challengeMethods,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: issuer.keyring.algs,
    acr_values_supported: issuer.acrValues,
    claim_types_supported: ['normal'],
    claims_supported: [...protocolClaims, ...personClaims],
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    prompt_values_supported: prompts,
    authorization_response_iss_parameter_supported: true,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
  }
}

function published(document: object): Response {
  return json(document, { headers: { 'cache-control': `public, max-age=${MAX_AGE}` } })
}
