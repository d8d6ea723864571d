import * as z from 'zod'
import { browserHash } from '../../http/browser.ts'
import { queryParameters } from '../../http/parameters.ts'
import { Refusal } from '../../http/refusal.ts'
import { completeSignIn, DIRECTORY_ACR, type Issuer, type Proof, requestGone } from '../../issuer/authorize/complete.ts'
import { isPortError } from '../../ports/error.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import type { Found } from '../../records/record.ts'
import { pendingRequest } from '../pending-request.ts'
import { exchange } from './exchange.ts'
import { provedAt } from './freshness.ts'
import { identityOf } from './identity.ts'
import { providerOf, type UpstreamProvider, type UpstreamWays } from './providers.ts'
import { refuse, refuseAccount, UpstreamRefusal } from './refusals.ts'
import { openStart, START_LIFETIME, type Started } from './started.ts'

/**
 * `GET /login/<provider>/callback`: the provider's answer. It counts in the browser that was sent, for ten minutes, for the request it was
 * sent for; what it proves completes that request. An answer that is taken takes the start's cookie with it.
 *
 * @throws OAuthError invalid_request. Refusal 400 (the client is gone), 404 (no such provider), 429. PortError Unavailable: reload it
 */
export async function upstreamCallback(request: Request, issuer: Issuer, ways: UpstreamWays): Promise<Response> {
  const provider = providerOf(request, ways)
  const parameters = queryParameters(request, { repeatable: [] })
  const state = parameters.get('state')
  const [opened, browser] = await Promise.all([openStart(state, request, provider, issuer), browserHash(request, issuer.url)])
  if (opened === null || state === undefined || opened.start.browser !== browser) {
    return refuse(request, new UpstreamRefusal('not_started_here'), { provider, issuer })
  }
  const { start, clear } = opened
  const pending = await pendingRequest(request, start.request, issuer)
  const query = new URLSearchParams(parameters.names().map((name): [string, string] => [name, parameters.require(name)]))
  const answer = pending === null ? await requestGone(issuer) : await finish(request, pending, { query, state, start }, provider, issuer)
  answer.headers.append('set-cookie', clear)
  return answer
}

async function finish(
  request: Request,
  pending: Found<AuthorizationRequest>,
  answered: { query: URLSearchParams; state: string; start: Started },
  provider: UpstreamProvider,
  issuer: Issuer,
): Promise<Response> {
  try {
    const proof = await prove(pending.value, answered, provider, issuer)
    return await completed(request, pending, proof, issuer)
  } catch (refusal) {
    const at = { provider, issuer, auth: pending.value.id }
    if (refusal instanceof UpstreamRefusal) return refuse(request, refusal, { ...at, asked: pending.value })
    if (refusal instanceof Refusal && refusal.status === 403) return refuseAccount(refusal, at)
    throw refusal
  }
}

async function prove(
  asked: AuthorizationRequest,
  answered: { query: URLSearchParams; state: string; start: Started },
  provider: UpstreamProvider,
  issuer: Issuer,
): Promise<Proof> {
  const { start } = answered
  if (Math.floor(issuer.clock.now() / 1000) >= start.at + START_LIFETIME) throw new UpstreamRefusal('start_expired')
  const claims = await exchange(answered, provider, issuer)
  const person = identityOf(claims, provider)
  const authTime = provedAt(number.parse(claims.auth_time), asked, start, provider, issuer)
  const amr = methods.parse(claims.amr)
  return { person, method: provider.id, acr: DIRECTORY_ACR, authTime, ...(amr === undefined ? {} : { amr }) }
}

const number = z.number().optional().catch(undefined)
/** Those of RFC 8176 and of the provider's own, as it has them. */
const methods = z.array(z.string().max(100)).min(1).max(20).optional().catch(undefined)

/** The code is spent by now, so that this page can't be loaded again: when the store is away, the way to the provider can be taken again. */
async function completed(request: Request, pending: Found<AuthorizationRequest>, proof: Proof, issuer: Issuer): Promise<Response> {
  try {
    return await completeSignIn(request, pending, proof, issuer)
  } catch (cause) {
    if (!isPortError(cause, 'Unavailable')) throw cause
    throw new UpstreamRefusal('not_kept', '', { subject: proof.person, cause })
  }
}
