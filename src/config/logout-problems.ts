import * as z from 'zod'
import { externalAddressProblem } from './external-address.ts'
import { clientKind } from './policy.ts'
import { field, type Path, type Problem, part, parts } from './problems.ts'
import { webAddressProblem } from './redirect-uri.ts'
import { isLoopbackHost } from './values.ts'

/**
 * What is wrong with how a client is told of a sign-out (OpenID Connect Back-Channel Logout 1.0 section 2.2, Front-Channel Logout 1.0
 * section 2).
 *
 * @param issuer as the service document has it; undefined when that can't be told
 */
export function logoutProblems(client: unknown, path: Path, issuer: string | undefined): Problem[] {
  return [
    ...addressProblems(client, path, 'backchannel_logout_uri', (uri) => backChannelProblem(uri, issuer)),
    ...addressProblems(client, path, 'frontchannel_logout_uri', (uri) => frontChannelProblem(uri, client)),
    ...needsAddress(client, path, 'backchannel_logout_session_required', 'backchannel_logout_uri'),
    ...needsAddress(client, path, 'frontchannel_logout_session_required', 'frontchannel_logout_uri'),
  ]
}

function addressProblems(client: unknown, path: Path, key: string, problemOf: (uri: string) => string | null): Problem[] {
  const uri = field(client, key)
  const message = typeof uri === 'string' ? problemOf(uri) : null
  return message === null ? [] : [{ path: [...path, key], message }]
}

/** The issuer calls it, so it is held to where the issuer may call. */
function backChannelProblem(uri: string, issuer = 'http://localhost'): string | null {
  return webAddressProblem(uri) ?? externalAddressProblem(uri, issuer)
}

/** The browser loads it, in a frame of ours: nobody else's page may be put there, and our CSP must be able to name it. */
function frontChannelProblem(uri: string, client: unknown): string | null {
  const problem = webAddressProblem(uri)
  if (problem !== null) return problem
  const url = new URL(uri)
  if (!/^[a-z0-9._-]+$/.test(url.hostname)) return 'has a host that no Content-Security-Policy can name (CSP Level 3 section 2.3.1)'
  const added = ['iss', 'sid'].find((name) => url.searchParams.has(name))
  if (added !== undefined) return `holds ${added}, which the issuer adds`
  const redirects = parts(z.string(), field(client, 'redirects')).flatMap(([, redirect]) => URL.parse(redirect) ?? [])
  const anyPort = part(clientKind, field(client, 'kind')) === 'public'
  return redirects.some((redirect) => isOfOrigin(url, redirect, anyPort)) ? null : 'has not the scheme, host and port of one of redirects'
}

/** A public client's redirect on loopback stands for every port (RFC 8252 section 7.3). */
function isOfOrigin(url: URL, redirect: URL, anyPort: boolean): boolean {
  if (url.origin === redirect.origin) return true
  return (
    anyPort &&
    url.protocol === 'http:' &&
    redirect.protocol === 'http:' &&
    isLoopbackHost(url.hostname) &&
    url.hostname === redirect.hostname
  )
}

function needsAddress(client: unknown, path: Path, key: string, address: string): Problem[] {
  if (field(client, key) !== true || field(client, address) !== undefined) return []
  return [{ path: [...path, key], message: `is for a client with a ${address}` }]
}
