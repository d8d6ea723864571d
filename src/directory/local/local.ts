import type { Person } from '../../config/service.ts'
import { type PersonId, personId } from '../../ports/keys.ts'
import type { Directory, Resolution } from '../directory.ts'

/** A directory written in the service document: for development, on a loopback issuer only. */
export function localDirectory(people: readonly Person[]): Directory {
  const byId = new Map<PersonId, Person>(people.map((person) => [personId(person.email), person]))
  return {
    async resolve(person) {
      const found = byId.get(person)
      if (found === undefined) return { state: 'refused', reason: 'unknown' }
      return found.suspended ? { state: 'refused', reason: 'suspended' } : live(found)
    },
  }
}

function live(person: Person): Resolution {
  return {
    state: 'live',
    groups: person.groups.map((group) => group.toLowerCase()),
    given_name: person.given_name,
    family_name: person.family_name,
  }
}
