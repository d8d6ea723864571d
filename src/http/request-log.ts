import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import type { Clock } from '../ports/platform.ts'
import type { HttpEnv } from './env.ts'

/**
 * One line a request: method, route, status, milliseconds. The route is the pattern that answered (`/login/:provider/start`) and never
 * the path asked for: a path can hold a session's id, and what nobody routes can hold anything. No query, no address.
 */
export function requestLog({ clock }: { clock: Clock }) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const began = clock.now()
    await next()
    c.get('log').info('request', { method: knownMethod(c.req.method), route: routeOf(c), status: c.res.status, ms: clock.now() - began })
  })
}

/** The last pattern that matched and isn't a middleware's wildcard. */
function routeOf(c: Context): string {
  const own = matchedRoutes(c).filter((route) => route.path !== '*' && route.path !== '/*')
  return own.at(-1)?.path ?? 'unmatched'
}

/** A method is any token the client likes (RFC 9110 section 9.1). */
function knownMethod(method: string): string {
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method) ? method : 'other'
}
