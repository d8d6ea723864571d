import { env } from 'cloudflare:workers'
import policyDocument from 'sluis-policy'
import serviceDocument from 'sluis-service'
import { inject } from 'vitest'
import { durableObjectIndex } from '../../src/adapters/durable-object/index-set.ts'
import type { ShardNamespace } from '../../src/adapters/durable-object/protocol.ts'
import { durableObjectState } from '../../src/adapters/durable-object/state.ts'
import { dynamodbIndex } from '../../src/adapters/dynamodb/index-set.ts'
import { dynamodbState } from '../../src/adapters/dynamodb/state.ts'
import { localSealer } from '../../src/adapters/local/sealer.ts'
import { blobMemory, memoryBlob } from '../../src/adapters/memory/blob.ts'
import { memoryIndex } from '../../src/adapters/memory/index-set.ts'
import { memorySecrets, secretsMemory } from '../../src/adapters/memory/secrets.ts'
import { memoryState } from '../../src/adapters/memory/state.ts'
import { createMemoryStore } from '../../src/adapters/memory/store.ts'
import { createApp } from '../../src/app.ts'
import { memorySink } from '../../src/audit/audit.ts'
import { type Adapters, composeOn, type Documents, type Env, type Services } from '../../src/compose.ts'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { sha256 } from '../../src/crypto/digest.ts'
import { resumeEndings } from '../../src/logout/telling.ts'
import type { Fetch, Random } from '../../src/ports/platform.ts'
import { jsonLog } from '../../src/telemetry/log.ts'
import { budgetOf } from '../../src/ticks/budget.ts'
import { tableClient } from './aws-adapters.ts'

/** A clock that stands until it is moved. */
export interface TestClock {
  now(): number
  /** Moves it by whole seconds, backwards too. */
  advance(seconds: number): void
}

export function testClock(start = Date.UTC(2026, 10, 30, 12)): TestClock {
  let now = start
  return {
    now: () => now,
    advance: (seconds) => {
      now += seconds * 1000
    },
  }
}

export const random: Random = { bytes: (length) => crypto.getRandomValues(new Uint8Array(length)) }

export type Engine = 'memory' | 'durable-object' | 'dynamodb'
export const engines: readonly Engine[] = ['memory', 'durable-object', 'dynamodb']

/** One store, as several isolates see it. */
export interface TestStore {
  clock: TestClock
  documents: Documents
  /** Adapters of an isolate's own over the store. */
  adapters(): Adapters
}

let stores = 0
/** Of this worker: the emulator serves several, and each store is its own. */
const run = Math.floor(Math.random() * 2 ** 40).toString(36)

export interface TestStoreOptions {
  clock?: TestClock
  /** May change copies of the documents. */
  edit?: (documents: Documents) => void
  /** The objects of `durable-object`, where a test wants to see or trouble what is sent to them. */
  namespace?: ShardNamespace
}

/** A fresh store of the repository's dev documents. */
export function testStore(engine: Engine, { clock = testClock(), edit, namespace = objects() }: TestStoreOptions = {}): TestStore {
  const documents = structuredClone({ service: serviceDocument, policy: policyDocument })
  documents.service.instance = `t${++stores}-${run}`
  edit?.(documents)
  const { instance } = documents.service
  const sealer = localSealer({ sealKey: encodeBase64url(new Uint8Array(32).fill(7)), random })
  const memory = secretsMemory()
  const blobs = blobMemory()
  const store = createMemoryStore()
  const dynamodb = engine === 'dynamodb' ? tableClient(inject('awsEmulator'), instance) : null
  return {
    clock,
    documents,
    adapters() {
      const others = { secrets: memorySecrets({ clock, memory }), sealer, blob: memoryBlob({ memory: blobs }) }
      if (engine === 'memory') {
        const shared = { store, clock, module: 'oidc' as const }
        return {
          ...others,
          state: memoryState(shared),
          index: memoryIndex(shared),
          restore: (module) => memoryState({ ...shared, module, restore: true }),
        }
      }
      const placed = { instance, clock, random, module: 'oidc' as const }
      if (dynamodb !== null) {
        return {
          state: dynamodbState({ ...placed, client: dynamodb }),
          index: dynamodbIndex({ ...placed, client: dynamodb }),
          ...others,
        }
      }
      return {
        ...others,
        state: durableObjectState({ ...placed, namespace }),
        index: durableObjectIndex({ ...placed, namespace }),
        restore: (module) => durableObjectState({ ...placed, namespace, module, restore: true }),
      }
    },
  }
}

function objects(): ShardNamespace {
  return (env as unknown as Env).STATE_SHARD
}

/** The whole service in one isolate: its own caches, over a store that others may share. */
export interface TestService {
  fetch(input: string | Request, init?: RequestInit): Promise<Response>
  /** What the requests so far left to be done after their answers has been done. */
  afterwards(): Promise<void>
  /** The tick that takes up what is left of endings. */
  tick(): Promise<'done' | 'more'>
  services: Services
  logs: string[]
  audit: ReturnType<typeof memorySink>
  url: string
}

/**
 * @param wrap replaces adapters: to count, fail or stop calls
 * @param outside answers what the service asks of others; nobody does when absent
 */
