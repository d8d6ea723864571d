/** What is known of a person when a token is made. */
export interface Subject {
  /** The identity, which is `sub`. */
  identity: string
  given_name?: string | undefined
  family_name?: string | undefined
  /** The groups its audience may know. */
  groups: readonly string[]
}

type Value = string | boolean | readonly string[]

/** How each claim is made. A claim without a value for this person is left out (OpenID Connect Core section 5.3.2). */
const values: Record<string, (subject: Subject) => Value | undefined> = {
  name: ({ given_name, family_name }) => [given_name, family_name].filter(Boolean).join(' ') || undefined,
  given_name: ({ given_name }) => given_name || undefined,
  family_name: ({ family_name }) => family_name || undefined,
  preferred_username: ({ identity }) => (isAddress(identity) ? identity : undefined),
  email: ({ identity }) => (isAddress(identity) ? identity : undefined),
  email_verified: ({ identity }) => (isAddress(identity) ? true : undefined),
  groups: ({ groups }) => groups,
}

/** OpenID Connect Core section 5.4. `groups` stands in every token without a scope of its own. */
const claimsOfScope: Record<string, readonly string[]> = {
  profile: ['name', 'given_name', 'family_name', 'preferred_username'],
  email: ['email', 'email_verified'],
}

/** The claims that can be asked for, as discovery lists them beside those of every ID token. */
export const personClaims = Object.keys(values)

/** The claims of a person that the scopes granted, and those asked for by name, assert. */
export function assertedClaims(subject: Subject, scopes: readonly string[], asked: readonly string[] = []): Record<string, Value> {
  const names = new Set(['groups', ...scopes.flatMap((scope) => claimsOfScope[scope] ?? []), ...asked])
  const asserted: Record<string, Value> = {}
  for (const [name, make] of Object.entries(values)) {
    const value = names.has(name) ? make(subject) : undefined
    if (value !== undefined) asserted[name] = value
  }
  return asserted
}

/** A person is an address; other subjects are not, and have no mail. */
function isAddress(identity: string): boolean {
  return identity.includes('@')
}
