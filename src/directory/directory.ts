import type { PersonId } from '../ports/keys.ts'

/** What the directory says of a person. */
export type Resolution =
  | { state: 'live'; groups: string[]; given_name?: string | undefined; family_name?: string | undefined }
  /** The directory is sure: no such person, or suspended. */
  | { state: 'refused'; reason: 'unknown' | 'suspended' }

export interface Directory {
  /** @throws PortError Unavailable when the directory can't be asked and nothing held can answer for it */
  resolve(person: PersonId): Promise<Resolution>
}
