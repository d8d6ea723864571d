import { readCookie, setCookie, ssoCookie } from '../../http/cookies.ts'
import { temporarilyUnavailable } from '../../http/oauth-error.ts'
import { type Audience, audienceOf } from '../../policy/admission.ts'
import { isPortError } from '../../ports/error.ts'
import { type AuthorizationRequest, consumeRequest } from '../../records/authorization-request.ts'
import type { Found } from '../../records/record.ts'
import { admissionOf } from '../admission.ts'
import type { Issuer } from '../issuer.ts'
import { answerClient, type Return } from './answer-client.ts'
import { beginSignIn, type Proof } from './begin-sign-in.ts'
import { issueCode } from './issue-code.ts'
import { alreadyCompleted, clientGone, clientName, notAdmitted, notInDirectory } from './refusals.ts'

// What the rooms of src/signin need of this one; they import nothing else of it.
export { DIRECTORY_ACR } from '../acr.ts'
export type { Issuer } from '../issuer.ts'
export type { Proof } from './begin-sign-in.ts'
export { requestGone } from './refusals.ts'

/**
 * The one way a proof becomes a code. Order of writes: the sign-in's records; then the request is consumed, which of several completions
 * one does; then the code. A refusal before that leaves the request for somebody else to complete.
 *
 * @param request the browser's, already known to be the one the pending request is bound to
 * @throws Refusal, with a page, to a person who may not or need not complete it. PortError Unavailable
 */
export async function completeSignIn(
  request: Request,
  pending: Found<AuthorizationRequest>,
  proof: Proof,
  issuer: Issuer,
): Promise<Response> {
  const { request: asked, resource, hint_subject, own } = pending.value
  if (own === true) return completeOwn(request, pending, proof, issuer)
  const audience = audienceOf(issuer.policy, asked.client_id, resource)
  if (audience === null) throw clientGone()
  if (hint_subject !== undefined && hint_subject !== proof.person) return wrongPerson(pending, proof, audience, issuer)

  const admission = await admissionOf(proof.person, audience, issuer)
  if (admission.state === 'disowned') {
    auditRefusal(proof, audience, `the directory says ${admission.reason}`, issuer)
    throw notInDirectory()
  }

  const lets = admission.state === 'admitted' ? [asked.client_id] : []
  const begun = await beginSignIn(proof, lets, readCookie(request, ssoCookie(issuer.url)), issuer)
  const cookie = { 'set-cookie': setCookie(ssoCookie(issuer.url), begun.cookie, { maxAge: begun.maxAge }) }
  if (admission.state === 'not admitted') {
    auditRefusal(proof, audience, 'holds no group that is required', issuer)
    return notAdmitted(audience, proof.person, issuer, cookie)
  }

  return handingOver(cookie, async () => {
    if (!(await consumed(pending, issuer))) return alreadyCompleted(clientName(audience), issuer, cookie)
    const { client_id, redirect_uri, code_challenge, scopes, nonce, claims } = asked
    const { groups, given_name, family_name } = admission
    const { person: identity, method, acr, amr, authTime: auth_time } = proof
    const code = await issueCode(
      {
        ...{ client_id, redirect_uri, code_challenge, scopes, nonce, claims, resource },
        ...{ identity, given_name, family_name, groups, sso: begun.id, method, acr, amr, auth_time },
      },
      issuer,
    )
    issuer.audit.record({ event: 'signin.completed', subject: identity, client: client_id, resource, how: method, sign_in: begun.id })
    return answerClient(returnTo(asked, audience), { code }, issuer, cookie)
  })
}

/** Once a sign-in has begun its cookie is handed over whatever comes after: the one before it may stand for nothing any more. */
async function handingOver(cookie: Readonly<Record<string, string>>, rest: () => Promise<Response>): Promise<Response> {
  try {
    return await rest()
  } catch (error) {
    throw isPortError(error, 'Unavailable') ? temporarilyUnavailable(RETRY_AFTER, { cause: error, headers: cookie }) : error
  }
}

const RETRY_AFTER = 5 // s, as everywhere a store is away

/** A sign-in for a page of ours (`/account`, `/device`): no client, and no code. */
async function completeOwn(request: Request, pending: Found<AuthorizationRequest>, proof: Proof, issuer: Issuer): Promise<Response> {
  const resolution = await issuer.directory.resolve(proof.person)
  if (resolution.state === 'refused') {
    issuer.audit.record({
      event: 'signin.refused',
      subject: proof.person,
      reason: `the directory says ${resolution.reason}`,
      how: proof.method,
    })
    throw notInDirectory()
  }
  const begun = await beginSignIn(proof, [], readCookie(request, ssoCookie(issuer.url)), issuer)
  const cookie = { 'set-cookie': setCookie(ssoCookie(issuer.url), begun.cookie, { maxAge: begun.maxAge }) }
  return handingOver(cookie, async () => {
    if (!(await consumed(pending, issuer))) return alreadyCompleted(issuer.site.name, issuer, cookie)
    issuer.audit.record({ event: 'signin.completed', subject: proof.person, how: proof.method, sign_in: begun.id })
    return new Response(null, { status: 303, headers: { location: pending.value.request.redirect_uri, ...cookie } })
  })
}

/** OpenID Connect Core section 3.1.2.1: the client named one person, and this is another. */
async function wrongPerson(pending: Found<AuthorizationRequest>, proof: Proof, audience: Audience, issuer: Issuer): Promise<Response> {
  if (!(await consumed(pending, issuer))) return alreadyCompleted(clientName(audience), issuer)
  auditRefusal(proof, audience, 'the client asked for another person', issuer)
  const answer = { error: 'login_required', error_description: 'another person signed in than the one asked for' }
  return answerClient(returnTo(pending.value.request, audience), answer, issuer)
}

/** False when another completion was first. */
async function consumed(pending: Found<AuthorizationRequest>, issuer: Issuer): Promise<boolean> {
  try {
    await consumeRequest(issuer.state, pending)
    return true
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return false
    throw error
  }
}

function auditRefusal(proof: Proof, { clientId, resourceId }: Audience, reason: string, issuer: Issuer): void {
  issuer.audit.record({ event: 'signin.refused', subject: proof.person, client: clientId, resource: resourceId, reason, how: proof.method })
}

function returnTo(asked: AuthorizationRequest['request'], audience: Audience): Return {
  return { client: clientName(audience), redirectUri: asked.redirect_uri, mode: asked.response_mode, state: asked.state }
}
