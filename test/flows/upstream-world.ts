import { expect } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { pageOf } from './answers.ts'
import { authorizeUrl, startService, TestBrowser, type TestService, type TestStore, testStore } from './harness.ts'
import { type StrictProvider, strictProvider } from './upstream-provider.ts'

export const ADA = { email: 'ada@acme.example', email_verified: true }

type Settings = Record<string, unknown>

export interface UpstreamWorld {
  store: TestStore
  service: TestService
  okta: StrictProvider
}

/** The service with a company's provider beside it, as `okta` of its documents. */
export async function upstreamWorld({
  settings = {},
  auth = 'client_secret_basic',
  google = false,
}: {
  settings?: Settings
  auth?: 'client_secret_basic' | 'client_secret_post'
  google?: boolean
} = {}): Promise<UpstreamWorld> {
  const issuer = google ? 'https://accounts.google.com' : 'https://acme.okta.example'
  const store = testStore('memory', {
    edit({ service }) {
      const own = google ? { kind: 'google', name: 'Google', hosted_domains: ['acme.example', 'acme-labs.example'] } : OKTA
      const other = { ...OKTA, issuer: 'https://login.other.example', name: 'Other' }
      Object.assign(service.signin, { providers: { okta: { ...own, ...settings }, other } })
    },
  })
  const okta = await strictProvider({ issuer, redirectUri: 'http://localhost:8787/login/okta/callback', clock: store.clock, auth })
  const { secrets } = store.adapters()
  for (const [id, { id: clientId, secret }] of [
    ['okta', okta.client],
    ['other', { id: 'other', secret: 'other' }],
  ] as const) {
    await secrets.put(`internal/oidc/signin/${id}/client-id`, utf8(clientId))
    await secrets.put(`internal/oidc/signin/${id}/client-secret`, utf8(`${secret}\n`)) // as an editor leaves it
  }
  return { store, okta, service: startService(store, undefined, okta.fetch) }
}

const OKTA = {
  kind: 'oidc',
  issuer: 'https://acme.okta.example',
  name: 'Acme <Okta>',
  scopes: [],
  subject_claim: 'email',
  trust_email: false,
}

export interface Sent {
  browser: TestBrowser
  auth: string
  /** Where the provider's sign-in page is, with the request to it. */
  location: string
}

/** Somebody whom a client has sent to sign in, on their way to the provider. */
export async function sent(
  { service }: Pick<UpstreamWorld, 'service'>,
  changes: Record<string, string | undefined> = {},
  browser = new TestBrowser(service),
): Promise<Sent> {
  const asked = await browser.get(await authorizeUrl(changes))
  const auth = new URL(asked.headers.get('location') ?? '', service.url).searchParams.get('auth') ?? ''
  const started = await browser.get(`/login/okta/start?auth=${auth}`)
  const location = started.headers.get('location')
  if (location === null) throw new Error(`no redirect: ${started.status} ${await started.text()}`)
  return { browser, auth, location }
}

/** The whole way of somebody with these claims: what the callback answers. */
export async function comeBack(
  world: UpstreamWorld,
  claims: Record<string, unknown> = ADA,
  changes: Record<string, string | undefined> = {},
): Promise<Response> {
  const { browser, location } = await sent(world, changes)
  return browser.get(world.okta.signIn(location, claims))
}

/** The code the client is sent, which must be one. */
export function codeOf(answer: Response): string {
  const code = new URL(answer.headers.get('location') ?? 'http://nowhere').searchParams.get('code')
  expect({ status: answer.status, code }).toEqual({ status: 303, code: expect.stringMatching(/^slc_/) })
  return code ?? ''
}

/** A refusal: its page, of this status, says the same reason as the log line and the audit event. Answers the page. */
export async function refused(
  { service }: Pick<UpstreamWorld, 'service'>,
  answer: Response,
  status: number,
  reason: string,
): Promise<string> {
  const html = await pageOf(answer, status)
  expect(/<code>(\w+)<\/code>/.exec(html)?.[1]).toBe(reason)
  const line = service.logs.map((text) => JSON.parse(text)).findLast(({ event }) => event === 'signin.upstream_refused')
  expect(line).toMatchObject({ reason, level: status >= 500 ? 'error' : 'warn' })
  expect(service.audit.events.at(-1)).toMatchObject({ event: 'signin.refused', reason, request_id: line.request_id })
  return html
}

/** The names of the cookies of sign-ins under way. */
export function starts(browser: TestBrowser): string[] {
  return [...browser.cookies.keys()].filter((name) => name.startsWith('sluis_upstream_'))
}
