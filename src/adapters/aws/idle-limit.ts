import { PortError } from '../../ports/error.ts'

/**
 * The answer, with a body that fails when nothing of it comes for `ms` while somebody waits for it, and that is then dropped: a connection that
 * has gone dead would be waited for to the end of the invocation, and holds one of its six connections. A reader that takes its time loses
 * nothing: only waiting counts.
 *
 * @param what for the message: `s3 GET`
 */
export function withIdleLimit(answer: Response, ms: number, what: string): Response {
  if (answer.body === null) return answer
  const reader = answer.body.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await within(ms, reader.read())
        if (next === null) {
          reader.cancel().catch(() => undefined) // not waited for: what hangs may hang in this too
          throw new PortError('Unavailable', `${what} stopped in the middle of its answer: nothing came for ${ms} ms`)
        }
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 }, // nothing is read that nobody has asked for
  )
  return new Response(body, { status: answer.status, statusText: answer.statusText, headers: answer.headers })
}

/** Null when it takes longer. */
async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  const { promise: late, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), ms)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
