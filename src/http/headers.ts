import { createMiddleware } from 'hono/factory'
import { NOTHING } from './csp.ts'

/** s: a year, what browsers' preload lists ask at least. Not for subdomains: they are not the issuer's to speak for. */
const HSTS_SECONDS = 31_536_000

/** Puts the security headers on every answer; those an answer set itself stay. */
export function securityHeaders(issuer: string) {
  const https = new URL(issuer).protocol === 'https:'
  return createMiddleware(async (c, next) => {
    await next()
    const answer = withSecurityHeaders(c.res, { https })
    c.res = undefined // hono would lay the old headers over the new ones
    c.res = answer
  })
}

/** A copy of the answer with the headers it lacks. `https`: whether the issuer is reached over TLS (RFC 6797 section 7.2). */
export function withSecurityHeaders(answer: Response, { https }: { readonly https: boolean }): Response {
  const copy = new Response(answer.body, answer)
  const defaults: Record<string, string> = {
    'content-security-policy': NOTHING,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    ...(https ? { 'strict-transport-security': `max-age=${HSTS_SECONDS}` } : {}),
  }
  for (const [name, value] of Object.entries(defaults)) if (!copy.headers.has(name)) copy.headers.set(name, value)
  return copy
}
