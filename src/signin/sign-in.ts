import type { Person } from '../config/service.ts'
import type { Bytes } from '../crypto/bytes.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { UpstreamProvider } from './upstream/providers.ts'

/** The ways this installation signs people in. Built by compose. */
export interface WaysIn {
  /** Whom the picker offers; null where there is no picker. */
  picker: readonly Person[] | null
  /** The company's own providers, in the order the page offers them. */
  upstream: readonly UpstreamProvider[]
  /** null where no account has a password. */
  password: PasswordWay | null
}

/** The accounts that are nobody of the company's, and prove a password of their own. */
export type PasswordAccount = 'recovery' | 'conformance'

export interface PasswordWay {
  /** One at least. */
  accounts: readonly PasswordAccount[]
  sealer: Sealer
  instance: string
  /** @throws PortError Unavailable, NotFound */
  stateSecret(): Promise<Bytes>
  /** Whether the recovery account may not sign in. @throws PortError Unavailable: it can't be told, so it may not */
  isRecoveryOff(): Promise<boolean>
}
