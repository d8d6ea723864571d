import { invalidRequest } from '../../../http/oauth-error.ts'
import { personId } from '../../../ports/keys.ts'
import type { Check } from '../check.ts'

/** OpenID Connect Core section 3.1.2.1: an ID token of ours, expired or not, names the one person who may complete the request. */
export const idTokenHint: Check = async ({ parameters }, issuer) => {
  const hint = parameters.get('id_token_hint')
  if (hint === undefined) return {}
  const verified = await issuer.keyring.verify(hint, { typ: ['JWT'] })
  if (verified === null || verified.payload.iss !== issuer.url || typeof verified.payload.sub !== 'string') {
    throw invalidRequest('id_token_hint is not an ID token of this issuer')
  }
  return { hint_subject: personId(verified.payload.sub) }
}
