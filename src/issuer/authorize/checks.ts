import { invalidRequest } from '../../http/oauth-error.ts'
import type { Issuer } from '../issuer.ts'
import type { Asked, Check, Checked } from './check.ts'
import { claims } from './checks/claims.ts'
import { idTokenHint } from './checks/id-token-hint.ts'
import { maxAge } from './checks/max-age.ts'
import { noRequestObject } from './checks/no-request-object.ts'
import { passedOn } from './checks/passed-on.ts'
import { pkce } from './checks/pkce.ts'
import { prompt } from './checks/prompt.ts'
import { resource } from './checks/resource.ts'
import { responseMode } from './checks/response-mode.ts'
import { responseType } from './checks/response-type.ts'
import { scope } from './checks/scope.ts'
import { wellFormed } from './checks/well-formed.ts'

/**
 * The checks of an authorization request whose client and redirect URI are known (`knownClient` and `registeredRedirectUri` come first:
 * what they refuse is a page). Each refuses, which goes back to the client, or returns the fields it vouches for.
 */
export const checks: readonly Check[] = [
  wellFormed,
  noRequestObject,
  responseType,
  responseMode,
  pkce,
  scope,
  prompt,
  maxAge,
  resource,
  claims,
  idTokenHint,
  passedOn,
]

export async function runChecks(asked: Asked, issuer: Issuer): Promise<Checked> {
  const checked: Checked = {}
  for (const check of checks) {
    const { hint_subject = checked.hint_subject, ...fields } = await check(asked, issuer)
    // OpenID Connect Core section 5.5.1: nobody else than the `sub` asked for may complete it, whomever the hint names.
    if (checked.hint_subject !== undefined && hint_subject !== checked.hint_subject)
      throw invalidRequest('id_token_hint and the sub asked for in claims name two people')
    Object.assign(checked, fields, { hint_subject })
  }
  return checked
}
