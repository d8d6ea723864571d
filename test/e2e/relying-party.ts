import * as client from 'openid-client'
import type { SecretsMet } from './secrets-met.ts'

export const SCOPE = 'openid profile email'

/** An authorization request that is under way: where the person goes, and what the answer is held against. */
export interface Attempt {
  url: URL
  checks: { expectedState: string; expectedNonce: string; pkceCodeVerifier?: string }
}

/** A client of `openid-client` that has read discovery, and verifies the signature of every ID token. */
export function discover(
  issuer: string,
  clientId: string,
  authentication: client.ClientAuth = client.None(),
): Promise<client.Configuration> {
  const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks]
  return client.discovery(new URL(issuer), clientId, undefined, authentication, { execute })
}

/** Code flow with state, nonce and, unless told otherwise, PKCE. */
export async function begin(config: client.Configuration, redirect_uri: string, { pkce = true, scope = SCOPE } = {}): Promise<Attempt> {
  const checks = { expectedState: client.randomState(), expectedNonce: client.randomNonce() }
  const parameters = { redirect_uri, scope, state: checks.expectedState, nonce: checks.expectedNonce }
  if (!pkce) return { url: client.buildAuthorizationUrl(config, parameters), checks }

  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const code_challenge = await client.calculatePKCECodeChallenge(pkceCodeVerifier)
  const url = client.buildAuthorizationUrl(config, { ...parameters, code_challenge, code_challenge_method: 'S256' })
  return { url, checks: { ...checks, pkceCodeVerifier } }
}

/** Exchanges the code of an answer, which must be one to this attempt. */
export async function finish(config: client.Configuration, answer: URL, { checks }: Attempt, met: SecretsMet) {
  met.add('code verifier', checks.pkceCodeVerifier)
  return meet(await client.authorizationCodeGrant(config, answer, checks), met)
}

/** Remembers what no line of the service may hold. */
export function meet<T extends client.TokenEndpointResponse>(tokens: T, met: SecretsMet): T {
  met.add('access token', tokens.access_token)
  met.add('ID token', tokens.id_token)
  met.add('refresh token', tokens.refresh_token)
  return tokens
}
