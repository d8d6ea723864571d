import * as oauth from 'oauth4webapi'
import * as z from 'zod'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { type Credentials, credentials } from './credentials.ts'
import type { Metadata } from './discovery-document.ts'
import { UpstreamAway } from './guarded-fetch.ts'
import { type Claims, subjectClaim } from './identity.ts'
import { reach, upstreamMetadata, verifySignature } from './metadata.ts'
import { callbackUri, type UpstreamProvider } from './providers.ts'
import type { Reason } from './reasons.ts'
import { UpstreamRefusal } from './refusals.ts'
import type { Started } from './started.ts'

const TOLERANCE = 30 // s: between the provider's clock and ours

/** An answer of the provider, whose `state` is known to be this start's. */
export interface Answered {
  query: URLSearchParams
  state: string
  start: Started
}

/**
 * Makes an answer at the callback into claims: the answer's issuer (RFC 9207), the code with client authentication and PKCE, the ID token in
 * full (OpenID Connect Core section 3.1.3.7), its signature by a published key too, which neither `none` nor a shared secret is; and userinfo
 * where the ID token leaves out who the person is.
 *
 * @throws UpstreamRefusal. PortError Unavailable
 */
export async function exchange(answered: Answered, provider: UpstreamProvider, issuer: Issuer): Promise<Claims> {
  const [as, keys] = await Promise.all([upstreamMetadata(provider, issuer), credentials(provider, issuer)])
  const client = clientOf(keys, issuer)
  const parameters = answerOf(answered, as, client)
  const tokens = await tokensFor(parameters, answered.start, { as, client, keys }, provider, issuer)
  await atStage('id_token_signature', () => verifySignature(tokens.response, as, provider, issuer))

  const { claims, accessToken } = tokens
  if (claims[subjectClaim(provider)] !== undefined || as.userinfo_endpoint === undefined) return claims
  return atStage('provider_garbage', async () => {
    const answer = await oauth.userInfoRequest(as, client, accessToken, reach(provider, issuer))
    const told: Claims = await oauth.processUserInfoResponse(as, client, claims.sub, answer)
    return { ...claims, [subjectClaim(provider)]: told[subjectClaim(provider)], email_verified: told.email_verified }
  })
}

/** oauth4webapi looks at the time itself: the difference makes it look at ours. */
function clientOf({ clientId }: Credentials, { clock }: Issuer): oauth.Client {
  const skew = Math.floor(clock.now() / 1000) - Math.floor(Date.now() / 1000)
  return { client_id: clientId, [oauth.clockSkew]: skew, [oauth.clockTolerance]: TOLERANCE }
}

function answerOf({ query, state }: Answered, as: Metadata, client: oauth.Client): URLSearchParams {
  try {
    const parameters = oauth.validateAuthResponse(as, client, query, state)
    if (query.get('code')) return parameters
  } catch (cause) {
    if (cause instanceof oauth.AuthorizationResponseError) {
      throw cause.error === 'access_denied'
        ? new UpstreamRefusal('cancelled', '', { cause })
        : new UpstreamRefusal('provider_error', knownError(cause.error), { cause })
    }
    const reason = query.has('response') || cause instanceof oauth.UnsupportedOperationError ? 'provider_garbage' : 'other_issuer'
    throw new UpstreamRefusal(reason, '', { cause })
  }
  throw new UpstreamRefusal('provider_garbage', 'its answer holds neither a code nor an error')
}

interface AtProvider {
  as: Metadata
  client: oauth.Client
  keys: Credentials
}

