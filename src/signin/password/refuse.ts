import { brake, clientAddress } from '../../http/rate-limit.ts'
import { Refusal } from '../../http/refusal.ts'
import type { Issuer } from '../../issuer/authorize/complete.ts'
import type { PasswordAccount } from '../sign-in.ts'

/**
 * What a failed attempt is answered, whatever failed: the account, the password, the exchange it belonged to or its arithmetic. Why is for
 * the log and the audit. Each counts against the address it came from; one that succeeds is never looked at for it.
 *
 * @param account the one that was tried, where there is one of that name: what else was typed may be anything, a password too
 * @throws Refusal 429: too many of them
 */
export async function refuseProof(
  request: Request,
  { account, reason }: { account: PasswordAccount | null; reason: string },
  issuer: Issuer,
): Promise<Refusal> {
  issuer.log.warn('signin.password_failed', { kind: account ?? 'unknown', reason })
  if (account === 'recovery') issuer.audit.record({ event: 'recovery.refused', reason, subject: account, how: account })
  else issuer.audit.record({ event: 'signin.refused', reason, how: account ?? 'password', subject: account ?? undefined })
  await brake(issuer.limits.signIn, clientAddress(request))
  return new Refusal(403, {
    code: 'proof_refused',
    description: 'That password was not accepted.',
    title: 'That was not accepted',
    advice: 'Go back, check the account and the password, and try again.',
  })
}
