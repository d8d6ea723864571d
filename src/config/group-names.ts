/** What a name `<scope>:<thing>:<role>` says. */
export interface Grant {
  scope: string
  thing: string
  role: string
}

/** Groups of the whole company, of no thing: `emp:all`, `rung:senior`. */
export const families = ['emp', 'rung']

export function isFamily(name: string): boolean {
  return families.includes(name)
}

/** The family a name is of: what stands before its first colon. Null when that is none. */
export function familyOf(name: string): string | null {
  const [first = '', second] = name.split(':')
  return second !== undefined && isFamily(first) ? first : null
}

/** The three segments of a name that has exactly those; null of a family and of every other name. */
export function grantOf(name: string): Grant | null {
  const [scope, thing, role, more] = name.split(':')
  if (scope === undefined || thing === undefined || role === undefined || more !== undefined || isFamily(scope)) return null
  return { scope, thing, role }
}

/** The thing a name is of: its second segment, where a role follows. Null of a family. */
export function thingOf(name: string): string | null {
  const [scope = '', thing = '', role] = name.split(':')
  return role === undefined || isFamily(scope) ? null : thing
}

/** `<scope>:<thing>` of a name with a role, else null: a family pairs with nothing. */
export function pairOf(name: string): string | null {
  const thing = thingOf(name)
  return thing === null ? null : `${name.split(':')[0]}:${thing}`
}

/** A name that stands for several: one of its segments is `*`. */
export function isWildcard(name: string): boolean {
  return name.split(':').includes('*')
}

/** Whether the wildcard could stand for the name, by its text alone. */
export function covers(wildcard: string, name: string): boolean {
  const segments = name.split(':')
  const pattern = wildcard.split(':')
  return pattern.length === segments.length && pattern.every((segment, at) => segment === '*' || segment === segments[at])
}
