import { Refusal } from '../../http/refusal.ts'
import { requireSameOrigin } from '../../http/same-origin.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import type { Issuer } from '../issuer.ts'
import { signedInPerson } from '../signed-in.ts'

/** Who asks about sessions. */
export interface Asker {
  person: PersonId
  /** Whether they hold, now, a group of the policy's `console.operators`. Asked only where it matters: the directory may be away. */
  isOperator(): Promise<boolean>
}

/**
 * Who asks, by this browser's sign-in and from a page of ours: an access token is no way in here.
 *
 * @throws Refusal 403 from elsewhere, 401 when nobody is signed in. PortError Unavailable
 */
export async function askerOf(request: Request, issuer: Issuer): Promise<Asker> {
  requireSameOrigin(request, issuer.url)
  const signIn = await signedInPerson(request, issuer)
  if (signIn === null) throw unauthenticated()
  const person = personId(signIn.value.identity)
  return { person, isOperator: () => isOperator(person, issuer) }
}

/** What others' sessions are asked about with. @throws Refusal 403 for anybody but an operator */
export async function requireOperator(asker: Asker, what: string, issuer: Issuer): Promise<void> {
  const operator = await asker.isOperator()
  if (operator) return issuer.audit.record({ event: 'sessions.asked', subject: asker.person, reason: what })
  auditRefusal(asker, what, issuer)
  throw forbidden()
}

/** @param what they would have done */
export function auditRefusal(asker: Asker, what: string, issuer: Issuer): void {
  issuer.audit.record({ event: 'sessions.refused', subject: asker.person, reason: what })
}

async function isOperator(person: PersonId, issuer: Issuer): Promise<boolean> {
  const operators = issuer.policy.console?.operators ?? []
  if (operators.length === 0) return false
  const resolution = await issuer.directory.resolve(person)
  return resolution.state === 'live' && issuer.heldGroups(person, resolution.groups).some((group) => operators.includes(group))
}

function unauthenticated(): Refusal {
  return new Refusal(401, {
    code: 'unauthenticated',
    description: 'Nobody is signed in in this browser.',
    title: 'Not signed in',
    advice: 'Open /account and sign in.',
  })
}

function forbidden(): Refusal {
  return new Refusal(403, {
    code: 'forbidden',
    description: 'Only an operator may see or end the sessions of others.',
    title: 'Not yours',
    advice: 'Ask somebody who holds a group of console.operators.',
  })
}
