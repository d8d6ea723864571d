import { type OAuthHelpers, OAuthProvider } from '@cloudflare/workers-oauth-provider'

interface Env {
  OAUTH_PROVIDER: OAuthHelpers
  /** `http://127.0.0.1:<port>` */
  ORIGIN: string
  REDIRECT_URI: string
}

/** One an isolate, as an application that knows its own address when it is deployed has it. */
let provider: OAuthProvider<Env> | undefined

// biome-ignore lint/style/noDefaultExport: a Worker's entry
export default {
  fetch(request: Request, env: Env, context: never): Promise<Response> {
    provider ??= providerAt(env.ORIGIN)
    return provider.fetch(request, env, context)
  },
}

function providerAt(origin: string): OAuthProvider<Env> {
  return new OAuthProvider<Env>({
    apiRoute: '/userinfo',
    apiHandler: { fetch: (_request: Request, _env: Env, { props }: { props: unknown }) => Response.json(props) },
    defaultHandler: { fetch: application },
    authorizeEndpoint: '/authorize',
    tokenEndpoint: '/token',
    scopesSupported: ['openid', 'offline_access'],
    resourceMetadata: { resource: `${origin}/userinfo`, authorization_servers: [origin] },
  })
}

/** What the library leaves to the application: registering a client, and a sign-in page, which here lets in whoever `login_hint` names. */
async function application(request: Request, { OAUTH_PROVIDER: oauth, REDIRECT_URI }: Env): Promise<Response> {
  const url = new URL(request.url)
  if (url.pathname === '/client') {
    const client = await oauth.createClient({ redirectUris: [REDIRECT_URI], tokenEndpointAuthMethod: 'none', clientName: 'bench' })
    return Response.json({ client_id: client.clientId })
  }
  const authorization = await oauth.parseAuthRequest(request)
  const userId = url.searchParams.get('login_hint') ?? ''
  const { redirectTo } = await oauth.completeAuthorization({
    request: authorization,
    userId,
    metadata: {},
    scope: authorization.scope,
    props: { sub: `${userId}@acme.example`, groups: ['app:bench:user'] },
    revokeExistingGrants: false, // several of one person are measured at once
  })
  return new Response(null, { status: 302, headers: { location: redirectTo } })
}
