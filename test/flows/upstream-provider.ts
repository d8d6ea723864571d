import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { sha256 } from '../../src/crypto/digest.ts'
import { random, type TestClock } from './harness.ts'

interface Key {
  kid: string
  alg: string
  sign: CryptoKey | Uint8Array
  jwk: JWK
}

let keys = 0

async function drawKey(alg = 'ES256'): Promise<Key> {
  const kid = `key-${++keys}`
  const { privateKey, publicKey } = await generateKeyPair(alg)
  return { kid, alg, sign: privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } }
}

interface Waiting {
  query: URLSearchParams
  claims: Record<string, unknown>
}

/** What an answer of the provider is made with: a test changes what it wants to see refused. */
export interface Bent {
  claims?: Record<string, unknown>
  /** Of the ID token's header. */
  alg?: string
  kid?: string
  /** In place of the ID token it would have signed. */
  idToken?: (signed: string) => string
  /** By path, in place of the answer it would have given. */
  answers?: Readonly<Record<string, () => Response | Promise<Response>>>
  discovery?: Record<string, unknown>
}

export interface StrictProviderOptions {
  issuer: string
  redirectUri: string
  clock: TestClock
  /** How a client has to prove itself. */
  auth?: 'client_secret_basic' | 'client_secret_post'
}

/**
 * A company's OpenID provider as strict as the specifications allow: an authorization or token request that is not exactly right is an error
 * of the test, and a code is good once.
 */
export async function strictProvider({ issuer, redirectUri, clock, auth = 'client_secret_basic' }: StrictProviderOptions) {
  const client = { id: 'our id: ü&', secret: `s%+${encodeBase64url(random.bytes(24))}` } // what has to be form-encoded for Basic
  const codes = new Map<string, Waiting>()
  const asked: string[] = []
  let key = await drawKey()
  let bent: Bent = {}
  let userinfo: Record<string, unknown> = {}

  const provider = {
    issuer,
    client,
    /** The paths asked for so far. */
    asked,
    get key() {
      return key
    },
    bend(how: Bent) {
      bent = how
    },
    async rotate() {
      key = await drawKey()
    },
    /** What its userinfo endpoint says, beside `sub`. */
    tell(claims: Record<string, unknown>) {
      userinfo = claims
    },

    /** What its sign-in page does with a person: checks the request they were sent with, and sends them back. */
    signIn(location: string, claims: Record<string, unknown>, more: Record<string, string> = {}): string {
      const query = checkedRequest(location)
      const code = encodeBase64url(random.bytes(16))
      codes.set(code, { query, claims })
      return back(query, { code, iss: issuer, ...more })
    },
    /** The same, when they turn back. */
    refuse(location: string, error: string): string {
      return back(checkedRequest(location), { error, error_description: 'nobody <b>reads</b> this', iss: issuer })
    },

    async fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
      const request = new Request(input, init)
      const { origin, pathname } = new URL(request.url)
      asked.push(pathname)
      if (origin !== issuer) throw new TypeError(`nobody is at ${origin}`)
      const instead = bent.answers?.[pathname]
      if (instead !== undefined) return instead()
      switch (`${request.method} ${pathname}`) {
        case 'GET /.well-known/openid-configuration':
          return json(200, { ...discovery(), ...bent.discovery })
        case 'GET /jwks':
          return json(200, { keys: [key.jwk] })
        case 'POST /token':
          return token(request)
        case 'GET /userinfo':
          return request.headers.get('authorization') === 'Bearer an access token' ? json(200, { sub: 'u-1', ...userinfo }) : json(401, {})
        default:
          return json(404, {})
      }
    },
  }
  return provider

  function discovery(): Record<string, unknown> {
    return {
      issuer,
      authorization_endpoint: `${issuer}/authorize?tenant=acme`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256', 'HS256', 'none'],
      token_endpoint_auth_methods_supported: [auth],
      authorization_response_iss_parameter_supported: true,
    }
  }

  function checkedRequest(location: string): URLSearchParams {
    const { origin, pathname, searchParams } = new URL(location)
    const said = Object.fromEntries(searchParams)
    const wanted = { tenant: 'acme', response_type: 'code', client_id: client.id, redirect_uri: redirectUri, code_challenge_method: 'S256' }
    const isRight =
      `${origin}${pathname}` === `${issuer}/authorize` &&
      Object.entries(wanted).every(([name, value]) => said[name] === value) &&
      (said.scope ?? '').split(' ').includes('openid') &&
      (said.state ?? '').length >= 22 &&
      (said.nonce ?? '').length >= 22 &&
      /^[\w-]{43}$/.test(said.code_challenge ?? '')
    if (!isRight) throw new Error(`not an authorization request of ours: ${location}`)
    return searchParams
  }

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(new TextDecoder().decode(await request.arrayBuffer()))
    if (!isClient(request, form)) return json(401, { error: 'invalid_client' }, { 'www-authenticate': 'Basic realm="token"' })
    const code = form.get('code') ?? ''
    const waiting = codes.get(code)
    codes.delete(code)
    const challenge = encodeBase64url(await sha256(utf8(form.get('code_verifier') ?? '')))
    const isRight =
      form.get('grant_type') === 'authorization_code' &&
      form.get('redirect_uri') === redirectUri &&
      waiting?.query.get('code_challenge') === challenge
    if (waiting === undefined || !isRight) return json(400, { error: 'invalid_grant' })
    return json(200, { access_token: 'an access token', token_type: 'Bearer', expires_in: 60, id_token: await idToken(waiting) })
  }

  function isClient(request: Request, form: URLSearchParams): boolean {
    if (auth === 'client_secret_post') return form.get('client_id') === client.id && form.get('client_secret') === client.secret
    const [scheme, credentials = ''] = (request.headers.get('authorization') ?? '').split(' ')
    const [id = '', secret = ''] = atob(credentials).split(':')
    const decoded = [id, secret].map((part) => new URLSearchParams(`a=${part}`).get('a'))
    return scheme === 'Basic' && decoded[0] === client.id && decoded[1] === client.secret
  }

  async function idToken({ query, claims }: Waiting): Promise<string> {
    const now = Math.floor(clock.now() / 1000)
    const own = { iss: issuer, aud: client.id, sub: 'u-1', iat: now, exp: now + 300, nonce: query.get('nonce') }
    const { alg = key.alg, kid = key.kid } = bent
    const secret = alg.startsWith('HS') ? utf8(client.secret) : key.sign
    const signed = await new SignJWT({ ...own, ...claims, ...bent.claims }).setProtectedHeader({ alg, kid }).sign(secret)
    return bent.idToken?.(signed) ?? signed
  }

  function back(query: URLSearchParams, answer: Record<string, string>): string {
    return `${redirectUri}?${new URLSearchParams({ ...answer, state: query.get('state') ?? '' })}`
  }
}

export type StrictProvider = Awaited<ReturnType<typeof strictProvider>>

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })
}
