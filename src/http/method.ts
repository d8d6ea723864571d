import { createMiddleware } from 'hono/factory'
import { pathTable } from './path-table.ts'
import { Refusal } from './refusal.ts'

/** The methods of each path, as `pathTable` takes them. */
export type MethodTable = Readonly<Record<string, readonly string[]>>

/**
 * Refuses a method the table doesn't have for the path: 405 with Allow (RFC 9110 section 15.5.6). Other paths pass; GET brings HEAD.
 *
 * @param withoutHead the paths whose GET begins or completes something. What looks and does not act asks by HEAD (sections 9.2.1 and 9.3.2):
 *   of these it could learn nothing without a write
 */
export function allowedMethods(table: MethodTable, withoutHead: readonly string[] = []) {
  const all = Object.entries(table).map(([path, methods]) => [path, withoutHead.includes(path) ? methods : withHead(methods)])
  const methodsOf = pathTable<readonly string[]>(Object.fromEntries(all))
  return createMiddleware(async (c, next) => {
    const methods = methodsOf(c.req.path)
    if (methods !== undefined && !methods.includes(c.req.method)) throw methodNotAllowed(methods)
    await next()
  })
}

function withHead(methods: readonly string[]): readonly string[] {
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods
}

function methodNotAllowed(methods: readonly string[]): Refusal {
  return new Refusal(405, {
    code: 'method_not_allowed',
    description: `This address takes ${methods.join(', ')} only.`,
    title: 'That cannot be done here',
    advice: 'Go back to the application you came from and start again.',
    headers: { allow: methods.join(', ') },
  })
}
