import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import { CLIENT, REDIRECT_URI, SCOPE } from './authorization.ts'
import type { Code } from './contender.ts'
import { inParallel } from './in-parallel.ts'
import { mapAdapter } from './node-peer-adapter.ts'
import { drawPkce } from './pkce.ts'

/** What the process answers: that it listens, or the codes it was asked for. */
export type Said = { listening: number } | { codes: Code[] }

const { privateKey } = await generateKeyPair('ES256', { extractable: true })

const server = createServer()
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('a TCP server has an address and a port')
  void serve(`http://127.0.0.1:${address.port}`).then(() => say({ listening: address.port }))
})

/**
 * oidc-provider as its documentation starts it: opaque access tokens kept by the adapter, an ID token signed with ES256, and refresh tokens
 * of a public client rotated at every use. Its own sessions of browsers are not needed: codes are saved as its authorization endpoint does.
 */
async function serve(issuer: string): Promise<void> {
  const provider = new Provider(issuer, {
    adapter: mapAdapter(),
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'bench', alg: 'ES256', use: 'sig' }] },
    clients: [
      {
        client_id: CLIENT,
        token_endpoint_auth_method: 'none',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        id_token_signed_response_alg: 'ES256',
        application_type: 'native',
      },
    ],
    claims: { openid: ['sub', 'groups'] },
    findAccount: (_context: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId, groups: ['app:bench:user'] }) }),
    features: { devInteractions: { enabled: false } },
  })
  server.on('request', provider.callback())
  process.on('disconnect', () => process.exit()) // whoever measured is gone
  process.on('message', (count: number) => {
    void inParallel(count, 1, (at) => saveCode(provider, `person-${at % 32}@acme.example`)).then((codes) => say({ codes }))
  })
}

async function saveCode(provider: Provider, accountId: string): Promise<Code> {
  const { verifier, challenge } = drawPkce()
  const grant = new provider.Grant({ accountId, clientId: CLIENT })
  grant.addOIDCScope(SCOPE)
  const code = new provider.AuthorizationCode({
    accountId,
    client: await provider.Client.find(CLIENT),
    grantId: await grant.save(),
    redirectUri: REDIRECT_URI,
    scope: SCOPE,
    authTime: Math.floor(Date.now() / 1_000),
    codeChallenge: challenge,
    codeChallengeMethod: 'S256',
  })
  return { code: await code.save(), verifier }
}

function say(said: Said): void {
  process.send?.(said)
}
