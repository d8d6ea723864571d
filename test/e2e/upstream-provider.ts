import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import type { Page } from 'playwright-core'

/** A company's OpenID provider on this computer: whoever types an address is let in with it. */
export interface CompanyProvider extends AsyncDisposable {
  issuer: string
  clientId: string
  clientSecret: string
}

export interface CompanyProviderOptions {
  /** Of the one client it has. */
  redirectUri: string
  port?: number
}

/**
 * `oidc-provider` as its documentation starts it, with its own pages to sign in and to agree on. An address that begins with `new` is one it
 * has not verified. As OpenID Connect Core section 5.4 has it, addresses are told at userinfo, not in the ID token.
 */
export async function companyProvider({ redirectUri, port = 0 }: CompanyProviderOptions): Promise<CompanyProvider> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('a TCP server has an address and a port')
  const issuer = `http://127.0.0.1:${address.port}`
  const client = { clientId: 'sluis', clientSecret: Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url') }
  server.on('request', (await providerAt(issuer, client, redirectUri)).callback())
  return {
    issuer,
    ...client,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** On the company's own pages: who they are, and that they agree. */
export async function signInThere(page: Page, address: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(address)
  await page.getByPlaceholder('and password').fill('anything')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}

async function providerAt(issuer: string, client: Pick<CompanyProvider, 'clientId' | 'clientSecret'>, redirectUri: string) {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const random = () => Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url')
  return new Provider(issuer, {
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'company', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: [random()] },
    clients: [
      {
        client_id: client.clientId,
        client_secret: client.clientSecret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        application_type: redirectUri.startsWith('http:') ? 'native' : 'web', // http on loopback is for native ones
      },
    ],
    // which of its defaults it would warn of
    ttl: { Interaction: 600, Session: 3_600, Grant: 3_600, AccessToken: 60, IdToken: 60, AuthorizationCode: 60 },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context: unknown, email: string) => ({
      accountId: email,
      claims: () => ({ sub: email, email, email_verified: !email.startsWith('new') }),
    }),
  })
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '9000' },
      'redirect-uri': { type: 'string', default: 'http://localhost:8787/login/company/callback' },
    },
  })
  const { issuer, clientId, clientSecret } = await companyProvider({ port: Number(values.port), redirectUri: values['redirect-uri'] })
  console.log(
    `issuer         ${issuer}\nclient id      ${clientId}\nclient secret  ${clientSecret}\nredirect URI   ${values['redirect-uri']}`,
  )
}
