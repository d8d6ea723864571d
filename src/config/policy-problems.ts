import * as z from 'zod'
import { logoutProblems } from './logout-problems.ts'
import { clientKind, lifetimesSchema, policySchema } from './policy.ts'
import { entries, field, type Path, type Problem, part, parts, shapeProblems } from './problems.ts'
import { redirectUriProblem } from './redirect-uri.ts'
import { duration, type SigningAlg, signingAlg } from './values.ts'

export interface ServiceFacts {
  rings: readonly SigningAlg[] | undefined
  issuer: string | undefined
}

/**
 * Everything wrong with a policy document as it was written; empty when `policySchema` takes it and its parts agree with each other.
 * A field whose shape is wrong is reported for that and judged no further; all others still are, so that one run shows everything.
 *
 * @param service what of the service document it is held to: the algorithms that one has keys for, and the issuer; undefined when that
 * can't be told
 */
export function policyProblems(document: unknown, service: ServiceFacts): Problem[] {
  const { rings, issuer } = service
  const groups = entries(field(document, 'groups')).map(([name]) => name)
  const clients = entries(field(document, 'clients'))
  const ids = clients.map(([id]) => id)
  const resources = entries(field(document, 'resources')).map(([id]) => id)
  return [
    ...shapeProblems(policySchema, document),
    ...unmappableNames(document),
    ...clients.flatMap(([id, client]) => {
      const path = ['clients', id]
      return [
        ...audienceProblems(client, path, groups, rings),
        ...secretProblems(client, id, path),
        ...servedResourceProblems(client, path, resources),
        ...addressProblems(client, path),
        ...logoutProblems(client, path, issuer),
      ]
    }),
    ...entries(field(document, 'resources')).flatMap(([id, resource]) => {
      const path = ['resources', id]
      return [...audienceProblems(resource, path, groups, rings), ...resourceProblems(resource, id, path, ids)]
    }),
    ...lifetimeProblems(field(document, 'lifetimes')),
    ...groupNamesProblems(field(field(document, 'console'), 'operators'), ['console', 'operators'], groups),
  ]
}

// zod leaves this key out of a record without a word, so it would be a client that isn't there.
function unmappableNames(document: unknown): Problem[] {
  const tables = ['groups', 'clients', 'resources'].filter((table) =>
    entries(field(document, table)).some(([name]) => name === '__proto__'),
  )
  return tables.map((table) => ({ path: [table, '__proto__'], message: 'is a name JavaScript keeps for itself' }))
}

function audienceProblems(audience: unknown, path: Path, groups: string[], rings: readonly SigningAlg[] | undefined): Problem[] {
  const requires = field(audience, 'requires')
  return [
    ...(Array.isArray(requires) && requires.length === 0
      ? [{ path: [...path, 'requires'], message: 'is empty: nobody would be let in' }]
      : []),
    ...groupNamesProblems(requires, [...path, 'requires'], groups),
    ...groupNamesProblems(field(audience, 'groups'), [...path, 'groups'], groups),
    ...delimiterProblems(field(audience, 'groups_delimiter'), [...path, 'groups_delimiter'], groups),
    ...algorithmProblems(part(signingAlg, field(audience, 'signing_alg')), [...path, 'signing_alg'], rings),
  ]
}

function groupNamesProblems(names: unknown, path: Path, groups: string[]): Problem[] {
  const seen = new Set<string>()
  return parts(z.string(), names).flatMap(([at, name]) => {
    if (!groups.includes(name)) return [{ path: [...path, at], message: `${JSON.stringify(name)} is no group of this document` }]
    if (seen.has(name)) return [{ path: [...path, at], message: `${JSON.stringify(name)} is named twice` }]
    seen.add(name)
    return []
  })
}

