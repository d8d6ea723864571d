import type { PersonId } from '../ports/keys.ts'
import type { RecoverySwitch } from '../records/recovery-off.ts'
import type { Directory, Resolution } from './directory.ts'

/** The accounts that sign in by a password of their own, and are nobody of the company's. */
export interface Accounts {
  /** The switch of the recovery account; null where the service document has none. */
  recovery: RecoverySwitch | null
  conformance: boolean
}

/**
 * A directory that knows the accounts `recovery` and `conformance` beside its people, who all have an `@` in their name. An account is in no
 * directory group: what it holds the policy says (`matchers: [{ account: recovery }]`). One that was switched off is gone for its sessions too.
 */
export function withAccounts(directory: Directory, { recovery, conformance }: Accounts): Directory {
  return {
    async resolve(person: PersonId): Promise<Resolution> {
      if (person.includes('@')) return directory.resolve(person)
      if (person === 'recovery' && recovery !== null) return (await recovery.isOff()) ? suspended : live
      if (person === 'conformance' && conformance) return live
      return { state: 'refused', reason: 'unknown' }
    },
  }
}

const live: Resolution = { state: 'live', groups: [] }
const suspended: Resolution = { state: 'refused', reason: 'suspended' }
