import { readForm } from '../../http/body.ts'
import { invalidScope, unauthorizedClient } from '../../http/oauth-error.ts'
import { brake, clientAddress } from '../../http/rate-limit.ts'
import { tokenJson } from '../../http/respond.ts'
import { isPortError, PortError } from '../../ports/error.ts'
import { createDeviceRequest, DEVICE_REQUEST_LIFETIME, type DeviceRequest } from '../../records/device-request.ts'
import { DEVICE_CODE, type DrawnToken, drawToken } from '../../records/ids.ts'
import { drawUserCode, shownUserCode } from '../../records/user-code.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { askedResource } from '../resource.ts'
import { grantedScopes, scopes } from '../scopes.ts'
import { authenticateClient, presentedClientId } from '../token/client-authentication.ts'

const INTERVAL = 5 // s between polls (RFC 8628 section 3.2, its default)
const TRIES = 5 // of 20^8 user codes a few thousand live at once: five draws never all meet one

/**
 * Device authorization endpoint (RFC 8628 section 3.1), for clients whose policy says `device`.
 *
 * @throws OAuthError invalid_request, invalid_client, unauthorized_client, invalid_scope, invalid_target. PortError Unavailable
 */
export async function deviceAuthorization(request: Request, issuer: Issuer): Promise<Response> {
  const parameters = await readForm(request)
  await brake(issuer.limits.token, `${presentedClientId(request, parameters)} ${clientAddress(request)}`)
  const { clientId, client } = await authenticateClient(request, parameters, issuer)
  if (!client.device) throw unauthorizedClient('the policy gives this client no device flow')
  const granted = grantedScopes(parameters.get('scope'))
  if (granted.length === 0) throw invalidScope(`scope names none of ${scopes.join(', ')}`)
  const resource = askedResource(parameters, issuer.policy)

  const code = await drawToken(issuer.random, DEVICE_CODE)
  const country = countryOf(request)
  const asked = { client_id: clientId, scopes: granted, resource, country, expires_at: nowSeconds(issuer) + DEVICE_REQUEST_LIFETIME }
  const shown = shownUserCode(await create(code, asked, issuer))
  const verificationUri = `${issuer.url}/device`
  return tokenJson({
    device_code: code.token,
    user_code: shown,
    verification_uri: verificationUri,
    verification_uri_complete: `${verificationUri}?user_code=${shown}`,
    expires_in: DEVICE_REQUEST_LIFETIME,
    interval: INTERVAL,
  })
}

/** The user code it is written under: another when somebody has the first. */
async function create(
  { hash }: DrawnToken,
  asked: Pick<DeviceRequest, 'client_id' | 'scopes' | 'resource' | 'country' | 'expires_at'>,
  issuer: Issuer,
): Promise<string> {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const user_code = drawUserCode(issuer.random)
    try {
      await createDeviceRequest(issuer.state, hash, { ...asked, user_code })
      return user_code
    } catch (error) {
      if (!isPortError(error, 'Exists')) throw error
    }
  }
  throw new PortError('Unavailable', 'no free user code was drawn')
}

/**
 * Where the platform says the request came from: the page that asks for consent shows it, since a phished person's device is elsewhere. Beside
 * the codes of ISO 3166 it says `T1` of Tor, and `XX` of what it doesn't know.
 */
function countryOf(request: Request): string | undefined {
  const { cf } = request as { cf?: { country?: unknown } }
  return typeof cf?.country === 'string' && /^(?:[A-Z]{2}|T1)$/.test(cf.country) && cf.country !== 'XX' ? cf.country : undefined
}
