import { readCookie, setCookie, ssoCookie } from '../../http/cookies.ts'
import { type Audience, admits, audienceOf } from '../../policy/admission.ts'
import { heldGroups } from '../../policy/held-groups.ts'
import { isPortError } from '../../ports/error.ts'
import { createCode } from '../../records/authorization-code.ts'
import { type AuthorizationRequest, consumeRequest } from '../../records/authorization-request.ts'
import { CODE, drawTokenNear, placeOf } from '../../records/ids.ts'
import type { Found } from '../../records/record.ts'
import type { Issuer } from '../issuer.ts'
import { answerClient, type Return } from './answer-client.ts'
import { beginSignIn, type Proof } from './begin-sign-in.ts'
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
  const { request: asked, resource, hint_subject } = pending.value
  const audience = audienceOf(issuer.policy, asked.client_id, resource)
  if (audience === null) throw clientGone()
  if (hint_subject !== undefined && hint_subject !== proof.person) return wrongPerson(pending, proof, audience, issuer)

  const resolution = await issuer.directory.resolve(proof.person)
  if (resolution.state === 'refused') {
    auditRefusal(proof, audience, `the directory says ${resolution.reason}`, issuer)
    throw notInDirectory()
  }

  const groups = heldGroups(issuer.policy, proof.person, resolution.groups)
  const admitted = admits(audience, groups)
  const begun = await beginSignIn(proof, admitted ? [asked.client_id] : [], readCookie(request, ssoCookie(issuer.url)), issuer)
  const cookie = { 'set-cookie': setCookie(ssoCookie(issuer.url), begun.cookie, { maxAge: begun.maxAge }) }
  if (!admitted) {
    auditRefusal(proof, audience, 'holds no group that is required', issuer)
    return notAdmitted(audience, proof.person, issuer, cookie)
  }

  if (!(await consumed(pending, issuer))) return alreadyCompleted(clientName(audience), issuer, cookie)
  const { token: code, hash } = await drawTokenNear(issuer.random, CODE, placeOf(proof.person))
  await createCode(issuer.state, hash, {
    client_id: asked.client_id,
    redirect_uri: asked.redirect_uri,
    code_challenge: asked.code_challenge,
    identity: proof.person,
    given_name: resolution.given_name,
    family_name: resolution.family_name,
    groups,
    scopes: asked.scopes,
    nonce: asked.nonce,
    claims: asked.claims,
    resource,
    sso: begun.id,
    method: proof.method,
    acr: proof.acr,
    amr: proof.amr,
    auth_time: proof.authTime,
  })
  issuer.audit.record({
    event: 'signin.completed',
    subject: proof.person,
    client: asked.client_id,
    resource,
    how: proof.method,
    sign_in: begun.id,
  })
  return answerClient(returnTo(asked, audience), { code }, issuer, cookie)
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
