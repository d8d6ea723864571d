/** What befalls requests whose method and path hold `on`. */
export interface Fault {
  on: string
  times: number
  answer(): Response
}

/** A quota that is used up, as Google says it. */
export function quotaExceeded(on: string, times: number, reason = 'quotaExceeded', headers: Record<string, string> = {}): Fault {
  const error = { code: 403, message: 'Request rate higher than configured.', errors: [{ domain: 'usageLimits', reason }] }
  return { on, times, answer: () => Response.json({ error }, { status: 403, headers }) }
}

export function failing(on: string, times: number, status = 503): Fault {
  return { on, times, answer: () => new Response('upstream connect error', { status, headers: { 'content-type': 'text/plain' } }) }
}

export function unreachable(on: string, times: number): Fault {
  return {
    on,
    times,
    answer() {
      throw new TypeError('network connection lost')
    },
  }
}

export function answering(on: string, body: unknown, status = 200, times = Number.POSITIVE_INFINITY): Fault {
  return { on, times, answer: () => (typeof body === 'string' ? new Response(body, { status }) : Response.json(body, { status })) }
}

/** An error as the directory words it. */
export function refused(status: number, reason: string, message: string): Response {
  return Response.json({ error: { code: status, message, errors: [{ domain: 'global', reason, message }] } }, { status })
}
