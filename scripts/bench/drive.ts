import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { parentPort } from 'node:worker_threads'
import type { Code, Target } from './contender.ts'
import type { Driven, Job, Reply, Tokens } from './driver.ts'

/** What one connection sends next; null when it has nothing left to send. Answers come back to it in order. */
interface Client {
  next(): { path: string; headers: Record<string, string>; body?: string } | null
  answered(body: string): void
}

parentPort?.on('message', (job: Job) => {
  drive(job).then(
    (driven) => parentPort?.postMessage({ driven } satisfies Reply),
    (error: unknown) => parentPort?.postMessage({ failed: `${job.kind} at ${job.origin}: ${error}` } satisfies Reply),
  )
})

async function drive(job: Job): Promise<Driven> {
  const sessions: Tokens[] = job.kind === 'refresh' || job.kind === 'userinfo' ? job.sessions.map((tokens) => ({ ...tokens })) : []
  const clients = clientsOf(job, sessions)
  const began = performance.now()
  const until = 'seconds' in job ? began + 1_000 * job.seconds : Number.POSITIVE_INFINITY
  const latencies = await Promise.all(clients.map((client) => connection(job.origin, client, until)))
  const seconds = (performance.now() - began) / 1_000
  return { latencies: Float64Array.from(latencies.flat()).sort(), seconds, sessions }
}

function clientsOf(job: Job, sessions: Tokens[]): Client[] {
  switch (job.kind) {
    case 'exchange': {
      const codes = job.codes.values()
      return repeat(job.connections, () => exchanging(job.target, codes, sessions))
    }
    case 'refresh':
      return sessions.map((session) => refreshing(job.target, session))
    case 'userinfo':
      return sessions.map((session) => asking(job.target, session))
    case 'get':
      return repeat(job.connections, () => ({ next: () => ({ path: '/', headers: {} }), answered() {} }))
  }
}

/** One request after another over one connection, as long as there is time. Answers how long each took, in ms. */
async function connection(origin: string, client: Client, until: number): Promise<number[]> {
  const { hostname, port } = new URL(origin)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const latencies: number[] = []
  try {
    while (performance.now() < until) {
      const sent = client.next()
      if (sent === null) break
      const { path, headers, body } = sent
      const began = performance.now()
      const options = { agent, hostname, port, path, headers, method: body === undefined ? 'GET' : 'POST' }
      const { status, text } = await exchangeMessages(options, body)
      latencies.push(performance.now() - began)
      if (status !== 200) throw new Error(`answered ${status}: ${text.slice(0, 300)}`)
      client.answered(text)
    }
    return latencies
  } finally {
    agent.destroy()
  }
}

function exchangeMessages(options: RequestOptions, body: string | undefined): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>()
  const received = (response: IncomingMessage) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      text += part
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    response.on('error', reject)
  }
  request(options, received).on('error', reject).end(body)
  return promise
}

function exchanging(target: Target, codes: Iterator<Code>, opened: Tokens[]): Client {
  return {
    next() {
      const { value, done } = codes.next()
      if (done === true) return null
      const { code, verifier: code_verifier } = value
      const { clientId: client_id, redirectUri: redirect_uri } = target
      return form(target.tokenPath, { grant_type: 'authorization_code', code, redirect_uri, client_id, code_verifier })
    },
    answered: (body) => void opened.push(tokensOf(body)),
  }
}

function refreshing(target: Target, session: Tokens): Client {
  return {
    next: () => form(target.tokenPath, { grant_type: 'refresh_token', refresh_token: session.refresh, client_id: target.clientId }),
    answered: (body) => void Object.assign(session, tokensOf(body)),
  }
}

function asking(target: Target, session: Tokens): Client {
  const sent = { path: target.userinfoPath, headers: { authorization: `Bearer ${session.access}` } }
  return { next: () => sent, answered() {} }
}

function form(path: string, fields: Record<string, string>) {
  const body = new URLSearchParams(fields).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(Buffer.byteLength(body)) }
  return { path, headers, body }
}

function tokensOf(body: string): Tokens {
  const { access_token: access, refresh_token: refresh } = JSON.parse(body) as Record<string, unknown>
  if (typeof access !== 'string' || typeof refresh !== 'string') throw new Error(`no tokens in ${body.slice(0, 300)}`)
  return { access, refresh }
}

function repeat<T>(times: number, make: () => T): T[] {
  return Array.from({ length: times }, make)
}
