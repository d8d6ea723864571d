import type { Ending } from '../records/ending.ts'
import type { Session } from '../records/session.ts'

/**
 * What was opened after the ending was asked for is not meant: a tick that takes it up late signs nobody out of what they began since. A
 * device's session rests on no sign-in: signing a browser out leaves it, and only its person or an operator ends it.
 */
export function isMeant({ which, at }: Ending, session: Session): boolean {
  if (session.auth_time > at) return false
  switch (which.of) {
    case 'everything':
      return true
    case 'sign_ins':
      return session.sso !== undefined && which.ids.includes(session.sso)
    case 'client':
      // No sign-in ends with it: one may have let the client in again, long after its person was proved.
      return session.client_id === which.client && session.issued_at <= at
    case 'sessions':
      return which.ids.includes(session.id)
  }
}
