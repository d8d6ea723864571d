import { utf8 } from '../crypto/bytes.ts'
import { equalBytes } from '../crypto/equal.ts'
import { browserHash } from '../http/browser.ts'
import type { Issuer } from '../issuer/authorize/complete.ts'
import { type AuthorizationRequest, findRequest } from '../records/authorization-request.ts'
import type { Found } from '../records/record.ts'

const REQUEST_ID = /^[A-Za-z0-9_-]{22}$/ // 16 bytes, base64url

/**
 * The authorization request a page or form acts on, when it began in this browser: whoever has only its id, from a link or a log, can't
 * see it, complete it, or have somebody else complete it for them.
 */
export async function pendingRequest(
  request: Request,
  id: string | undefined,
  issuer: Issuer,
): Promise<Found<AuthorizationRequest> | null> {
  if (id === undefined || !REQUEST_ID.test(id)) return null
  const [found, browser] = await Promise.all([findRequest(issuer.state, id, issuer.log), browserHash(request, issuer.url)])
  return found !== null && browser !== undefined && equalBytes(utf8(found.value.browser), utf8(browser)) ? found : null
}
