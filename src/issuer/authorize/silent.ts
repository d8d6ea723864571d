import { readSignInCookie } from '../../http/cookies.ts'
import { accessDenied } from '../../http/oauth-error.ts'
import { type Audience, audienceOf } from '../../policy/admission.ts'
import { absoluteEnd } from '../../policy/lifetimes.ts'
import { isPortError } from '../../ports/error.ts'
import { personId } from '../../ports/keys.ts'
import { reaches } from '../../records/claims.ts'
import type { Found } from '../../records/record.ts'
import { coverClient, deleteSignIn, endSignIn, findSignIn, findSignInByCookie, type SignIn } from '../../records/sign-in.ts'
import { admissionOf } from '../admission.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { answerClient, type Return } from './answer-client.ts'
import { cookieHash } from './begin-sign-in.ts'
import type { Asked, Checked } from './check.ts'
import { issueCode } from './issue-code.ts'
import { notAdmitted } from './refusals.ts'

const TRIES = 3 // a sign-in moves when another tab brings in another client

/**
 * Completes a request from the browser's standing sign-in, without a page (single sign-on). The sign-in keeps its time and its proof.
 *
 * @returns null when somebody has to sign in: there is no such sign-in, or the request asks for more than it can give
 * @throws OAuthError access_denied when no page may say it. PortError Unavailable
 */
export async function completeSilently(
  request: Request,
  asked: Asked,
  checked: Checked,
  to: Return,
  issuer: Issuer,
): Promise<Response | null> {
  const audience = audienceOf(issuer.policy, asked.clientId, checked.resource)
  if (audience === null || wantsPage(checked)) return null
  const cookie = readSignInCookie(request, issuer.url)
  const standing = cookie === undefined ? null : await findSignInByCookie(issuer.state, await cookieHash(cookie), issuer.log)
  if (standing === null || !suffices(standing.value, checked, audience, issuer)) return null

  const { identity, acr, amr, how, auth_time, id } = standing.value
  const person = personId(identity)
  const admission = await admissionOf(person, audience, issuer)
  if (admission.state === 'disowned') {
    await forget(standing.value, issuer)
    return null
  }
  if (admission.state === 'not admitted') {
    const reason = 'holds no group that is required'
    issuer.audit.record({ event: 'signin.refused', subject: person, client: asked.clientId, resource: checked.resource, reason, how })
    if (checked.prompt?.includes('none')) throw accessDenied('this person is not admitted to this client')
    return notAdmitted(audience, person, issuer)
  }

  if (!(await cover(standing, asked.clientId, issuer))) return null
  const { scopes = [], code_challenge, nonce, claims, resource } = checked
  const { groups, given_name, family_name } = admission
  const code = await issueCode(
    {
      ...{ client_id: asked.clientId, redirect_uri: asked.redirectUri, code_challenge, nonce, claims, resource, scopes },
      ...{ identity, given_name, family_name, groups, sso: id, method: how, acr, amr, auth_time },
    },
    issuer,
  )
  return answerClient(to, { code }, issuer)
}

/** OpenID Connect Core section 3.1.2.1. There is no page for consent alone: who is asked for it signs in, on a page that names the client. */
function wantsPage({ prompt = [], max_age }: Checked): boolean {
  return max_age === 0 || prompt.some((word) => word !== 'none')
}

function suffices(signIn: SignIn, checked: Checked, audience: Audience, issuer: Issuer): boolean {
  const now = nowSeconds(issuer)
  const { identity, acr, auth_time, silent_until } = signIn
  if (!reaches(checked.claims, acr)) return false
  if (silent_until <= now || absoluteEnd(issuer.policy, audience, auth_time) <= now) return false
  if (checked.max_age !== undefined && now - auth_time > checked.max_age) return false
  if (checked.hint_subject !== undefined && checked.hint_subject !== identity) return false
  return checked.login_hint === undefined || !checked.login_hint.includes('@') || personId(checked.login_hint) === identity
}

/** The directory disowns the person: their sign-in goes. What it opened each client learns at its next refresh. */
async function forget({ id, identity }: SignIn, issuer: Issuer): Promise<void> {
  issuer.log.warn('signin.disowned')
  issuer.audit.record({ event: 'signin.ended', subject: identity, reason: 'the directory disowns the person', by: 'system', sign_in: id })
  await endSignIn(issuer.state, id, { ms: issuer.clock.now() }, issuer.log)
  await deleteSignIn(issuer, personId(identity), id)
}

/** Writes the client among those the sign-in has let in, when it isn't. False when the sign-in ended meanwhile. */
async function cover(standing: Found<SignIn>, clientId: string, issuer: Issuer): Promise<boolean> {
  let found: Found<SignIn> | null = standing
  for (let attempt = 0; attempt < TRIES && found !== null; attempt++) {
    if (found.value.clients.includes(clientId)) return true
    try {
      await coverClient(issuer.state, found, clientId, found.value.expires_at - nowSeconds(issuer))
      return true
    } catch (error) {
      if (!isPortError(error, 'Conflict', 'NotFound')) throw error
    }
    found = await findSignIn(issuer.state, standing.value.id, issuer.log)
  }
  return false
}
