import { personId } from '../../ports/keys.ts'
import { findSessionIn } from '../../records/sessions.ts'
import type { SignIn } from '../../records/sign-in.ts'
import type { EndingParts } from '../ending-parts.ts'
import type { Hint } from './id-token-hint.ts'

/**
 * Whether a hint proves that who sent it belongs to this browser's sign-in, so that it may end unasked: it names the person, and a session
 * under this very sign-in. One of somebody else, or of another browser of theirs, must ask (OpenID Connect RP-Initiated Logout 1.0 section 2).
 *
 * A session that is over already proves as much where the sign-in let its client in at the moment the hint says: clients revoke their tokens
 * first and then come here.
 */
export async function isOfSignIn(hint: Hint, signIn: SignIn, { state, log }: Pick<EndingParts, 'state' | 'log'>): Promise<boolean> {
  const person = personId(signIn.identity)
  if (!hint.isProven || hint.person !== person || hint.sid === undefined) return false
  const session = await findSessionIn(state, person, hint.sid, log)
  if (session !== null) return session.sso === signIn.id
  return signIn.clients.includes(hint.clientId) && signIn.auth_time === hint.authTime
}
