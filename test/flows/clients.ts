import { utf8 } from '../../src/crypto/bytes.ts'
import { inputsOf, pageOf } from './answers.ts'
import {
  type Engine,
  exchange,
  signIn,
  startService,
  TestBrowser,
  type TestService,
  type TestStore,
  type Tokens,
  testStore,
} from './harness.ts'

export const ADA = 'ada@acme.example'
export const GRACE = 'grace@acme.example'
export const KATHERINE = 'katherine@acme.example'

export const HOUR = 3_600 // s
export const MINUTE = 60 // s

export const API = 'https://api.acme.example/v1'

type Documents = TestStore['documents']
type Form = Record<string, string>
type Headers = Record<string, string>

/** What a confidential client of these tests sends to prove itself: `secret of <id>`, but for one that has another's. */
export function basic(id: string, secretOf = id): Headers {
  return { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(`secret of ${secretOf}`)}`)}` }
}

/**
 * A store of the dev documents with one key ring and, beside the clients there are, the resource `API` and `gateway`, which serves it.
 * `backend` and `gateway` have their secrets.
 */
export async function clientStore(engine: Engine, edit: (documents: Documents) => void = () => {}): Promise<TestStore> {
  const store = testStore(engine, {
    edit(documents) {
      const { service, policy } = documents
      service.keyring.rings = ['ES256']
      delete policy.clients.backend?.signing_alg
      policy.resources[API] = { requires: ['app:demo:user'], groups: 'all' }
      policy.clients.gateway = {
        kind: 'confidential',
        redirects: [],
        signed_out: [],
        requires: ['app:backend:user'],
        secret: 'internal/oidc/clients/gateway',
        device: false,
        resource: API,
      }
      edit(documents)
    },
  })
  const { secrets } = store.adapters()
  for (const id of ['backend', 'gateway']) await secrets.put(`internal/oidc/clients/${id}`, utf8(`secret of ${id}`))
  return store
}

/** The same, with a service over it. */
export async function startClients(
  engine: Engine,
  edit?: (documents: Documents) => void,
): Promise<{ store: TestStore; service: TestService }> {
  const store = await clientStore(engine, edit)
  return { store, service: startService(store) }
}

export function post(service: TestService, path: string, form: Form, headers: Headers = {}): Promise<Response> {
  return service.fetch(path, { method: 'POST', body: new URLSearchParams(form), headers })
}

/** Refreshes as the demo client, but for what is changed. */
export function refresh(service: TestService, refresh_token: string, changes: Form = {}, headers: Headers = {}): Promise<Response> {
  return post(service, '/token', { grant_type: 'refresh_token', refresh_token, client_id: 'demo', ...changes }, headers)
}

/** The tokens of a refresh that must succeed. */
export async function refreshed(service: TestService, refresh_token: string, changes: Form = {}, headers: Headers = {}): Promise<Tokens> {
  return tokensIn(await refresh(service, refresh_token, changes, headers))
}

/** The tokens of an answer that must hold some. */
export async function tokensIn(answer: Response): Promise<Tokens> {
  if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Revokes as the demo client, but for what is changed. */
export function revoke(service: TestService, token: string, changes: Form = {}, headers: Headers = {}): Promise<Response> {
  return post(service, '/revoke', { token, client_id: 'demo', ...changes }, headers)
}

/** What `by` is told of a token; `by` is a confidential client. */
export async function introspected(service: TestService, token: string, by: string): Promise<Record<string, unknown>> {
  const answer = await post(service, '/introspect', { token }, basic(by))
  if (answer.status !== 200) throw new Error(`not introspected: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Redirect URIs that need no listener. */
const redirects: Record<string, string> = {
  demo: 'http://localhost:8787/demo',
  native: 'http://localhost/callback',
  backend: 'http://localhost:3000/callback',
}

/** A person at a client, in a browser of their own unless one is given. */
export async function at(
  service: TestService,
  client_id: string,
  {
    browser = new TestBrowser(service),
    person = ADA,
    ...changes
  }: { browser?: TestBrowser; person?: string; resource?: string; scope?: string } = {},
): Promise<Tokens> {
  const redirect_uri = redirects[client_id] ?? ''
  const to = await signIn(browser, { client_id, redirect_uri, ...changes }, person)
  const proof = client_id === 'backend' ? basic('backend') : {}
  return tokensIn(await exchange(service, to.searchParams.get('code') ?? '', { client_id, redirect_uri }, proof))
}

export interface DeviceCodes {
  device_code: string
  user_code: string
  verification_uri: string
  verification_uri_complete: string
  expires_in: number
  interval: number
}

/** The codes a device of the native client begins with. */
export async function beginDevice(service: TestService, changes: Form = {}): Promise<DeviceCodes> {
  const answer = await post(service, '/device_authorization', { client_id: 'native', scope: 'openid offline_access', ...changes })
  if (answer.status !== 200) throw new Error(`no device code: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/** Asks for the tokens of a device, as the native client but for what is changed. */
export function poll(service: TestService, device_code: string, changes: Form = {}): Promise<Response> {
  return post(service, '/token', {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code,
    client_id: 'native',
    ...changes,
  })
}

/** Signs somebody in for a page of ours: where they are sent on to. */
export async function signInAt(browser: TestBrowser, path: string, person = ADA): Promise<string> {
  const to = (await browser.get(path)).headers.get('location') ?? ''
  return finishSignIn(browser, to, person)
}

/** Signs somebody in at the chooser they were sent to: where they are sent on to. */
export async function finishSignIn(browser: TestBrowser, login: string, person = ADA): Promise<string> {
  const auth = new URL(login, 'http://localhost').searchParams.get('auth')
  if (auth === null) throw new Error(`not sent to sign in: ${login}`)
  const answer = await browser.post('/login/picker', { auth, person })
  const location = answer.headers.get('location')
  if (location === null) throw new Error(`not sent on: ${answer.status} ${await answer.text()}`)
  return location
}

/** What the page that asks about a device sends with an answer. Who hasn't just signed in does so first. */
export async function deviceForm(browser: TestBrowser, user_code: string, person = ADA): Promise<Record<string, string>> {
  const shown = await browser.post('/device', { user_code })
  const login = shown.headers.get('location')
  const page = login === null ? shown : await browser.get(await finishSignIn(browser, login, person))
  return inputsOf(await pageOf(page, 200))
}

/** Signs a person in and lets them answer a device. */
export async function answerDevice(
  browser: TestBrowser,
  user_code: string,
  action: 'allow' | 'deny' = 'allow',
  person = ADA,
): Promise<Response> {
  return browser.post('/device', { ...(await deviceForm(browser, user_code, person)), action })
}
