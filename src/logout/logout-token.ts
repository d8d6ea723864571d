import type { Client } from '../config/policy.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { Clock, Random } from '../ports/platform.ts'
import { drawId } from '../records/ids.ts'
import type { LogoutTarget } from './store.ts'

/** What a logout token is about: `sub` and `sid` as the client's ID tokens had them. */
export type LoggedOut = Pick<LogoutTarget, 'client_id' | 'subject' | 'sid'>

export interface LogoutTokenParts {
  /** The issuer identifier. */
  url: string
  keyring: Pick<Keyring, 'sign' | 'defaultAlg'>
  clock: Clock
  random: Random
}

/** seconds: enough for clocks that disagree, too short to be kept for later; every attempt has its own token (Back-Channel Logout 1.0 section 4) */
export const LOGOUT_TOKEN_LIFETIME = 120

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * A logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4), its `jti` fresh, signed with the algorithm of the client's ID tokens.
 * It has no nonce, so that it passes for no ID token, and its own typ, so that it passes for no access token either. `sid` is always said,
 * though section 2.4 asks it only where the client requires it: without, all of the person's sessions at the client would be meant.
 *
 * @throws PortError as Keyring.sign
 */
export function logoutToken({ client_id, subject, sid }: LoggedOut, client: Client, parts: LogoutTokenParts): Promise<string> {
  const { url, keyring, clock, random } = parts
  const iat = Math.floor(clock.now() / 1000)
  return keyring.sign(client.signing_alg ?? keyring.defaultAlg, 'logout+jwt', {
    iss: url,
    sub: subject,
    aud: client_id,
    iat,
    exp: iat + LOGOUT_TOKEN_LIFETIME,
    jti: drawId(random),
    sid,
    events: { [EVENT]: {} },
  })
}
