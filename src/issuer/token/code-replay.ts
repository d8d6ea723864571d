import { invalidGrant, type OAuthError, temporarilyUnavailable } from '../../http/oauth-error.ts'
import { makeDue } from '../../logout/endings.ts'
import { isPortError } from '../../ports/error.ts'
import { keys, personId } from '../../ports/keys.ts'
import { findSpentCode, markReplayed, type SpentCode, spentCodeLifetime } from '../../records/authorization-code.ts'
import { markSwept } from '../../records/ending.ts'
import type { Found } from '../../records/record.ts'
import { markSessionEnded } from '../../records/session.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { checkPresentation, type Presentation } from './presentation.ts'

const TRIES = 3 // the tombstone moves at most twice: another replay marks it, an undo takes it away

/**
 * A code that was redeemed before (RFC 6749 section 4.1.2, RFC 9700 section 4.5): who of the two presenters is the thief can't be told, so
 * what it opened ends. Order of writes: the tombstone is marked, so that no undo brings the code back; the ended mark takes the session's
 * place, so that an exchange still under way can't open it; the token's record goes.
 *
 * @param notThere what to refuse with when there is no tombstone
 */
export async function revokeReplayed(presentation: Presentation, notThere: OAuthError, issuer: Issuer): Promise<never> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const spent = await findSpentCode(issuer.state, presentation.hash, issuer.log)
    if (spent === null) throw notThere
    await checkPresentation(presentation, spent.value)
    if (!(await marked(spent, issuer))) continue
    await end(spent.value, issuer)
    throw invalidGrant('the code was redeemed before; what it opened has ended', { subject: spent.value.identity })
  }
  throw temporarilyUnavailable(1)
}

/** False when the tombstone moved. */
async function marked(spent: Found<SpentCode>, issuer: Issuer): Promise<boolean> {
  if (spent.value.replayed === true) return true
  try {
    await markReplayed(issuer.state, spent, spentCodeLifetime(spent.value, nowSeconds(issuer)))
    return true
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return false
    throw error
  }
}

/** Done for every replay, also of one that a crash stopped half-way before. */
async function end(spent: SpentCode, issuer: Issuer): Promise<void> {
  // The mark need only outlive an exchange under way; the session's records are gone with it.
  const at = { ms: issuer.clock.now(), ttl: spentCodeLifetime(spent, nowSeconds(issuer)) }
  const person = personId(spent.identity)
  const ending = await makeDue({ person, sid: spent.session, client: spent.client_id, cause: 'reuse', by: 'system' }, issuer)
  await markSessionEnded(issuer.state, person, spent.session, at)
  await issuer.state.delete(keys.token(spent.jti))
  issuer.audit.record({
    event: 'session.ended',
    subject: spent.identity,
    client: spent.client_id,
    session: spent.session,
    reason: 'its code was presented twice',
    by: 'system',
  })
  if (ending !== null) issuer.tell(await markSwept(issuer.state, ending))
}
