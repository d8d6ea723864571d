import { sha256Hex } from '../../crypto/digest.ts'
import { accessDenied, invalidGrant, OAuthError, unauthorizedClient } from '../../http/oauth-error.ts'
import type { Parameters } from '../../http/parameters.ts'
import { deleteDeviceRequest, findDeviceRequest } from '../../records/device-request.ts'
import type { Issuer } from '../issuer.ts'
import type { AuthenticatedClient } from './client-authentication.ts'
import { prepare } from './prepare.ts'
import { spend } from './spend.ts'
import { type TokenResponse, tokenResponse } from './token-response.ts'

export const DEVICE_CODE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

const DEVICE_CODE = /^sld_[A-Za-z0-9_-]{43}$/

/**
 * Device access token request (RFC 8628 section 3.4). How fast a device asks is the limiter's to judge, so that waiting costs no write. Two
 * polls after the approval open one session: the second is refused and ends nothing, for it is the same device asking twice.
 *
 * @throws OAuthError authorization_pending, slow_down, access_denied, expired_token, invalid_grant
 */
export async function deviceCodeGrant(
  parameters: Parameters,
  { clientId, client }: AuthenticatedClient,
  issuer: Issuer,
): Promise<TokenResponse> {
  if (!client.device) throw unauthorizedClient('the policy gives this client no device flow')
  const presented = parameters.require('device_code')
  const hash = await sha256Hex(presented)
  if (!(await issuer.limits.devicePoll.allows(hash)))
    throw new OAuthError('slow_down', 'the device asks more often than the interval it was given')

  const found = await findDeviceRequest(issuer.state, hash, issuer.log)
  if (found === null)
    throw DEVICE_CODE.test(presented) ? new OAuthError('expired_token', 'the device code has expired') : invalidGrant('no such device code')
  const { client_id, scopes, resource, approval, denied, user_code, expires_at } = found.value
  if (client_id !== clientId) throw invalidGrant('the device code was issued to another client', { subject: approval?.identity })
  if (denied === true) throw accessDenied('the person did not allow it')
  if (approval === undefined) throw new OAuthError('authorization_pending', 'nobody has allowed it yet')

  const { opening, minted } = await prepare({ ...approval, client_id, scopes, resource }, 'device', issuer)
  const opened = await spend(hash, { client_id, expires_at }, opening, issuer)
  if (opened === 'sign-in ended') throw invalidGrant('the sign-in it was allowed under has ended', { subject: approval.identity })
  if (opened !== 'opened') throw invalidGrant('the device code was redeemed before', { subject: approval.identity })
  issuer.audit.record({
    event: 'session.opened',
    subject: approval.identity,
    client: clientId,
    resource,
    session: opening.session.id,
    how: 'device',
  })
  await deleteDeviceRequest(issuer.state, hash, user_code).catch((error: unknown) => issuer.log.warn('device.not_deleted', { error }))
  return tokenResponse({ minted, scopes, refreshToken: opening.refreshToken?.token }, issuer)
}
