import { readForm } from '../../http/body.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { requireSameOrigin } from '../../http/same-origin.ts'
import { completeSignIn, DIRECTORY_ACR, type Issuer, RECOVERY_ACR, requestGone } from '../../issuer/authorize/complete.ts'
import { personId } from '../../ports/keys.ts'
import type { AuthorizationRequest } from '../../records/authorization-request.ts'
import { pendingRequest } from '../pending-request.ts'
import type { PasswordAccount, WaysIn } from '../sign-in.ts'
import { openAccount, passwordWay } from './account.ts'
import { openProved, type Proved } from './proved.ts'
import { refuseProof } from './refuse.ts'

const ACR: { readonly [account in PasswordAccount]: string } = { recovery: RECOVERY_ACR, conformance: DIRECTORY_ACR }

/**
 * `POST /login/recovery/complete` (form: `auth`, `proof`): completes a request with what `finish` has seen proved. The recovery account's is
 * in the audit before anything begins, or nothing does; the form can then be sent again.
 *
 * @throws OAuthError invalid_request. Refusal 403, 404, 429. PortError Unavailable
 */
export async function completePassword(request: Request, issuer: Issuer, ways: Pick<WaysIn, 'password'>): Promise<Response> {
  const way = passwordWay(ways)
  requireSameOrigin(request, issuer.url)
  const form = await readForm(request)
  const [auth, proof] = [form.require('auth'), form.require('proof')]
  const pending = await pendingRequest(request, auth, issuer)
  if (pending === null) {
    await brake(issuer.limits.signIn, clientAddress(request))
    return requestGone(issuer)
  }

  const proved = await openProved(proof, Math.floor(issuer.clock.now() / 1000), way)
  if (proved === null || !isFor(pending.value, proved))
    throw await refuseProof(request, { account: null, reason: 'what was proved is not for this request, or too long ago' }, issuer)
  const { account, at } = proved
  // It may have been switched off since.
  if ((await openAccount(account, way)) === null)
    throw await refuseProof(request, { account, reason: 'the account is switched off' }, issuer)

  if (account === 'recovery') await issuer.audit.durably(signedIn(pending.value))
  return completeSignIn(
    request,
    pending,
    { person: personId(account), method: account, acr: ACR[account], amr: ['pwd'], authTime: at },
    issuer,
  )
}

function isFor({ id, browser }: AuthorizationRequest, proved: Proved): boolean {
  return proved.request === id && proved.browser === browser
}

function signedIn({ request: { client_id }, resource }: AuthorizationRequest) {
  return { event: 'recovery.signed_in' as const, subject: 'recovery', how: 'recovery', client: client_id || undefined, resource }
}
