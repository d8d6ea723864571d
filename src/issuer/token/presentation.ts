import { encodeBase64url } from '../../crypto/base64url.ts'
import { utf8 } from '../../crypto/bytes.ts'
import { type Sha256Hex, sha256 } from '../../crypto/digest.ts'
import { equalSecret } from '../../crypto/equal.ts'
import { invalidGrant } from '../../http/oauth-error.ts'
import type { SpentCode } from '../../records/authorization-code.ts'

/** How a code was presented at the token endpoint. */
export interface Presentation {
  hash: Sha256Hex
  clientId: string
  redirectUri: string
  verifier: string | undefined
}

/**
 * Whether a code, spent or not, was issued for what presents it. One that wasn't consumes and revokes nothing.
 *
 * @throws OAuthError invalid_grant
 */
export async function checkPresentation(
  presentation: Presentation,
  issued: Pick<SpentCode, 'client_id' | 'redirect_uri' | 'code_challenge' | 'identity'>,
): Promise<void> {
  if (issued.client_id !== presentation.clientId) throw invalidGrant('the code was issued to another client', { subject: issued.identity })
  if (issued.redirect_uri !== presentation.redirectUri)
    throw invalidGrant('redirect_uri is not the one the code was issued for', { subject: issued.identity })
  const { verifier } = presentation
  if (issued.code_challenge === undefined) {
    // RFC 9700 section 4.8.2: somebody took the challenge out of the request on its way.
    if (verifier !== undefined)
      throw invalidGrant('code_verifier was sent for a code issued without code_challenge', { subject: issued.identity })
    return
  }
  if (verifier === undefined)
    throw invalidGrant('code_verifier is missing: the code was issued with a code_challenge', { subject: issued.identity })
  const challenge = encodeBase64url(await sha256(utf8(verifier)))
  if (!(await equalSecret(challenge, issued.code_challenge)))
    throw invalidGrant('code_verifier does not match the code_challenge', { subject: issued.identity })
}