export function startService(
  store: TestStore,
  wrap: (adapters: Adapters) => Adapters = (adapters) => adapters,
  outside: Fetch = () => Promise.reject(new TypeError('there is no network')),
): TestService {
  const { clock, documents } = store
  const logs: string[] = []
  const audit = memorySink()
  const log = jsonLog((line) => logs.push(line), clock)
  const services = composeOn(wrap(store.adapters()), documents, {
    clock,
    random,
    fetch: outside,
    log,
    audit: [audit],
    opsKey: new Uint8Array(32).fill(9),
  })
  const app = createApp(services)
  const { url } = services.issuer
  const later: Promise<unknown>[] = []
  const context = { waitUntil: (work: Promise<unknown>) => void later.push(work), passThroughOnException: () => {}, props: {} }
  return {
    services,
    logs,
    audit,
    url,
    async fetch(input, init) {
      const request = input instanceof Request ? input : new Request(new URL(input, url), { redirect: 'manual', ...init })
      return app.fetch(request, env as unknown as Env, context)
    },
    async afterwards() {
      while (later.length > 0) await later.shift()
    },
    tick() {
      const { issuer, telling, subrequests } = services
      return resumeEndings({ ...issuer, ...telling, calls: budgetOf(subrequests) })
    },
  }
}

/** A browser's cookies, and what a browser adds to a navigation. */
export class TestBrowser {
  readonly cookies = new Map<string, string>()
  private readonly service: TestService

  /** The issuer this browser talks to. */
  get issuer(): string {
    return this.service.url
  }

  constructor(service: TestService) {
    this.service = service
  }

  async get(url: string): Promise<Response> {
    return this.send(
      new Request(new URL(url, this.service.url), { redirect: 'manual', headers: { accept: 'text/html', 'sec-fetch-site': 'none' } }),
    )
  }

  async post(
    url: string,
    form: Record<string, string>,
    headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' },
  ): Promise<Response> {
    const body = new URLSearchParams(form)
    return this.send(
      new Request(new URL(url, this.service.url), {
        method: 'POST',
        redirect: 'manual',
        body,
        headers: { accept: 'text/html', ...headers },
      }),
    )
  }

  /** What a script of a page asks. */
  async ask(method: string, url: string, headers: Record<string, string> = { 'sec-fetch-site': 'same-origin' }): Promise<Response> {
    return this.send(new Request(new URL(url, this.service.url), { method, redirect: 'manual', headers }))
  }

  private async send(request: Request): Promise<Response> {
    if (this.cookies.size > 0) request.headers.set('cookie', [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '))
    const answer = await this.service.fetch(request)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (/max-age=0/i.test(line)) this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }
}

export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' // RFC 7636 appendix B

export async function challengeOf(text: string): Promise<string> {
  return encodeBase64url(await sha256(utf8(text)))
}

/** A whole and right authorization request of the demo client, but for what is changed; undefined takes a parameter out. */
export async function authorizeUrl(changes: Record<string, string | undefined> = {}): Promise<string> {
  const parameters: Record<string, string | undefined> = {
    client_id: 'demo',
    redirect_uri: 'http://localhost:8787/demo',
    response_type: 'code',
    scope: 'openid profile email offline_access',
    state: 'the state',
    nonce: 'the nonce',
    code_challenge: await challengeOf(verifier),
    code_challenge_method: 'S256',
    ...changes,
  }
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return `/authorize?${new URLSearchParams(given)}`
}

/** Signs somebody in, on a page also where a sign-in stands, up to the redirect to the client: the URL they are sent to. */
export async function signIn(
  browser: TestBrowser,
  changes: Record<string, string | undefined> = {},
  person = 'ada@acme.example',
): Promise<URL> {
  const started = await browser.get(await authorizeUrl({ prompt: 'login', ...changes }))
  const login = started.headers.get('location') ?? ''
  const auth = new URL(login, 'http://localhost').searchParams.get('auth') ?? ''
  const answer = await browser.post('/login/picker', { auth, person })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`)
  return new URL(location)
}

/** Presents a code at the token endpoint as the demo client, but for what is changed. */
export async function exchange(
  service: TestService,
  code: string,
  changes: Record<string, string> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    client_id: 'demo',
    redirect_uri: 'http://localhost:8787/demo',
    code_verifier: verifier,
    ...changes,
  })
  return service.fetch('/token', { method: 'POST', body, headers })
}

export interface Tokens {
  access_token: string
  id_token: string
  refresh_token: string
  expires_in: number
  scope: string
}

/** A person signed in at the demo client, with its tokens. */
export async function signedIn(service: TestService, changes: Record<string, string | undefined> = {}): Promise<Tokens> {
  const redirect = await signIn(new TestBrowser(service), changes)
  const answer = await exchange(service, redirect.searchParams.get('code') ?? '')
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}

export function userinfo(service: TestService, accessToken: string): Promise<Response> {
  return service.fetch('/userinfo', { headers: { authorization: `Bearer ${accessToken}` } })
}

/** The claims of a token, unverified. */
export function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')))
}

/** Every live record and the revision it stands at: what two of these differ in was written in between. */
export async function contents(store: TestStore): Promise<Record<string, string>> {
  const { state } = store.adapters()
  const found: Record<string, string> = {}
  let page: string | undefined
  do {
    const part = await state.list('', { page })
    for (const { key, rev } of part.entries) found[key] = rev
    page = part.next
  } while (page !== undefined)
  return found
}

/** The store as a deployment with other documents sees it. */
export function redeployed(store: TestStore, edit: (documents: Documents) => void): TestStore {
  const documents = structuredClone(store.documents)
  edit(documents)
  return { ...store, documents }
}

/** What a changed authorization request needs to be the confidential client's of the dev documents. */
export const asBackend = { client_id: 'backend', redirect_uri: 'http://localhost:3000/callback' }

/** What was audited of sessions and sign-ins, without what the token endpoint refused beside it, and without the keys that were made. */
export function auditedBesideRefusals(service: TestService) {
  return service.audit.events.filter(({ event }) => event !== 'token.refused' && event !== 'key.made')
}
