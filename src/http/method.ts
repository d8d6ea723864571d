import { createMiddleware } from 'hono/factory'
import { Refusal } from './refusal.ts'

/** The methods of each path: exact paths, or patterns in which a segment like `:id` stands for any one segment. */
export type MethodTable = Readonly<Record<string, readonly string[]>>

/** Refuses a method the table doesn't have for the path: 405 with Allow (RFC 9110 section 15.5.6). Other paths pass; GET brings HEAD. */
export function allowedMethods(table: MethodTable) {
  const methodsOf = lookup(table)
  return createMiddleware(async (c, next) => {
    const methods = methodsOf(c.req.path)
    if (methods !== undefined && !methods.includes(c.req.method)) throw methodNotAllowed(methods)
    await next()
  })
}

function lookup(table: MethodTable): (path: string) => readonly string[] | undefined {
  const exact = new Map<string, readonly string[]>()
  const patterns: { segments: readonly string[]; methods: readonly string[] }[] = []
  for (const [path, listed] of Object.entries(table)) {
    const methods = listed.includes('GET') ? [...listed, 'HEAD'] : listed
    if (path.includes('/:')) patterns.push({ segments: path.split('/'), methods })
    else exact.set(path, methods)
  }
  return (path) => exact.get(path) ?? patterns.find(({ segments }) => matches(segments, path.split('/')))?.methods
}

function matches(pattern: readonly string[], path: readonly string[]): boolean {
  if (pattern.length !== path.length) return false
  return pattern.every((segment, at) => (segment.startsWith(':') ? path[at] !== '' : segment === path[at]))
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
