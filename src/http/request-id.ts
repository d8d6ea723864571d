import { createMiddleware } from 'hono/factory'
import { encodeBase64url } from '../crypto/base64url.ts'
import type { Random } from '../ports/platform.ts'
import type { Log } from '../telemetry/log.ts'
import type { HttpEnv } from './env.ts'

const HEADER = 'sluis-request-id'

/**
 * Names every request: 16 random bytes, base64url, in the answer's `sluis-request-id`, on error pages and in each log line.
 * An incoming id is never used: whoever could choose one could file their requests under another's.
 */
export function requestId({ random, log }: { random: Random; log: Log }) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const id = newRequestId(random)
    c.set('requestId', id)
    c.set('log', log.with({ request_id: id }))
    await next()
    c.res.headers.set(HEADER, id) // `c.header` would copy the answer for it
  })
}

export function newRequestId(random: Random): string {
  return encodeBase64url(random.bytes(16))
}