/** What replaces a colon must not read as a part of a name or of a list, nor make one name of two. */
function delimiterProblems(delimiter: unknown, path: Path, groups: string[]): Problem[] {
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

function algorithmProblems(alg: SigningAlg | undefined, path: Path, rings: readonly SigningAlg[] | undefined): Problem[] {
  if (alg === undefined || rings === undefined || rings.includes(alg)) return []
  return [{ path, message: `is ${alg}, and the service document has no ring for it (keyring.rings: ${rings.join(', ')})` }]
}

function secretProblems(client: unknown, id: string, path: Path): Problem[] {
  const secret = field(client, 'secret')
  const kind = part(clientKind, field(client, 'kind'))
  if (kind === 'public' && secret !== undefined) {
    return [{ path: [...path, 'secret'], message: 'is for confidential clients: a public one can keep none' }]
  }
  if (kind !== 'confidential') return []
  if (!/^[A-Za-z0-9._-]+$/.test(id) || id === '.' || id === '..') {
    return [{ path, message: 'is confidential, so its id is a part of an address: letters, digits, . _ and - only' }]
  }
  const addresses = [`internal/oidc/clients/${id}`, `external/oidc/${id}`]
  if (secret === undefined)
    return [{ path: [...path, 'secret'], message: `is missing: a confidential client has one, at ${addresses.join(' or ')}` }]
  if (typeof secret !== 'string' || addresses.includes(secret)) return []
  return [
    {
      path: [...path, 'secret'],
      message: `is neither ${addresses.join(' nor ')}: it names where the secret is kept, and is never the secret`,
    },
  ]
}

/** Who serves a resource introspects its tokens, and introspection is for clients that authenticate. */
function servedResourceProblems(client: unknown, path: Path, resources: string[]): Problem[] {
  const resource = field(client, 'resource')
  if (typeof resource !== 'string') return []
  if (part(clientKind, field(client, 'kind')) === 'public') {
    return [{ path: [...path, 'resource'], message: 'is for confidential clients: it lets them introspect, which a public one can not' }]
  }
  if (resources.includes(resource)) return []
  return [{ path: [...path, 'resource'], message: `${JSON.stringify(resource)} is no resource of this document` }]
}

function addressProblems(client: unknown, path: Path): Problem[] {
  const kind = part(clientKind, field(client, 'kind')) ?? 'public'
  const redirects = parts(z.string(), field(client, 'redirects')).map(([, uri]) => uri)
  return ['redirects', 'signed_out'].flatMap((list) => {
    const seen = new Set<string>()
    return parts(z.string(), field(client, list)).flatMap(([at, uri]) => {
      // A code must not arrive at a page that expects none, nor a sign-out at one that starts a sign-in.
      const shared = list === 'signed_out' && redirects.includes(uri) ? 'is one of redirects too, and can be only one of the two' : null
      const message = redirectUriProblem(uri, kind) ?? (seen.has(uri) ? 'is named twice' : shared)
      seen.add(uri)
      return message === null ? [] : [{ path: [...path, list, at], message }]
    })
  })
}

const WEEK = 604_800 // s: the longest a resource may stretch a sign-in

function resourceProblems(resource: unknown, id: string, path: Path, clients: string[]): Problem[] {
  const cap = part(duration, field(resource, 'absolute_cap'))
  return [
    ...(clients.includes(id) ? [{ path, message: 'is the id of a client too: a token for the one would do for the other' }] : []),
    ...(cap !== undefined && cap > WEEK ? [{ path: [...path, 'absolute_cap'], message: 'is over 168h' }] : []),
  ]
}

function lifetimeProblems(document: unknown): Problem[] {
  const lifetimes = part(lifetimesSchema.strip(), document ?? {})
  if (lifetimes === undefined) return []
  return (['token', 'refresh'] as const).flatMap((key) => {
    if (lifetimes[key] <= lifetimes.absolute) return []
    const path = field(document, key) === undefined ? ['lifetimes'] : ['lifetimes', key]
    return [{ path, message: `${path.length === 1 ? `${key} ` : ''}is longer than absolute: it would outlive its sign-in` }]
  })
}
