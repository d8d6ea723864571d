import { createMiddleware } from 'hono/factory'
import { Refusal } from './refusal.ts'

/** What a load balancer asks, by address, before any name points here. */
const BY_ANY_NAME: ReadonlySet<string> = new Set(['/healthz'])

/** Refuses requests that came by another name than the issuer's: 421 (RFC 9110 section 15.5.20). */
export function issuerHost(issuer: string) {
  const prefix = `${new URL(issuer).origin}/`
  return createMiddleware(async (c, next) => {
    if (!c.req.url.startsWith(prefix) && !isForIssuer(c.req.url, issuer)) throw misdirected(issuer)
    await next()
  })
}

/**
 * Whether a request's URL, as the Worker sees it, names the issuer's host and port. One name only, so that no second one (a workers.dev
 * address, an IP, a rebound DNS name) serves cookies and pages of the same issuer.
 */
export function isForIssuer(requestUrl: string, issuer: string): boolean {
  const url = new URL(requestUrl)
  return url.host === new URL(issuer).host || BY_ANY_NAME.has(url.pathname)
}

function misdirected(issuer: string): Refusal {
  return new Refusal(421, {
    code: 'misdirected_request',
    description: `This service answers at ${issuer} only.`,
    title: 'Another address',
    advice: 'Sign-ins hold for one name only. Who runs this service: the host of the request must be the issuer’s.',
    issuerIsAt: issuer,
  })
}
