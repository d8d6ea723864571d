import type { Sha256Hex } from '../../crypto/digest.ts'
import { isPortError } from '../../ports/error.ts'
import type { Rev } from '../../ports/state.ts'
import { createSpentCode, type SpentCode, spentCodeLifetime, withdrawSpentCode } from '../../records/authorization-code.ts'
import { type Issuer, nowSeconds } from '../issuer.ts'
import { type Opening, openSession } from './open-session.ts'

/** What was presented, besides what the opening says of the session it becomes. */
export type Presented = Pick<SpentCode, 'client_id' | 'redirect_uri' | 'code_challenge'> & {
  /** Until when what was presented could be exchanged. */
  expires_at: number
}

/** What became of it; nothing of it is left unless it was opened. */
export type Spent = 'opened' | 'ended' | 'sign-in ended'

/**
 * Spends a code, or the code of a device, and opens its session. The tombstone is the gate: of N presentations one passes. When the session
 * can't be opened the tombstone is taken back, and the code is good again: unless it was presented a second time meanwhile.
 *
 * @returns null when another presentation passed the gate
 * @throws what the store threw; nothing was handed out
 */
export async function spend(hash: Sha256Hex, presented: Presented, opening: Opening, issuer: Issuer): Promise<Spent | null> {
  const rev = await passGate(hash, presented, opening, issuer)
  if (rev === null) return null
  const opened = await openSession(opening, issuer)
  if (opened.state !== 'failed') return opened.state
  if (!(await withdrawSpentCode(issuer.state, hash, { jti: opening.token.id, rev }, issuer.log))) return 'ended'
  throw opened.cause
}

async function passGate(hash: Sha256Hex, presented: Presented, { token, session }: Opening, issuer: Issuer): Promise<Rev | null> {
  const { client_id, redirect_uri, code_challenge, expires_at: code_expires } = presented
  const spent: SpentCode = {
    ...{ client_id, redirect_uri, code_challenge },
    identity: session.identity,
    jti: token.id,
    session: session.id,
    token_expires: token.expires,
    code_expires,
  }
  try {
    return await createSpentCode(issuer.state, hash, spent, spentCodeLifetime(spent, nowSeconds(issuer)))
  } catch (error) {
    if (isPortError(error, 'Exists')) return null
    // It may stand all the same; then nothing else does.
    await withdrawSpentCode(issuer.state, hash, { jti: token.id, rev: null }, issuer.log)
    throw error
  }
}
