import { type Audience, admits } from '../policy/admission.ts'
import type { PersonId } from '../ports/keys.ts'
import type { Issuer } from './issuer.ts'

/** What a person is for an audience, now. */
export type Admission =
  | { state: 'admitted'; groups: string[]; given_name?: string | undefined; family_name?: string | undefined }
  /** The directory has them, and they hold no group that the client or the resource requires. */
  | { state: 'not admitted' }
  /** The directory is sure that there is no such person, or has suspended them. */
  | { state: 'disowned'; reason: 'unknown' | 'suspended' }

/**
 * Asks the directory who somebody is and the policy whether that lets them in. Nothing is granted without it.
 *
 * @throws PortError Unavailable when the directory can't be asked
 */
export async function admissionOf(person: PersonId, audience: Audience, issuer: Issuer): Promise<Admission> {
  const resolution = await issuer.directory.resolve(person)
  if (resolution.state === 'refused') {
    const { reason } = resolution
    return reason === 'unserved' ? { state: 'not admitted' } : { state: 'disowned', reason }
  }
  const groups = issuer.heldGroups(person, resolution.groups)
  if (!admits(audience, groups)) return { state: 'not admitted' }
  const { given_name, family_name } = resolution
  return { state: 'admitted', groups, given_name, family_name }
}
