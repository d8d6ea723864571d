/** What is believed of sessions: enough to say of every token whether it must be accepted now. Seconds all through. */

export const LIMITS = { token: 3_600, idle: 43_200, absolute: 86_400, code: 300, grace: 30, tolerance: 2 } // config/policy.json
const DEPTH = 3 // how far lost answers are followed

export interface SignIn {
  person: string
  authTime: number
  ended: boolean
}

export interface Session {
  person: string
  client: string
  /** null: a device's. */
  signIn: SignIn | null
  authTime: number
  ended: boolean
}

export interface AccessToken {
  token: string
  session: Session
  expires: number
  revoked: boolean
}

export interface RefreshToken {
  token: string
  session: Session
  expires: number
  spent: { at: number; successor: RefreshToken } | null
}

export interface Code {
  code: string
  client: string
  signIn: SignIn
  authTime: number
  expires: number
  opened: AccessToken | null
}

/** Whether a sign-in has a record, so that codes under it open sessions and another person's sign-in ends it. */
export function stands(signIn: SignIn, now: number): boolean {
  return !signIn.ended && now < signIn.authTime + LIMITS.absolute
}

/** Whether a sign-in spares its person a page. */
export function isSilent(signIn: SignIn | undefined, now: number): signIn is SignIn {
  return signIn !== undefined && !signIn.ended && now < signIn.authTime + LIMITS.idle
}

export function isAccepted({ revoked, expires, session }: AccessToken, now: number): boolean {
  return !revoked && !session.ended && now < expires
}

export function isLive({ spent, expires, session }: RefreshToken, now: number): boolean {
  return spent === null && !session.ended && now < expires
}

export type Verdict = { is: 'rotated' } | { is: 'answered'; with: RefreshToken } | { is: 'refused' } | { is: 'reuse' }

/** What a refresh by the right client comes to. */
export function judge(presented: RefreshToken, now: number): Verdict {
  const { session, spent } = presented
  if (session.ended || now >= session.authTime + LIMITS.absolute) return { is: 'refused' }
  if (spent === null) return { is: isLive(presented, now) ? 'rotated' : 'refused' }
  const age = now - spent.at
  if (age > LIMITS.grace + LIMITS.tolerance) return { is: 'reuse' }
  let successor: RefreshToken | undefined = presented
  for (let depth = 0; depth <= DEPTH && successor !== undefined; depth++) {
    if (isLive(successor, now)) return { is: 'answered', with: successor }
    if (successor.spent === null || now - successor.spent.at >= LIMITS.grace) return { is: 'refused' }
    successor = successor.spent.successor
  }
  return { is: 'refused' }
}

/** What an exchange of a code comes to: a second one ends what the first opened, as long as the code's tombstone stands. */
export function judgeCode({ opened, expires, signIn, authTime }: Code, now: number): 'opens' | 'refused' | 'ends' {
  if (opened !== null) return now < Math.max(opened.expires, expires) ? 'ends' : 'refused'
  return now < expires && stands(signIn, now) && now < authTime + LIMITS.absolute ? 'opens' : 'refused'
}
