import { declared } from '../../config/policy.ts'
import { readForm } from '../../http/body.ts'
import { invalidRequest } from '../../http/oauth-error.ts'
import { pageResponse } from '../../http/page.tsx'
import { queryParameters } from '../../http/parameters.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { requireSameOrigin } from '../../http/same-origin.ts'
import { deviceCodePage, deviceConsentPage, deviceDonePage } from '../../pages/device.tsx'
import type { Page } from '../../pages/layout.tsx'
import { audienceOf } from '../../policy/admission.ts'
import { isPortError } from '../../ports/error.ts'
import { personId } from '../../ports/keys.ts'
import {
  answerDeviceRequest,
  type DeviceRequest,
  type FoundDevice,
  findByUserCode,
  findDeviceRequest,
} from '../../records/device-request.ts'
import type { Found } from '../../records/record.ts'
import type { SignIn } from '../../records/sign-in.ts'
import { shownUserCode, typedUserCode } from '../../records/user-code.ts'
import { admissionOf } from '../admission.ts'
import { clientGone, notAdmitted, notInDirectory } from '../authorize/refusals.ts'
import { signInFor } from '../authorize/send-to-sign-in.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { signedInPerson } from '../signed-in.ts'

const FRESH = 300 // s: who allows a device was proved just now, not this morning on a desk they left

/**
 * `GET /device` (RFC 8628 section 3.3): where a code is typed. A link that holds the code (section 3.3.1) fills it in; only somebody who
 * has just signed in sees at once what it is for, and nobody allows anything by following it.
 */
export async function devicePage(request: Request, issuer: Issuer): Promise<Response> {
  const typed = queryParameters(request).get('user_code')
  if (typed === undefined || (await signedInPerson(request, issuer, FRESH)) === null)
    return page(deviceCodePage({ typed: typed?.slice(0, 16) }), issuer)
  return consider(typed, request, issuer)
}

/**
 * `POST /device`: a code that was typed, or a person's answer to it.
 *
 * @throws Refusal 403 (another site's form), 429 (guessing). OAuthError invalid_request. PortError Unavailable
 */
export async function answerDevice(request: Request, issuer: Issuer): Promise<Response> {
  requireSameOrigin(request, issuer.url)
  const form = await readForm(request)
  const typed = form.require('user_code')
  const action = form.get('action')
  if (action === undefined) return consider(typed, request, issuer)
  if (action !== 'allow' && action !== 'deny') throw invalidRequest('action must be allow or deny')
  return answer({ action, typed, shown: form.get('request'), person: form.get('person') }, request, issuer)
}

/** Shows who asks, from where and for what, to somebody who has just signed in: anybody else signs in before a code is looked up for them. */
async function consider(typed: string, request: Request, issuer: Issuer): Promise<Response> {
  const code = typedUserCode(typed)
  if (code === null) return noSuchCode(typed, issuer)
  const signIn = await signedInPerson(request, issuer, FRESH)
  if (signIn === null) return signInFor(`/device?user_code=${code}`, request, issuer, FRESH)
  const found = await look(code, request, issuer)
  return found === null || isAnswered(found.value) ? noSuchCode(typed, issuer) : consent(found, signIn.value, issuer)
}

function consent({ value, hash }: FoundDevice, signIn: SignIn, issuer: Issuer): Promise<Response> {
  const { client_id, user_code, country, scopes } = value
  const client = declared(issuer.policy.clients, client_id)
  const asked = {
    person: signIn.identity,
    client: client?.display_name ?? client_id,
    description: client?.description,
    country,
    request: hash,
    userCode: shownUserCode(user_code),
    gets: scopesInWords(scopes),
  }
  return page(deviceConsentPage(asked), issuer)
}

interface Answer {
  action: 'allow' | 'deny'
  typed: string
  /** The request the page showed, by the hash of its device code. */
  shown: string | undefined
  /** Whom the page named. */
  person: string | undefined
}

async function answer({ action, typed, shown, person }: Answer, request: Request, issuer: Issuer): Promise<Response> {
  const code = typedUserCode(typed)
  if (code === null) return noSuchCode(typed, issuer)
  const signIn = await signedInPerson(request, issuer, FRESH)
  if (signIn === null) return signInFor(`/device?user_code=${code}`, request, issuer, FRESH)
  const found = shown === undefined ? await look(code, request, issuer) : await findShown(shown, code, issuer)
  if (found === null) return noSuchCode(typed, issuer)
  // Another person signed in in this browser since the page was shown: it asks them.
  if (person !== undefined && person !== signIn.value.identity) return consent(found, signIn.value, issuer)
  if (isAnswered(found.value)) return answeredBefore(found.value, action, signIn.value, issuer)
  return action === 'deny' ? write(found, { denied: true }, signIn.value, issuer) : allow(found, signIn.value, issuer)
}

