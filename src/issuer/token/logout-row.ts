import { declared } from '../../config/policy.ts'
import { canBeTold, createLogoutRow } from '../../records/logout-row.ts'
import type { Session } from '../../records/session.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'

/**
 * The row by which a session's client is told that it has ended, where it can be: its write, begun, which travels with those of the caller.
 *
 * @param absoluteEnd unix seconds
 */
export function logoutRow({ id: sid, identity: subject, client_id }: Session, absoluteEnd: number, issuer: Issuer): Promise<void>[] {
  const client = declared(issuer.policy.clients, client_id)
  if (client === undefined || !canBeTold(client)) return []
  const { backchannel_logout_uri, frontchannel_logout_uri } = client
  const entry = {
    ...{ sid, subject, client_id, backchannel_logout_uri, frontchannel_logout_uri, expires_at: absoluteEnd },
    session_required: client.backchannel_logout_session_required,
    frontchannel_session_required: client.frontchannel_logout_session_required,
  }
  return [createLogoutRow(issuer.state, entry, nowSeconds(issuer))]
}
