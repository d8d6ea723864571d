import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { admin } from './admin.ts'
import type { Answer, Received } from './call.ts'
import { type Credential, defaultCredential } from './credentials.ts'
import { type Faults, faultPlan } from './faults.ts'
import { countRequests, type Requests } from './requests.ts'
import { backend } from './services.ts'

export interface AwsEmulatorOptions {
  /** 0, the default: a free one. */
  port?: number
  /** Who may call; one made up when absent. A credential with a policy may do what that allows. */
  credentials?: readonly Credential[]
  /** Default eu-west-1. */
  region?: string
  buckets?: readonly string[]
  /** KMS aliases, such as `alias/sluis-acme`, each with a key of its own. */
  keyAliases?: readonly string[]
  /** DynamoDB tables of layout v5. */
  tables?: readonly string[]
}

export interface AwsEmulator extends AsyncDisposable {
  /** For every service, such as http://127.0.0.1:49152, without a slash. */
  url: string
  region: string
  credentials: readonly [Credential, ...Credential[]]
  requests: Requests
  faults: Faults
  createTables(names: readonly string[]): Promise<void>
  createBuckets(names: readonly string[]): void
  /** The key's ARN; the one that stands when the alias does. */
  createKey(alias: string): string
  stop(): Promise<void>
}

/**
 * DynamoDB, SSM, KMS and S3 behind one port of this machine's loopback, as strict about signatures, permissions and limits as AWS, and as
 * unreliable as `faults` says. Everything is in memory.
 */
export async function startAwsEmulator(options: AwsEmulatorOptions = {}): Promise<AwsEmulator> {
  const region = options.region ?? 'eu-west-1'
  const [first = defaultCredential, ...others] = options.credentials ?? []
  const credentials = [first, ...others] as const
  const requests = countRequests()
  const faults = faultPlan()
  const services = backend({ region, credentials, requests, faults })

  await services.createTables(options.tables ?? [])
  for (const bucket of options.buckets ?? []) services.createBucket(bucket)
  for (const alias of options.keyAliases ?? []) services.createKey(alias)

  const server = createServer((message, response) => {
    answer(message, response).catch((error: unknown) => {
      // A defect of the emulator, not a service's refusal: it must not pass for one.
      console.error('aws-emulator:', error)
      if (!response.headersSent) response.writeHead(599)
      response.end(String(error))
    })
  })

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await received(message)
    if (request.path.startsWith('/_emulator/')) return send(response, admin(request, { faults, requests }), Date.now())
    const outcome = await services.answer(request, pause)
    if (outcome === 'cut') response.socket?.destroy()
    else send(response, outcome, Date.now() + faults.clockOffset, request.method === 'HEAD')
  }

  const port = await listen(server, options.port ?? 0)
  async function stop(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await services.close()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    region,
    credentials,
    requests,
    faults,
    createTables: services.createTables,
    createBuckets: (names) => names.forEach(services.createBucket),
    createKey: services.createKey,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

async function received(message: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const [path = '/', query = ''] = (message.url ?? '/').split(/\?(.*)/s)
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(',') : value]),
  )
  return { method: message.method ?? '', path, query: [...new URLSearchParams(query)], headers, body: Buffer.concat(chunks) }
}

function send(response: ServerResponse, answer: Answer, now: number, head = false): void {
  const id = randomUUID()
  response.sendDate = false
  response.writeHead(answer.status, {
    ...answer.headers,
    ...(answer.status === 204 || answer.status === 304 ? {} : { 'content-length': Buffer.byteLength(answer.body) }),
    date: new Date(now).toUTCString(),
    'x-amzn-requestid': id,
    'x-amz-request-id': id,
  })
  response.end(head ? undefined : answer.body)
}

function listen(server: Server, port: number): Promise<number> {
  // The service's own limit of an idle connection must not be the reason a test fails: 5 s is Node's, a slow machine's pause is longer.
  server.keepAliveTimeout = 60_000
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      if (address === null || typeof address === 'string') reject(new TypeError('the server has no port'))
      else resolve(address.port)
    })
  })
}
