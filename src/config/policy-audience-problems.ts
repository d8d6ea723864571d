import { groupNamesProblems, type Names } from './policy-names.ts'
import { field, type Path, type Problem, part } from './problems.ts'
import { type SigningAlg, signingAlg } from './values.ts'

/** What of the service document a policy is held to. */
export interface ServiceFacts {
  rings: readonly SigningAlg[] | undefined
  issuer: string | undefined
}

/** What is wrong with what clients and resources share: who is let in, and how the token for it looks. */
export function audienceProblems(audience: unknown, path: Path, names: Names, rings: ServiceFacts['rings']): Problem[] {
  const requires = field(audience, 'requires')
  const sorts = { words: 'group, thing or family', has: names.hasSort }
  return [
    ...(Array.isArray(requires) && requires.length === 0
      ? [{ path: [...path, 'requires'], message: 'is empty: nobody would be let in' }]
      : []),
    ...groupNamesProblems(requires, [...path, 'requires'], names),
    ...groupNamesProblems(field(audience, 'groups'), [...path, 'groups'], names, sorts),
    ...delimiterProblems(field(audience, 'groups_delimiter'), [...path, 'groups_delimiter'], names.groups),
    ...algorithmProblems(part(signingAlg, field(audience, 'signing_alg')), [...path, 'signing_alg'], rings),
  ]
}

/** What replaces a colon must not read as a part of a name or of a list, nor make one name of two. */
function delimiterProblems(delimiter: unknown, path: Path, groups: readonly string[]): Problem[] {
  if (typeof delimiter !== 'string') return []
  if (!/^[!#-+./;-@[-`{-~]{1,8}$/.test(delimiter)) {
    return [{ path, message: 'is not 1 to 8 printable ASCII characters other than letters, digits, dash, colon, comma and quote' }]
  }
  const written = new Map<string, string>()
  for (const name of groups) {
    const rewritten = name.replaceAll(':', () => delimiter) // a function: `$` in a text would be a pattern
    const first = written.get(rewritten)
    if (first !== undefined) return [{ path, message: `makes one name of ${first} and ${name}: ${rewritten}` }]
    written.set(rewritten, name)
  }
  return []
}

function algorithmProblems(alg: SigningAlg | undefined, path: Path, rings: ServiceFacts['rings']): Problem[] {
  if (alg === undefined || rings === undefined || rings.includes(alg)) return []
  return [{ path, message: `is ${alg}, and the service document has no ring for it (keyring.rings: ${rings.join(', ')})` }]
}
