import { createMiddleware } from 'hono/factory'

/** s: how long a browser keeps a preflight's answer. Ten minutes spare a round trip a call and still let a change through. */
const PREFLIGHT_SECONDS = '600'

/**
 * Lets pages of any origin call these paths, errors included, never with cookies: what they answer depends on nothing a browser adds by
 * itself, so `*` gives nothing away. Put it outside of whatever may refuse, so that a page can read the refusal (Fetch section 3.3).
 */
export function cors(paths: readonly string[]) {
  const open: ReadonlySet<string> = new Set(paths)
  return createMiddleware(async (c, next) => {
    if (!open.has(c.req.path)) return next()
    if (c.req.method === 'OPTIONS') return preflight()
    await next()
    // `c.header` would copy the answer for each
    c.res.headers.set('access-control-allow-origin', '*')
    c.res.headers.set('access-control-expose-headers', 'www-authenticate, retry-after, sluis-request-id')
  })
}

function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      // by name: `*` does not cover Authorization
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': PREFLIGHT_SECONDS,
    },
  })
}
