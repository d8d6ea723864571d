import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { type Attempt, begin, discover, finish } from './relying-party.ts'
import type { SecretsMet } from './secrets-met.ts'

/** A web application with a session of its own: it signs people in at the issuer and forgets them when it is told to. */
export interface Application extends AsyncDisposable {
  /** `http://localhost:<port>` */
  url: string
  /** The name of the cookie that it keeps its session under. */
  cookie: string
  /** Whom it holds sessions of, by `sid`. */
  sessions: Map<string, string>
  /** `iss` and `sid` of every front-channel frame that was loaded. */
  framed: { iss: string | null; sid: string | null }[]
  /** The claims of every logout token it took. */
  told: JWTPayload[]
  /** While this is set it answers 500 to every logout token. */
  deaf: boolean
  connect(issuer: string, clientId: string, secret?: string): Promise<void>
}

/** Listens on a port of this computer. `/` says who is signed in, `/login` signs in, `/bye` is where a sign-out may end. */
export async function application(met: SecretsMet): Promise<Application> {
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  }).listen(0, 'localhost')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('a TCP server has an address and a port')
  const url = `http://localhost:${address.port}`
  const cookie = `app${address.port}` // a browser keeps one jar for all ports of a host
  const attempts = new Map<string, Attempt>()
  const hints = new Map<string, string>()
  let party: { config: client.Configuration; clientId: string; issuer: string } | undefined

  const app: Application = {
    url,
    cookie,
    sessions: new Map(),
    framed: [],
    told: [],
    deaf: false,
    async connect(issuer, clientId, secret) {
      const config = await discover(issuer, clientId, secret === undefined ? client.None() : client.ClientSecretBasic(secret))
      party = { config, clientId, issuer }
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (party === undefined) throw new Error('not connected')
    const asked = new URL(request.url ?? '/', url)
    const sid = new RegExp(`(?:^|; )${cookie}=([^;]+)`).exec(request.headers.cookie ?? '')?.[1] ?? ''
    switch (asked.pathname) {
      case '/': {
        const who = app.sessions.get(sid)
        return page(response, who === undefined ? 'Nobody is signed in' : `Signed in as ${who}`)
      }
      case '/login': {
        const attempt = await begin(party.config, `${url}/callback`)
        attempts.set(attempt.checks.expectedState, attempt)
        return void response.writeHead(303, { location: attempt.url.href }).end()
      }
      case '/callback': {
        const attempt = attempts.get(asked.searchParams.get('state') ?? '')
        if (attempt === undefined) throw new Error('no attempt of ours')
        const tokens = await finish(party.config, asked, attempt, met)
        const session = String(tokens.claims()?.sid)
        app.sessions.set(session, String(tokens.claims()?.sub))
        hints.set(session, tokens.id_token ?? '')
        return void response.writeHead(303, { location: '/', 'set-cookie': `${cookie}=${session}; Path=/; HttpOnly; SameSite=Lax` }).end()
      }
      case '/logout': {
        const parameters = { id_token_hint: hints.get(sid) ?? '', post_logout_redirect_uri: `${url}/bye`, state: 'its state' }
        return void response.writeHead(303, { location: client.buildEndSessionUrl(party.config, parameters).href }).end()
      }
      case '/bye':
        return page(response, `Goodbye, ${asked.searchParams.get('state')}`)
      case '/told': {
        const form = new URLSearchParams(await text(request))
        if (app.deaf) return void response.writeHead(500).end()
        const claims = await endedSession(form, party)
        app.told.push(claims)
        app.sessions.delete(String(claims.sid))
        return void response.writeHead(200, { 'cache-control': 'no-store' }).end()
      }
      case '/frame': {
        const of = { iss: asked.searchParams.get('iss'), sid: asked.searchParams.get('sid') }
        app.framed.push(of)
        app.sessions.delete(of.sid ?? '')
        response.setHeader('cache-control', 'no-store').setHeader('set-cookie', `${cookie}=; Path=/; Max-Age=0`)
        return page(response, 'Forgotten')
      }
      default:
        return void response.writeHead(404).end()
    }
  }
  return app
}

/** OpenID Connect Back-Channel Logout 1.0 section 2.6. */
async function endedSession(form: URLSearchParams, { issuer, clientId }: { issuer: string; clientId: string }): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL('/keys', issuer))
  const { payload } = await jwtVerify(form.get('logout_token') ?? '', keys, {
    issuer,
    audience: clientId,
    typ: 'logout+jwt',
    requiredClaims: ['iat', 'exp', 'jti', 'events', 'sid'],
  })
  const events = payload.events as Record<string, unknown>
  if (!('http://schemas.openid.net/event/backchannel-logout' in events) || 'nonce' in payload) throw new Error('no logout token')
  return payload
}

function page(response: ServerResponse, said: string): void {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>${said}</title><h1>${said}</h1>`)
}
