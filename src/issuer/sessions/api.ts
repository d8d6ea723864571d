import { invalidRequest } from '../../http/oauth-error.ts'
import { type Parameters, queryParameters } from '../../http/parameters.ts'
import { notFound } from '../../http/refusal.ts'
import { json } from '../../http/respond.ts'
import { endSession, endSessions } from '../../logout/endings.ts'
import { isPortError } from '../../ports/error.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import { deleteHeld } from '../../records/held.ts'
import type { Session } from '../../records/session.ts'
import { findSessionById, listSessionPage } from '../../records/sessions.ts'
import type { Issuer } from '../issuer.ts'
import { askerOf, auditRefusal, requireOperator } from './asker.ts'
import { listUntold } from './untold.ts'
import { sessionView } from './view.ts'

/**
 * `GET /api/sessions[?person=][&client=][&page=]`: one's own, or, for an operator, another's, a client's or all, a page at a time. A page
 * that is filtered may hold few or none and still have a next. The first page of one person's also says which clients could not be told yet
 * that a session of theirs has ended.
 *
 * @throws Refusal 401, 403. OAuthError invalid_request. PortError Unavailable
 */
export async function listSessions(request: Request, issuer: Issuer): Promise<Response> {
  const asker = await askerOf(request, issuer)
  const parameters = queryParameters(request)
  const { person, client } = filter(parameters)
  const of = person ?? ((await asker.isOperator()) ? null : asker.person)
  if (of !== asker.person) await requireOperator(asker, `listed ${of ?? 'everybody'}`, issuer)

  const at = parameters.get('page')
  const [{ sessions, next }, untold] = await Promise.all([
    page(of, at, issuer),
    of === null || at !== undefined ? [] : listUntold(of, issuer),
  ])
  const shown = client === undefined ? sessions : sessions.filter((session) => session.client_id === client)
  return json({
    sessions: shown.map((session) => sessionView(session, issuer.policy)),
    ...(untold.length === 0 ? {} : { untold: untold.filter(({ client_id }) => client === undefined || client_id === client) }),
    ...(next === undefined ? {} : { next }),
  })
}

/** `DELETE /api/sessions/<sid>`: ends one. @throws Refusal 401, 403, 404 */
export async function deleteSession(request: Request, issuer: Issuer): Promise<Response> {
  const asker = await askerOf(request, issuer)
  const sid = new URL(request.url).pathname.split('/').at(-1) ?? '' // as it is: no session's id has anything to decode
  const found = await findSessionById(issuer.state, sid, issuer.log)
  const person = found === null ? null : personId(found.identity)
  if (person !== asker.person && !(await asker.isOperator())) {
    if (person !== null) auditRefusal(asker, `ended a session of ${person}`, issuer)
    throw notFound() // whether it exists is not theirs to learn
  }
  if (person === null) throw notFound()
  if (person !== asker.person) await requireOperator(asker, `ended a session of ${person}`, issuer)
  await endSession({ person, sid, cause: person === asker.person ? 'sign_out' : 'operator', by: asker.person }, issuer)
  return json({ ended: 1 })
}

/**
 * `DELETE /api/sessions?person=|client=`: all of a person, with their sign-ins; all of a client; or one person's at one client. `more`: they were
 * too many for one request, and the ticks end the rest. Of a person whom an operator has out of everything nothing is held: while the directory
 * can't be asked they are not let in again.
 *
 * @throws Refusal 401, 403. OAuthError invalid_request when neither is named
 */
export async function deleteSessions(request: Request, issuer: Issuer): Promise<Response> {
  const asker = await askerOf(request, issuer)
  const { person, client } = filter(queryParameters(request))
  const of = whose(person, client)
  if (person !== asker.person)
    await requireOperator(asker, `ended sessions of ${person ?? 'everybody'} at ${client ?? 'every client'}`, issuer)
  const cause = person === asker.person ? 'sign_out' : 'operator'
  if (cause === 'operator' && person !== undefined && client === undefined) await deleteHeld(issuer.state, person)
  const { sessions: ended, more } = await endSessions({ ...of, cause, by: asker.person }, issuer)
  return json(more ? { ended, more } : { ended })
}

function whose(person: PersonId | undefined, client: string | undefined) {
  if (client !== undefined) return { person: person ?? null, which: { of: 'client' as const, client } }
  if (person !== undefined) return { person, which: { of: 'everything' as const } }
  throw invalidRequest('name a person or a client: everything of everybody is not ended at once')
}

function filter(parameters: Parameters): { person: PersonId | undefined; client: string | undefined } {
  const person = parameters.get('person')
  return { person: person === undefined ? undefined : personId(person), client: parameters.get('client') }
}

async function page(person: PersonId | null, token: string | undefined, issuer: Issuer): Promise<{ sessions: Session[]; next?: string }> {
  try {
    return await listSessionPage(issuer, person, token, issuer.log)
  } catch (error) {
    if (isPortError(error, 'BadPage')) throw invalidRequest('page is not one that this listing gave')
    throw error
  }
}
