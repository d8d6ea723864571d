import { personId } from '../../ports/keys.ts'
import { type AuthorizationCode, createCode } from '../../records/authorization-code.ts'
import { CODE, drawTokenNear, placeOf } from '../../records/ids.ts'
import type { Issuer } from '../issuer.ts'

/** Makes an authorization code and writes what it stands for. @throws PortError Unavailable */
export async function issueCode(value: AuthorizationCode, issuer: Issuer): Promise<string> {
  const { token, hash } = await drawTokenNear(issuer.random, CODE, placeOf(personId(value.identity)))
  await createCode(issuer.state, hash, value)
  return token
}