async function tokensFor(
  parameters: URLSearchParams,
  start: Started,
  { as, client, keys }: AtProvider,
  provider: UpstreamProvider,
  issuer: Issuer,
): Promise<{ response: Response; claims: oauth.IDToken; accessToken: string }> {
  const redirectUri = callbackUri(provider, issuer.url)
  const authentication = clientAuthentication(keys, as, provider)
  return atStage('provider_garbage', async () => {
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      authentication,
      parameters,
      redirectUri,
      start.verifier,
      reach(provider, issuer),
    )
    const tokens = await oauth.processAuthorizationCodeResponse(as, client, response, { expectedNonce: start.nonce, requireIdToken: true })
    const claims = oauth.getValidatedIdTokenClaims(tokens)
    if (claims === undefined) throw new UpstreamRefusal('provider_garbage', 'its answer holds no ID token')
    return { response, claims, accessToken: tokens.access_token }
  })
}

/** @throws UpstreamRefusal not_set_up: it takes neither way of ours */
function clientAuthentication({ clientSecret }: Credentials, as: Metadata, { settings }: UpstreamProvider): oauth.ClientAuth {
  const supported = as.token_endpoint_auth_methods_supported
  const asked = settings.kind === 'oidc' ? settings.client_auth : undefined
  const method = asked ?? ['client_secret_basic', 'client_secret_post'].find((ours) => supported.includes(ours))
  if (method === undefined) throw new UpstreamRefusal('not_set_up', 'it takes a client secret neither by Basic nor by POST')
  return method === 'client_secret_basic' ? oauth.ClientSecretBasic(clientSecret) : oauth.ClientSecretPost(clientSecret)
}

/** Runs a stage of the exchange; what goes wrong in it has the reason that can be told, or the stage's own. */
async function atStage<Value>(otherwise: Reason, stage: () => Promise<Value>): Promise<Value> {
  try {
    return await stage()
  } catch (cause) {
    if (cause instanceof UpstreamRefusal) throw cause
    if (cause instanceof UpstreamAway) throw new UpstreamRefusal('provider_unreachable', '', { cause })
    if (cause instanceof oauth.ResponseBodyError) throw ofTokenError(cause)
    if (cause instanceof oauth.WWWAuthenticateChallengeError) throw new UpstreamRefusal('client_refused', '', { cause })
    throw new UpstreamRefusal(ofIdToken(cause) ?? otherwise, '', { cause })
  }
}

/** RFC 6749 section 5.2. */
function ofTokenError(cause: oauth.ResponseBodyError): UpstreamRefusal {
  const { error } = cause
  if (error === 'invalid_grant') return new UpstreamRefusal('code_refused', '', { cause })
  const isOurs = error === 'invalid_client' || error === 'unauthorized_client'
  return new UpstreamRefusal(isOurs ? 'client_refused' : 'provider_error', knownError(error), { cause })
}

const BY_CLAIM: Readonly<Record<string, Reason>> = {
  nonce: 'id_token_nonce',
  iss: 'id_token_issuer',
  aud: 'id_token_audience',
  azp: 'id_token_audience',
  exp: 'id_token_time',
  nbf: 'id_token_time',
}

/** What oauth4webapi says, beside its error, of an ID token it refuses. */
const judged = z.object({
  claim: z.string().optional(),
  claims: z.looseObject({ nonce: z.unknown().optional() }).optional(),
  header: z.unknown().optional(),
  alg: z.unknown().optional(),
})

function ofIdToken(error: unknown): Reason | undefined {
  if (!(error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError)) return undefined
  if (error.code === oauth.KEY_SELECTION) return 'id_token_signature'
  const cause = judged.safeParse(error.cause)
  if (!cause.success) return undefined
  const { claim, claims, header, alg } = cause.data
  if (claim !== undefined) return BY_CLAIM[claim]
  if (header !== undefined || alg !== undefined) return 'id_token_algorithm'
  return claims !== undefined && claims.nonce === undefined ? 'id_token_nonce' : undefined
}

/** An error code as a log may repeat it: one that a specification names. */
function knownError(code: string): string {
  return KNOWN_ERRORS.includes(code) ? code : 'an error of its own'
}

const KNOWN_ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_scope',
  'unauthorized_client',
  'unsupported_grant_type',
  'unsupported_response_type',
  'server_error',
  'temporarily_unavailable',
  'interaction_required',
  'login_required',
  'account_selection_required',
  'consent_required',
]
