import type { PersonId } from '../ports/keys.ts'

/** What the directory says of a person. */
export type Resolution =
  | {
      state: 'live'
      groups: string[]
      given_name?: string | undefined
      family_name?: string | undefined
      /** unix seconds: the directory can't be asked, and this is what it last said, then. */
      held?: number
    }
  /** The directory is sure: no such person, or suspended. */
  | { state: 'refused'; reason: 'unknown' | 'suspended' }
  /** No directory answers for the person's domain. It lets nobody in; that it is a verdict on them it is not, so nothing ends by it. */
  | { state: 'refused'; reason: 'unserved' }

export interface Directory {
  /** @throws PortError Unavailable when the directory can't be asked and nothing held can answer for it */
  resolve(person: PersonId): Promise<Resolution>
}
