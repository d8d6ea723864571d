import { decodeProtectedHeader, exportPKCS8, generateKeyPair, jwtVerify } from 'jose'
import { fakeDirectory } from './fake-directory.ts'
import { type Fault, refused } from './faults.ts'
import type { Tenant } from './tenant.ts'

const SERVICE_ACCOUNT = 'sluis@acme-directory.iam.gserviceaccount.com'
const SCOPES = ['user', 'group', 'group.member', 'domain'].map((of) => `https://www.googleapis.com/auth/admin.directory.${of}.readonly`)

export interface FakeGoogleOptions {
  tenant: Tenant
  clock: { now(): number }
  /** Where it is: `http://127.0.0.1:<port>` for a server of its own. */
  origin?: string
}

export interface FakeGoogle {
  /** Google, for whoever is given this in place of the network. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>
  endpoints: { token: string; directory: string }
  /** May be changed under way. */
  tenant: Tenant
  /** The key file of its service account. */
  keyFile: string
  /** Deletes the key, as an administrator would: no token more, and those that are out are not taken. */
  revokeKey(): void
  /** Whether the four scopes are granted to the service account. */
  delegated: boolean
  /** Ends every access token before its time. */
  endTokens(): void
  /** What befalls requests, the first that matches; each as often as it says. */
  faults: Fault[]
  /** `<method> <path and query>` of every request, in order. */
  requests: string[]
}

/**
 * Google's token endpoint and the Admin SDK's directory, as strict as they are: signature, audience, scopes, subject and times of an
 * assertion; the token of a call; parameters that are not documented; pages of at most as many as are documented.
 */
export async function fakeGoogle({ tenant, clock, origin = 'https://google.example' }: FakeGoogleOptions): Promise<FakeGoogle> {
  const keys = await serviceKey()
  const tokens = new Map<string, number>()
  let revoked = false
  const google: FakeGoogle = {
    tenant,
    endpoints: { token: `${origin}/token`, directory: `${origin}/admin/directory/v1` },
    keyFile: JSON.stringify({
      type: 'service_account',
      project_id: 'acme-directory',
      private_key_id: keys.id,
      private_key: keys.pem,
      client_email: SERVICE_ACCOUNT,
      client_id: '100000000000000000001',
      token_uri: `${origin}/token`,
      universe_domain: 'googleapis.com',
    }),
    revokeKey() {
      revoked = true
      tokens.clear()
    },
    delegated: true,
    endTokens: () => tokens.clear(),
    faults: [],
    requests: [],
    async fetch(input, init) {
      const request = new Request(input, init)
      const url = new URL(request.url)
      const called = `${request.method} ${url.pathname}${url.search}`
      google.requests.push(called)
      const fault = google.faults.find(({ on, times }) => called.includes(on) && times > 0)
      if (fault !== undefined) {
        fault.times -= 1
        return fault.answer()
      }
      if (`${url.origin}${url.pathname}` === google.endpoints.token) return grant(request)
      if (!url.href.startsWith(`${google.endpoints.directory}/`)) return new Response('Not Found', { status: 404 })
      const [scheme, token = ''] = (request.headers.get('authorization') ?? '').split(' ')
      if (scheme !== 'Bearer' || (tokens.get(token) ?? 0) <= clock.now()) return refused(401, 'authError', 'Invalid Credentials')
      if (request.method !== 'GET') return refused(403, 'insufficientPermissions', 'Request had insufficient authentication scopes.')
      return fakeDirectory(google.tenant, url, new URL(google.endpoints.directory).pathname)
    },
  }

  async function grant(request: Request): Promise<Response> {
    if (request.method !== 'POST' || !request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded'))
      return noToken('invalid_request')
    const form = new URLSearchParams(new TextDecoder().decode(await request.arrayBuffer()))
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return noToken('unsupported_grant_type')
    try {
      const assertion = form.get('assertion') ?? ''
      if (revoked || decodeProtectedHeader(assertion).kid !== keys.id) return noToken('invalid_grant')
      const { payload } = await jwtVerify(assertion, keys.publicKey, {
        algorithms: ['RS256'],
        issuer: SERVICE_ACCOUNT,
        audience: google.endpoints.token,
        requiredClaims: ['iat', 'exp', 'sub', 'scope'],
        currentDate: new Date(clock.now()),
      })
      if ((payload.exp ?? 0) - (payload.iat ?? 0) > 3_600) return noToken('invalid_grant')
      if (!google.delegated) return noToken('unauthorized_client')
      const scopes = String(payload.scope).split(' ')
      if (JSON.stringify(scopes.toSorted()) !== JSON.stringify(SCOPES.toSorted())) return noToken('unauthorized_client')
      const admin = google.tenant.accounts.find(({ address }) => address.toLowerCase() === payload.sub)
      if (admin === undefined || admin.suspended) return noToken('invalid_grant')
      if (!admin.admin) return noToken('access_denied')
    } catch {
      return noToken('invalid_grant')
    }
    const token = `ya29.${crypto.randomUUID()}`
    tokens.set(token, clock.now() + 3_600_000)
    return Response.json({ access_token: token, expires_in: 3_599, token_type: 'Bearer' })
  }

  return google
}

function noToken(error: string): Response {
  return Response.json({ error, error_description: `${error} (fake)` }, { status: error === 'unauthorized_client' ? 401 : 400 })
}

interface ServiceKey {
  id: string
  pem: string
  publicKey: CryptoKey
}

let made: ServiceKey | undefined

/** One for all tests of a process: making it takes longer than most of them. */
async function serviceKey(): Promise<ServiceKey> {
  if (made !== undefined) return made
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  made = { id: 'f00dfeed', pem: await exportPKCS8(privateKey), publicKey }
  return made
}
