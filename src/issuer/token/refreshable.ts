import { about, invalidGrant, invalidScope, invalidTarget, OAuthError } from '../../http/oauth-error.ts'
import { endSession } from '../../logout/endings.ts'
import { type Audience, audienceOf } from '../../policy/admission.ts'
import { absoluteEnd } from '../../policy/lifetimes.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import type { EndingCause } from '../../records/ending.ts'
import type { Session } from '../../records/session.ts'
import { DIRECTORY_ACR } from '../acr.ts'
import { admissionOf } from '../admission.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { askedResource } from '../resource.ts'
import type { Grant } from './mint.ts'
import type { RefreshRequest } from './refresh-request.ts'

/** A session that may be refreshed now, by whom and for what. */
export interface Refreshable {
  session: Session
  person: PersonId
  audience: Audience
  /** unix seconds */
  absoluteEnd: number
  /** The scopes of this access token: the session's, or fewer. */
  scopes: readonly string[]
  /** All that its tokens say but their own ids. */
  grant: Omit<Grant, 'jti'>
}

/**
 * What a refresh may still be given, judged anew each time: its client, the absolute limit, the policy as it stands, and what the directory
 * says of the person now. Writes nothing, but ends a session whose limit is reached or whose person the directory disowns.
 *
 * @throws OAuthError invalid_grant, invalid_scope, invalid_target. PortError Unavailable when the directory can't be asked: nothing ends
 */
export async function refreshable(request: RefreshRequest, session: Session, issuer: Issuer): Promise<Refreshable> {
  if (session.client_id !== request.clientId)
    throw invalidGrant('the refresh token was issued to another client', { subject: session.identity })
  const person = personId(session.identity)
  const audience = audienceOf(issuer.policy, session.client_id, session.resource)
  if (audience === null) throw invalidGrant('the policy no longer has what this session is for', { subject: person })

  const end = absoluteEnd(issuer.policy, audience, session.auth_time)
  if (end <= nowSeconds(issuer)) return ended('absolute_limit', 'the session has reached its absolute limit', session, issuer)
  const scopes = scopesFor(request, session, issuer)

  const admission = await admissionOf(person, audience, issuer)
  if (admission.state === 'disowned')
    return ended('account_removed', 'the directory no longer has this person, or has suspended them', session, issuer)
  if (admission.state === 'not admitted') throw invalidGrant('this identity is not admitted to this client', { subject: person })
  const { groups, given_name, family_name } = admission
  const { identity, claims, acr = DIRECTORY_ACR, amr, auth_time: authTime, id: sid } = session
  return {
    session,
    person,
    audience,
    absoluteEnd: end,
    scopes,
    grant: { audience, identity, given_name, family_name, groups, scopes, claims, acr, amr, authTime, sid },
  }
}

/** The scopes of what is asked for. The refusals below know of no person. */
function scopesFor(request: RefreshRequest, session: Session, issuer: Issuer): readonly string[] {
  try {
    const scopes = narrowed(request, session)
    checkResource(request, session, issuer)
    return scopes
  } catch (error) {
    throw error instanceof OAuthError ? about(session.identity, error) : error
  }
}

/** RFC 6749 section 6: no scope that was not granted; fewer are good for this access token only. */
function narrowed({ parameters }: RefreshRequest, session: Session): readonly string[] {
  const asked = parameters.get('scope')?.split(' ').filter(Boolean)
  if (asked === undefined) return session.scopes
  if (asked.length === 0) throw invalidScope('scope names nothing')
  // Not by its name: what somebody sends in its place may be anything, and this is logged.
  if (asked.some((scope) => !session.scopes.includes(scope)))
    throw invalidScope(`scope goes beyond what this session was granted: ${session.scopes.join(' ')}`)
  return session.scopes.filter((scope) => asked.includes(scope))
}

/** RFC 8707 section 2.2. */
function checkResource({ parameters }: RefreshRequest, session: Session, issuer: Issuer): void {
  const asked = askedResource(parameters, issuer.policy)
  if (asked !== undefined && asked !== session.resource) throw invalidTarget('resource is not the one the session was opened for')
}

async function ended(cause: EndingCause, description: string, session: Session, issuer: Issuer): Promise<never> {
  await endSession({ person: personId(session.identity), sid: session.id, cause, by: 'system' }, issuer)
  throw invalidGrant(description, { subject: session.identity })
}
