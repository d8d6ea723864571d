import { declared, type Policy } from '../../config/policy.ts'
import type { Session } from '../../records/session.ts'

/** A session as its person and operators see it: what it is, never what it is proved by. */
export interface SessionView {
  sid: string
  person: string
  client_id: string
  client_name: string
  /** The grant it began with. */
  how: Session['how']
  /** How the person was proved. */
  method?: string | undefined
  scopes: readonly string[]
  resource?: string | undefined
  /** The sign-in it rests on. */
  sign_in?: string | undefined
  /** unix seconds, these three */
  auth_time: number
  issued_at: number
  expires_at: number
}

export function sessionView(session: Session, policy: Policy): SessionView {
  const { id: sid, identity: person, client_id, how, method, scopes, resource, sso: sign_in, auth_time, issued_at, expires_at } = session
  const client_name = declared(policy.clients, client_id)?.display_name ?? client_id
  return { sid, person, client_id, client_name, how, method, scopes, resource, sign_in, auth_time, issued_at, expires_at }
}
