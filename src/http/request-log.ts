import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import { matchedRoutes } from 'hono/route'
import type { Clock } from '../ports/platform.ts'
import { portCalls } from '../telemetry/measured-ports.ts'
import { type Meter, noMeter } from '../telemetry/metrics.ts'
import type { HttpEnv } from './env.ts'

/**
 * One line a request: method, route, status, milliseconds, and what it asked of stores. The route is the pattern that answered
 * (`/login/:provider/start`) and never the path asked for: a path can hold a session's id, and what nobody routes can hold anything. No
 * query, no address. The same is counted, where there is a meter that writes.
 */
export function requestLog({ clock, meter = noMeter }: { clock: Clock; meter?: Meter }) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const began = clock.now()
    const asked = portCalls(clock, meter)
    c.set('portCalls', asked)
    await next()
    const [method, route, { status }, ms] = [knownMethod(c.req.method), routeOf(c), c.res, clock.now() - began]
    const stores = asked.count === 0 ? {} : { calls: asked.count, store_ms: asked.ms }
    c.get('log').info('request', { method, route, status, ms, ...stores })
    meter.duration('requests', ms, { route, method, status })
    meter.write()
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
