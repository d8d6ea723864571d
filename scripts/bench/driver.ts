import { Worker } from 'node:worker_threads'
import type { Code, Target } from './contender.ts'

/** The tokens of a session as its client holds them. */
export interface Tokens {
  access: string
  refresh: string
}

/** Requests to one server. All of them but `exchange` go on for `seconds`; `exchange` until no code is left. */
export type Job = { origin: string; connections: number } & (
  | { kind: 'exchange'; target: Target; codes: readonly Code[] }
  /** Each connection refreshes a session of its own. */
  | { kind: 'refresh'; target: Target; sessions: readonly Tokens[]; seconds: number }
  | { kind: 'userinfo'; target: Target; sessions: readonly Tokens[]; seconds: number }
  | { kind: 'get'; seconds: number }
)

export interface Driven {
  /** ms, ascending: from the request to the last byte of its answer */
  latencies: Float64Array
  /** from the first request to the last answer */
  seconds: number
  /** What the clients hold afterwards: of the sessions given, or opened by the codes. */
  sessions: Tokens[]
}

export type Reply = { driven: Driven } | { failed: string }

/** Clients in a thread of their own, so that nothing this one does delays a request. */
export interface Driver {
  /** One job at a time. @throws Error when an answer is not 200, with what it said */
  drive(job: Job): Promise<Driven>
  stop(): Promise<void>
}

export function startDriver(): Driver {
  const worker = new Worker(new URL('drive.ts', import.meta.url))
  return {
    drive(job) {
      const { promise, resolve, reject } = Promise.withResolvers<Driven>()
      worker.removeAllListeners('error').once('error', reject)
      worker.removeAllListeners('message').once('message', (reply: Reply) => {
        if ('driven' in reply) resolve(reply.driven)
        else reject(new Error(reply.failed))
      })
      worker.postMessage(job)
      return promise
    },
    async stop() {
      await worker.terminate()
    },
  }
}
