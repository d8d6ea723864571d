import { personId } from '../../ports/keys.ts'
import { type AuthorizationCode, CODE_LIFETIME, createCode } from '../../records/authorization-code.ts'
import { CODE, drawTokenNear, placeOf } from '../../records/ids.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'

/** What a code stands for. */
export type CodeContents = Pick<
  AuthorizationCode,
  | 'client_id'
  | 'redirect_uri'
  | 'code_challenge'
  | 'identity'
  | 'given_name'
  | 'family_name'
  | 'groups'
  | 'scopes'
  | 'nonce'
  | 'claims'
  | 'resource'
  | 'sso'
  | 'method'
  | 'acr'
  | 'amr'
  | 'auth_time'
>

/** Makes an authorization code and writes what it stands for. @throws PortError Unavailable */
export async function issueCode(of: CodeContents, issuer: Issuer): Promise<string> {
  const value = { ...of, expires_at: nowSeconds(issuer) + CODE_LIFETIME }
  const { token, hash } = await drawTokenNear(issuer.random, CODE, placeOf(personId(value.identity)))
  await createCode(issuer.state, hash, value)
  return token
}
