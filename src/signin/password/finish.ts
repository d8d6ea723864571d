import { decodeBase64, decodeBase64url, encodeBase64url } from '../../crypto/base64url.ts'
import { equalBytes } from '../../crypto/equal.ts'
import { fromBytes } from '../../crypto/srp/numbers.ts'
import { type Proofs, serverProofs, signInSrp } from '../../crypto/srp/srp.ts'
import { readForm } from '../../http/body.ts'
import { browserHash } from '../../http/browser.ts'
import { json } from '../../http/respond.ts'
import { requireSameOrigin } from '../../http/same-origin.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import { isPortError } from '../../ports/error.ts'
import type { Found } from '../../records/record.ts'
import { consumeSrpExchange, findSrpExchange, type SrpExchange } from '../../records/srp.ts'
import type { PasswordWay, WaysIn } from '../sign-in.ts'
import { passwordWay, verifierOf } from './account.ts'
import { sealProved } from './proved.ts'
import { refuseProof } from './refuse.ts'

const HANDLE = /^[A-Za-z0-9_-]{22}$/ // 16 bytes, base64url

/**
 * `POST /login/recovery/finish` (form: `handle`, `M1`): the second half. The exchange is taken away before M1 is looked at, so that a handle is
 * good for one guess; whoever lost the answer, to a store or to the network, starts again.
 *
 * Answers `{M2, proof}` and begins nothing: the script first sees from M2 that this issuer knows the verifier, and then sends `proof` in the
 * form of `POST /login/recovery/complete`, as a navigation. So the browser itself follows whatever a completed sign-in is answered, a redirect,
 * a form_post page or a refusal, and keeps its cookie, with nothing for a script to take apart.
 *
 * @throws OAuthError invalid_request. Refusal 403 (another site's, or whatever failed, all alike), 404, 429. PortError Unavailable
 */
export async function finishPassword(request: Request, issuer: Issuer, ways: Pick<WaysIn, 'password'>): Promise<Response> {
  const way = passwordWay(ways)
  requireSameOrigin(request, issuer.url)
  const form = await readForm(request)
  const [handle, M1] = [form.require('handle'), form.require('M1')]
  const exchange = await takeExchange(handle, request, issuer)
  if (exchange === null) throw await refuseProof(request, { account: null, reason: 'the handle is of no exchange that waits' }, issuer)

  const account = way.accounts.find((known) => known === exchange.account) ?? null
  const proofs = await proofsOf(exchange, handle, issuer, way)
  if (account === null || proofs === null || !equalBytes(proofs.M1, decodeBase64url(M1) ?? new Uint8Array(0)))
    throw await refuseProof(request, { account, reason: 'the proof is wrong' }, issuer)

  const { request: id, browser } = exchange
  const at = Math.floor(issuer.clock.now() / 1000)
  return json({ M2: encodeBase64url(proofs.M2), proof: await sealProved({ account, request: id, browser, at }, way) })
}

/** The exchange of a handle, which is nobody's from here on; null for one that is not this browser's to finish. */
async function takeExchange(handle: string, request: Request, issuer: Issuer): Promise<SrpExchange | null> {
  if (!HANDLE.test(handle)) return null
  const [found, browser] = await Promise.all([findSrpExchange(issuer.state, handle, issuer.log), browserHash(request, issuer.url)])
  // Another browser's stays: who has seen a handle can't take the attempt from whoever it is.
  if (found === null || found.value.browser !== browser) return null
  return (await consumed(found, issuer)) ? found.value : null
}

/** False when another finish was first. */
async function consumed(found: Found<SrpExchange>, issuer: Issuer): Promise<boolean> {
  try {
    await consumeSrpExchange(issuer.state, found)
    return true
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return false
    throw error
  }
}

/** What both sides prove with; null where there is nothing to prove: u = 0, or a seal that does not open any more. */
async function proofsOf(exchange: SrpExchange, handle: string, issuer: Issuer, way: PasswordWay): Promise<Proofs | null> {
  const [A, B, sealed] = [decodeBase64url(exchange.A), decodeBase64url(exchange.B), decodeBase64(exchange.b)]
  if (A === null || B === null || sealed === null) return null
  try {
    const [b, { v }] = await Promise.all([
      way.sealer.open(sealed, { instance: way.instance, purpose: 'srp', handle }),
      verifierOf(exchange.account, issuer, way),
    ])
    return await serverProofs({ A: fromBytes(A), B: fromBytes(B), b: fromBytes(b), v }, signInSrp)
  } catch (error) {
    if (!isPortError(error, 'Unsupported')) throw error
    issuer.log.warn('signin.exchange_sealed_otherwise', { error })
    return null
  }
}
