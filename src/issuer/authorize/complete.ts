import { readSignInCookie, setCookie, ssoCookie } from '../../http/cookies.ts'
import { type Audience, audienceOf } from '../../policy/admission.ts'
import { isPortError } from '../../ports/error.ts'
import { type AuthorizationRequest, consumeRequest } from '../../records/authorization-request.ts'
import { reaches } from '../../records/claims.ts'
import type { Found } from '../../records/record.ts'
import { type Admission, admissionOf } from '../admission.ts'
import type { Issuer } from '../issuer.ts'
import { answerClient, type Return } from './answer-client.ts'
import { askAgain } from './ask-again.ts'
import { beginSignIn, type Proof } from './begin-sign-in.ts'
import { type CodeContents, issueCode } from './issue-code.ts'
import { alreadyCompleted, clientGone, clientName, notAdmitted, notInDirectory } from './refusals.ts'

// What the rooms of src/signin need of this one; they import nothing else of it.
export { DIRECTORY_ACR, RECOVERY_ACR } from '../acr.ts'
export type { Issuer } from '../issuer.ts'
export type { Proof } from './begin-sign-in.ts'
export { requestGone } from './refusals.ts'

type Admitted = Extract<Admission, { state: 'admitted' }>

/**
 * The one way a proof becomes a code. Order of writes: the sign-in's records; then the request is consumed, which of several completions
 * one does; then the code. A refusal before that leaves the request for somebody else to complete; a store that fails from there on costs
 * the person a redirect, never the sign-in they have just made.
 *
 * @param request the browser's, already known to be the one the pending request is bound to
 * @throws Refusal, with a page, to a person who may not or need not complete it. PortError Unavailable: no sign-in has begun, and the form
 *   can be sent again
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
  if (hint_subject !== undefined && hint_subject !== proof.person)
    return unwanted(
      pending,
      proof,
      { audience, error: 'login_required', reason: 'another person signed in than the one asked for' },
      issuer,
    )
  if (!reaches(asked.claims, proof.acr))
    return unwanted(pending, proof, { audience, error: UNMET, reason: 'the sign-in is of another acr than the client needs' }, issuer)

  const admission = await admissionOf(proof.person, audience, issuer)
  if (admission.state === 'disowned') {
    auditRefusal(proof, audience, `the directory says ${admission.reason}`, issuer)
    throw notInDirectory()
  }

  const lets = admission.state === 'admitted' ? [asked.client_id] : []
  const begun = await beginSignIn(proof, lets, readSignInCookie(request, issuer.url), issuer)
  const cookie = { 'set-cookie': setCookie(ssoCookie(issuer.url), begun.cookie, { maxAge: begun.maxAge }) }
  if (admission.state === 'not admitted') {
    auditRefusal(proof, audience, 'holds no group that is required', issuer)
    return notAdmitted(audience, proof.person, issuer, cookie)
  }

  const completed = {
    event: 'signin.completed' as const,
    subject: proof.person,
    how: proof.method,
    sign_in: begun.id,
    client: asked.client_id,
    resource,
  }
  try {
    if (!(await consumed(pending, issuer))) return alreadyCompleted(clientName(audience), issuer, cookie)
    const code = await issueCode(codeContents(pending.value, proof, admission, begun.id), issuer)
    issuer.audit.record(completed)
    return answerClient(returnTo(asked, audience), { code }, issuer, cookie)
  } catch (error) {
    if (!isPortError(error, 'Unavailable')) throw error
    issuer.log.warn('signin.asks_again', { error })
    issuer.audit.record(completed)
    return askAgain(pending.value, { cause: error, headers: cookie }, issuer)
  }
}

function codeContents({ request, resource }: AuthorizationRequest, proof: Proof, admitted: Admitted, signIn: string): CodeContents {
  const { client_id, redirect_uri, code_challenge, scopes, nonce, claims } = request
  const { groups, given_name, family_name } = admitted
  const { person: identity, method, acr, amr, authTime: auth_time } = proof
  return {
    ...{ client_id, redirect_uri, code_challenge, scopes, nonce, claims, resource },
    ...{ identity, given_name, family_name, groups, sso: signIn, method, acr, amr, auth_time },
  }
}

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
  const begun = await beginSignIn(proof, [], readSignInCookie(request, issuer.url), issuer)
  const cookie = { 'set-cookie': setCookie(ssoCookie(issuer.url), begun.cookie, { maxAge: begun.maxAge }) }
  // The page asks nothing of the request: whether it is known to be gone or not, the sign-in stands.
  if ((await consumedOrUnknown(pending, issuer)) === false) return alreadyCompleted(issuer.site.name, issuer, cookie)
  issuer.audit.record({ event: 'signin.completed', subject: proof.person, how: proof.method, sign_in: begun.id })
  return new Response(null, { status: 303, headers: { location: pending.value.request.redirect_uri, ...cookie } })
}

/** Of the OpenID Connect Core Unmet Authentication Requirements specification: what the client can't do without was not proved. */
const UNMET = 'unmet_authentication_requirements'

/** A proof that the client can't use (OpenID Connect Core sections 3.1.2.1 and 5.5.1.1): another person's, or another kind of proof. */
async function unwanted(
  pending: Found<AuthorizationRequest>,
  proof: Proof,
  { audience, error, reason }: { audience: Audience; error: 'login_required' | typeof UNMET; reason: string },
  issuer: Issuer,
): Promise<Response> {
  if ((await consumedOrUnknown(pending, issuer)) === false) return alreadyCompleted(clientName(audience), issuer)
  auditRefusal(proof, audience, reason, issuer)
  return answerClient(returnTo(pending.value.request, audience), { error, error_description: reason }, issuer)
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

/** Null when the store does not say whether it is: what follows needs no more than that it may be. */
async function consumedOrUnknown(pending: Found<AuthorizationRequest>, issuer: Issuer): Promise<boolean | null> {
  try {
    return await consumed(pending, issuer)
  } catch (error) {
    if (!isPortError(error, 'Unavailable')) throw error
    issuer.log.warn('signin.request_left', { error })
    return null
  }
}

function auditRefusal(proof: Proof, { clientId, resourceId }: Audience, reason: string, issuer: Issuer): void {
  issuer.audit.record({ event: 'signin.refused', subject: proof.person, client: clientId, resource: resourceId, reason, how: proof.method })
}

function returnTo(asked: AuthorizationRequest['request'], audience: Audience): Return {
  return { client: clientName(audience), redirectUri: asked.redirect_uri, mode: asked.response_mode, state: asked.state }
}