/** A device by its user code. Every look counts against guessing. */
async function look(code: string, request: Request, issuer: Issuer): Promise<FoundDevice | null> {
  await brake(issuer.limits.userCode, clientAddress(request))
  return findByUserCode(issuer.state, code, issuer.log)
}

/** What the page showed: whoever can name it has looked it up before, so that an approval costs one look. */
async function findShown(hash: string, code: string, issuer: Issuer): Promise<FoundDevice | null> {
  const found = await findDeviceRequest(issuer.state, hash, issuer.log)
  return found?.value.user_code === code ? { ...found, hash } : null
}

/** Who allows again what they allowed, because the first answer went astray on its way back, is told that it is done. */
function answeredBefore(request: DeviceRequest, action: 'allow' | 'deny', signIn: SignIn, issuer: Issuer): Promise<Response> {
  const again = action === 'allow' && request.approval?.identity === signIn.identity
  return again ? done(request, true, issuer) : noSuchCode(request.user_code, issuer)
}

function isAnswered({ approval, denied }: DeviceRequest): boolean {
  return approval !== undefined || denied === true
}

async function allow(found: Found<DeviceRequest>, signIn: SignIn, issuer: Issuer): Promise<Response> {
  const audience = audienceOf(issuer.policy, found.value.client_id, found.value.resource)
  if (audience === null) throw clientGone()
  const person = personId(signIn.identity)
  const admission = await admissionOf(person, audience, issuer)
  if (admission.state === 'disowned') {
    issuer.audit.record({
      event: 'device.refused',
      subject: person,
      client: found.value.client_id,
      reason: `the directory says ${admission.reason}`,
    })
    throw notInDirectory()
  }
  if (admission.state === 'not admitted') {
    const reason = 'holds no group that is required'
    issuer.audit.record({ event: 'device.refused', subject: person, client: found.value.client_id, reason })
    return notAdmitted(audience, person, issuer)
  }
  const { groups, given_name, family_name } = admission
  const { how: method, acr, amr, auth_time, identity, id: sign_in } = signIn
  return write(found, { approval: { identity, given_name, family_name, groups, method, acr, amr, auth_time, sign_in } }, signIn, issuer)
}

/** Over the revision just read: of two answers at once, one counts. */
async function write(
  found: Found<DeviceRequest>,
  given: Pick<DeviceRequest, 'approval' | 'denied'>,
  signIn: SignIn,
  issuer: Issuer,
): Promise<Response> {
  try {
    await answerDeviceRequest(issuer.state, found, given, nowSeconds(issuer))
  } catch (error) {
    if (isPortError(error, 'Conflict', 'NotFound')) return noSuchCode(found.value.user_code, issuer)
    throw error
  }
  const allowed = given.approval !== undefined
  const { client_id, resource } = found.value
  issuer.audit.record({ event: allowed ? 'device.allowed' : 'device.denied', subject: signIn.identity, client: client_id, resource })
  return done(found.value, allowed, issuer)
}

function done({ client_id }: DeviceRequest, allowed: boolean, issuer: Issuer): Promise<Response> {
  return page(deviceDonePage({ allowed, client: declared(issuer.policy.clients, client_id)?.display_name ?? client_id }), issuer)
}

function noSuchCode(typed: string, issuer: Issuer): Promise<Response> {
  const problem = 'No device waits under that code. Check it, or start again on the device: a code is good for ten minutes, once.'
  return page(deviceCodePage({ typed: typed.slice(0, 16), problem }), issuer, 400)
}

const inWords: Record<string, string> = {
  openid: 'your identity, and the groups it may know',
  profile: 'your name',
  email: 'your address',
  offline_access: 'to stay signed in until you end it or the limit is reached',
}

function scopesInWords(scopes: readonly string[]): string[] {
  return scopes.flatMap((scope) => inWords[scope] ?? [])
}

function page(content: Page, issuer: Issuer, status = 200): Promise<Response> {
  return pageResponse(content, { site: issuer.site, status })
}
