import type { Issuer } from '../../issuer/authorize/complete.ts'
import { audienceOf } from '../../policy/admission.ts'
import { absoluteEnd } from '../../policy/lifetimes.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import type { UpstreamProvider } from './providers.ts'
import { UpstreamRefusal } from './refusals.ts'
import { START_LIFETIME, type Started } from './started.ts'

const SKEW = 60 // s: how far the provider's clock may be from ours
const MARGIN = 60 // s: a sign-in that ends while its code is redeemed is none

/**
 * How long ago, in seconds, a person may have been proved at a provider when they are sent there: as the client asks (`max_age`), and never
 * so long ago that what is counted from then is over when they are back. Null where there is nobody to ask: Google says no times, but to
 * clients it has agreed to.
 */
export function oldestProof({ settings }: UpstreamProvider, asked: AuthorizationRequest, issuer: Issuer): number | null {
  const { max_age } = asked.request
  if (settings.kind === 'google') return max_age ?? null
  const standing = Math.max(lasts(asked, issuer) - START_LIFETIME - SKEW - MARGIN, 0)
  return Math.min(max_age ?? standing, standing)
}

/**
 * When the person was proved, in unix seconds: as the provider says, or now where it says nothing and nobody asked.
 *
 * @throws UpstreamRefusal proved_long_ago, no_auth_time (OpenID Connect Core section 2: it is required where `max_age` was asked),
 *   id_token_time
 */
export function provedAt(
  authTime: number | undefined,
  asked: AuthorizationRequest,
  start: Started,
  provider: UpstreamProvider,
  issuer: Issuer,
): number {
  const now = Math.floor(issuer.clock.now() / 1000)
  const { prompt = [], max_age } = asked.request
  if (authTime === undefined) {
    if (max_age !== undefined && provider.settings.kind === 'oidc') throw new UpstreamRefusal('no_auth_time')
    return now
  }
  if (authTime > now + SKEW) throw new UpstreamRefusal('id_token_time', 'auth_time is in the future')
  // Counted from the start, as the provider did: on the way back nobody grows older.
  const oldest = prompt.includes('login') ? 0 : (oldestProof(provider, asked, issuer) ?? Number.POSITIVE_INFINITY)
  const isOver = authTime + lasts(asked, issuer) <= now
  if (isOver || authTime < start.at - oldest - SKEW) throw new UpstreamRefusal('proved_long_ago')
  return Math.min(Math.floor(authTime), now)
}

/** Seconds from the proof on that what the request is for can last: a page of ours wants a sign-in that still completes silently. */
function lasts({ request, resource, own }: AuthorizationRequest, { policy }: Issuer): number {
  const { refresh, absolute } = policy.lifetimes
  if (own === true) return Math.min(refresh, absolute)
  const audience = audienceOf(policy, request.client_id, resource)
  return audience === null ? absolute : absoluteEnd(policy, audience, 0)
}
