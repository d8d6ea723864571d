import * as z from 'zod'
import { logoutProblems } from './logout-problems.ts'
import { clientKind } from './policy.ts'
import { field, type Path, type Problem, part, parts } from './problems.ts'
import { redirectUriProblem } from './redirect-uri.ts'

/**
 * What is wrong with a client beside what it shares with a resource.
 *
 * @param resources the ids of those the document has
 * @param issuer as the service document has it; undefined when that can't be told
 */
export function clientProblems(client: unknown, id: string, resources: readonly string[], issuer: string | undefined): Problem[] {
  const path = ['clients', id]
  return [
    ...secretProblems(client, id, path),
    ...servedResourceProblems(client, path, resources),
    ...addressProblems(client, path),
    ...logoutProblems(client, path, issuer),
  ]
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
    return [
      {
        path: [...path, 'secret'],
        message: `is missing: a confidential client has one, at ${addresses.join(' or ')}, or { generate: true }`,
      },
    ]
  if (typeof secret !== 'string' || addresses.includes(secret)) return []
  return [
    {
      path: [...path, 'secret'],
      message: `is neither ${addresses.join(' nor ')}: it names where the secret is kept, and is never the secret`,
    },
  ]
}

/** Who serves a resource introspects its tokens, and introspection is for clients that authenticate. */
function servedResourceProblems(client: unknown, path: Path, resources: readonly string[]): Problem[] {
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
