import { readForm } from '../../http/body.ts'
import { invalidRequest } from '../../http/oauth-error.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { notFound } from '../../http/refusal.ts'
import { requireSameOrigin } from '../../http/same-origin.ts'
import { completeSignIn, DIRECTORY_ACR, type Issuer, requestGone } from '../../issuer/authorize/complete.ts'
import { personId } from '../../ports/keys.ts'
import { pendingRequest } from '../pending-request.ts'
import type { WaysIn } from '../sign-in.ts'

/**
 * `POST /login/picker`: a person of the local directory, by being picked. For development, so on a loopback issuer only: it proves nothing,
 * and so has no amr.
 *
 * @throws OAuthError invalid_request. Refusal 403 (another site's form), 404 (no picker here), 429. PortError Unavailable
 */
export async function picker(request: Request, issuer: Issuer, ways: WaysIn): Promise<Response> {
  if (ways.picker === null) throw notFound()
  requireSameOrigin(request, issuer.url)
  const form = await readForm(request)
  const picked = personId(form.require('person'))
  const auth = form.require('auth')
  if (!ways.picker.some((person) => personId(person.email) === picked)) {
    await brakeOnFailure(request, issuer)
    throw invalidRequest('person is not one of the people to pick from')
  }
  const pending = await pendingRequest(request, auth, issuer)
  if (pending === null) {
    await brakeOnFailure(request, issuer)
    return requestGone(issuer)
  }

  const authTime = Math.floor(issuer.clock.now() / 1000)
  return completeSignIn(request, pending, { person: picked, method: 'picker', acr: DIRECTORY_ACR, authTime }, issuer)
}

/** Counts what failed, so that trying ids and names is slow and signing in never is. */
function brakeOnFailure(request: Request, issuer: Issuer): Promise<void> {
  return brake(issuer.limits.signIn, clientAddress(request))
}
