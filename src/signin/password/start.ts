import { decodeBase64url, encodeBase64, encodeBase64url } from '../../crypto/base64url.ts'
import { rfc5054of2048 } from '../../crypto/srp/group.ts'
import { fromBytes } from '../../crypto/srp/numbers.ts'
import { ITERATIONS } from '../../crypto/srp/password.ts'
import { pad, publicValue, SECRET_LENGTH, serverPublic, signInSrp } from '../../crypto/srp/srp.ts'
import { readForm } from '../../http/body.ts'
import { invalidRequest } from '../../http/oauth-error.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { Refusal } from '../../http/refusal.ts'
import { json } from '../../http/respond.ts'
import { requireSameOrigin } from '../../http/same-origin.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { drawId } from '../../records/ids.ts'
import { createSrpExchange } from '../../records/srp.ts'
import { pendingRequest } from '../pending-request.ts'
import type { WaysIn } from '../sign-in.ts'
import { passwordWay, verifierOf } from './account.ts'
import { refuseProof } from './refuse.ts'

const LONGEST_NAME = 64 // characters: it is kept, and there are two that are anybody's

/**
 * `POST /login/recovery/start` (form: `auth`, `account`, `A`): the first half of a sign-in by SRP-6a. Answers `{handle, salt, iterations, B}`,
 * for an account there is not too. The handle is good for one `finish`, in this browser, within two minutes.
 *
 * @throws OAuthError invalid_request. Refusal 400 (the request is gone), 403 (another site's, or an A that no browser of ours draws), 404, 429.
 *   PortError Unavailable
 */
export async function startPassword(request: Request, issuer: Issuer, ways: Pick<WaysIn, 'password'>): Promise<Response> {
  const way = passwordWay(ways)
  requireSameOrigin(request, issuer.url)
  const form = await readForm(request)
  const [auth, account, offered] = [form.require('auth'), form.require('account'), form.require('A')]
  if (account.length > LONGEST_NAME) throw invalidRequest(`account is longer than ${LONGEST_NAME} characters`)
  const pending = await pendingRequest(request, auth, issuer)
  if (pending === null) {
    await brake(issuer.limits.signIn, clientAddress(request))
    throw requestIsGone()
  }
  // Before the account is looked at, so that how fast this is says nothing of it.
  if (!isPublicValue(offered)) {
    const known = way.accounts.find((one) => one === account) ?? null
    throw await refuseProof(request, { account: known, reason: 'A is no public value' }, issuer)
  }

  const { salt, v } = await verifierOf(account, issuer, way)
  const secret = issuer.random.bytes(SECRET_LENGTH)
  const B = encodeBase64url(pad(await serverPublic({ v, b: fromBytes(secret) }, signInSrp), rfc5054of2048))
  const handle = drawId(issuer.random)
  const b = encodeBase64(await way.sealer.seal(secret, { instance: way.instance, purpose: 'srp', handle }))
  const { id, browser } = pending.value
  await createSrpExchange(issuer.state, handle, { account, A: offered, B, b, request: id, browser })
  return json({ handle, salt: encodeBase64url(salt), iterations: ITERATIONS, B })
}

function isPublicValue(text: string): boolean {
  const bytes = decodeBase64url(text)
  return bytes !== null && publicValue(bytes, rfc5054of2048) !== null
}

/** As `requestGone`, for a script. */
function requestIsGone(): Refusal {
  return new Refusal(400, {
    code: 'request_gone',
    description: 'This sign-in is not valid any more.',
    title: 'This sign-in is not valid any more',
    advice: 'Go back to the application and sign in again.',
  })
}
