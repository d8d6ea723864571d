import type { Client, Policy, Resource } from '../../src/config/policy.ts'
import { email } from '../../src/config/values.ts'
import { withAccounts } from '../../src/directory/accounts.ts'
import type { Resolution } from '../../src/directory/directory.ts'
import { localDirectory } from '../../src/directory/local/local.ts'
import { type Audience, admits } from '../../src/policy/admission.ts'
import { heldGroupsOf } from '../../src/policy/held-groups.ts'
import { absoluteEnd, accessTokenEnd, idTokenEnd } from '../../src/policy/lifetimes.ts'
import { scopedGroups } from '../../src/policy/scoped-groups.ts'
import { type PersonId, personId } from '../../src/ports/keys.ts'
import { CommandError } from '../aws/command.ts'
import type { PolicyDocuments } from './read-policy.ts'

/** Somebody as the issuer would see them. */
export interface Standing {
  person: PersonId
  directory: Resolution
  /** The groups of the policy they hold, sorted. */
  held: string[]
}

/** @throws CommandError it is neither an address nor an account */
export function checkPerson(text: string): PersonId {
  const person = personId(text)
  if (person === 'recovery' || person === 'conformance' || email.safeParse(person).success) return person
  throw new CommandError(`${text} is neither an address like ada@acme.example nor recovery or conformance`)
}

/** @param groups the directory groups the person is in; undefined: as the local directory has them */
export async function standingOf(person: PersonId, groups: readonly string[] | undefined, documents: PolicyDocuments): Promise<Standing> {
  const directory = await resolutionOf(person, groups, documents)
  const held = directory.state === 'live' ? heldGroupsOf(documents.policy)(person, directory.groups) : []
  return { person, directory, held }
}

function resolutionOf(person: PersonId, groups: readonly string[] | undefined, { service }: PolicyDocuments): Promise<Resolution> {
  const isAccount = !person.includes('@')
  if (groups !== undefined && !isAccount) return Promise.resolve({ state: 'live', groups: [...groups] })
  const people = service.directory.kind === 'local' ? service.directory.people : []
  const recovery = service.recovery === undefined ? null : { isOff: async () => false }
  return withAccounts(localDirectory(people), { recovery, conformance: service.signin.conformance }).resolve(person)
}

/** What a client, or a client and a resource, give to a person who holds these groups. */
export interface Terms {
  admitted: boolean
  /** seconds */
  accessToken: number
  idToken: number
  absolute: number
  /** What the access token names. */
  groups: string[]
  /** How many of those `groups_scoping: enforce` would leave out. */
  unscoped: number
}

export function termsOf(audience: Audience, held: readonly string[], policy: Policy): Terms {
  const at = { now: 0, authTime: 0 }
  return {
    admitted: admits(audience, held),
    accessToken: accessTokenEnd(policy, audience, held, at),
    idToken: idTokenEnd(policy, audience, held, at),
    absolute: absoluteEnd(policy, audience, 0),
    ...scopedGroups(policy, audience.resource ?? audience.client, held),
  }
}

/** The groups held that a client or a resource by itself lets people in for. */
export function opening({ requires }: Client | Resource, held: readonly string[]): string[] {
  return requires.filter((name) => held.includes(name))
}
