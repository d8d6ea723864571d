import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loopbackServer } from './loopback-server.ts'
import { ADA, Person } from './person.ts'
import { begin, discover, finish } from './relying-party.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

let running: RunningIssuer
const met = new SecretsMet()

beforeAll(async () => {
  running = await startIssuer()
  for (const [name, value] of running.secrets) met.add(name, value)
})
afterAll(() => running?.stop())

const ada = {
  sub: ADA,
  name: 'Ada Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
  preferred_username: ADA,
  email: ADA,
  email_verified: true,
}

describe('a public client', () => {
  test('signs in a program that listens on whatever port was free', async () => {
    const config = await discover(running.issuer, 'native')
    for (const host of ['127.0.0.1', 'localhost']) {
      await using program = await loopbackServer()
      const redirectUri = `http://${host}:${program.port}/callback`
      const attempt = await begin(config, redirectUri)
      const sentTo = await new Person(running.issuer, met).signIn(attempt.url)
      await fetch(sentTo)

      const { path, parameters } = await program.next()
      expect({ path, ...parameters }).toEqual({
        path: '/callback',
        code: expect.stringMatching(/^slc_/),
        state: attempt.checks.expectedState,
        iss: running.issuer,
      })
      const answer = new URL(`${redirectUri}?${new URLSearchParams(parameters)}`)
      const tokens = await finish(config, answer, attempt, met)
      expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'openid profile email' })
      expect(tokens.refresh_token).toBeUndefined()
      expect(tokens.claims()).toMatchObject({ ...ada, iss: running.issuer, aud: 'native', nonce: attempt.checks.expectedNonce })
      expect(decodeProtectedHeader(tokens.id_token ?? '')).toMatchObject({ alg: 'ES256' })

      const groups = ['app:backend:user', 'app:console:operator', 'app:demo:user', 'emp:all']
      expect(tokens.claims()?.groups).toEqual(groups)
      expect(await client.fetchUserInfo(config, tokens.access_token, ADA)).toEqual({ ...ada, groups })
    }
  })

  test('is any other public client, too: `demo` on another port and as another person', async () => {
    const config = await discover(running.issuer, 'demo')
    const attempt = await begin(config, 'http://localhost:49321/demo', { scope: 'openid' })
    const answer = await new Person(running.issuer, met).signIn(attempt.url, 'katherine@acme.example')
    expect(answer.href).toMatch(/^http:\/\/localhost:49321\/demo\?code=/)

    const tokens = await finish(config, answer, attempt, met)
    expect(tokens.claims()).toMatchObject({ sub: 'katherine@acme.example', groups: ['app:demo:user'] })
    const userinfo = await client.fetchUserInfo(config, tokens.access_token, 'katherine@acme.example')
    expect(userinfo).toEqual({ sub: 'katherine@acme.example', groups: ['app:demo:user'] })
  })

  test('gets an access token that a resource server can verify by the key set alone', async () => {
    const config = await discover(running.issuer, 'native')
    const attempt = await begin(config, 'http://127.0.0.1:49321/callback')
    const tokens = await finish(config, await new Person(running.issuer, met).signIn(attempt.url), attempt, met)

    const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri ?? ''))
    const { payload } = await jwtVerify(tokens.access_token, keys, { issuer: running.issuer, audience: 'native', typ: 'at+jwt' })
    expect(payload).toMatchObject({ sub: ADA, client_id: 'native', scope: 'openid profile email', sid: tokens.claims()?.sid })
  })

  test('refuses an answer that names no issuer, or another: discovery says that every answer has one', async () => {
    const config = await discover(running.issuer, 'native')
    const attempt = await begin(config, 'http://127.0.0.1:49321/callback')
    const answer = await new Person(running.issuer, met).signIn(attempt.url)

    const [without, anothers] = [new URL(answer), new URL(answer)]
    without.searchParams.delete('iss')
    anothers.searchParams.set('iss', 'https://evil.example')
    for (const forged of [without, anothers]) {
      const refused = finish(config, forged, attempt, met)
      await expect(refused).rejects.toMatchObject({ cause: { message: expect.stringContaining('"iss"') } })
    }
    expect((await finish(config, answer, attempt, met)).claims()?.sub).toBe(ADA) // and nothing was spent by them
  })

  test('without PKCE is told so in the answer, with its state and the issuer', async () => {
    const config = await discover(running.issuer, 'native')
    const attempt = await begin(config, 'http://127.0.0.1:49321/callback', { pkce: false })
    const answer = await fetch(attempt.url, { redirect: 'manual' })
    const sentTo = new URL(answer.headers.get('location') ?? '')
    await expect(finish(config, sentTo, attempt, met)).rejects.toMatchObject({
      error: 'invalid_request',
      error_description: expect.stringContaining('code_challenge'),
    })
  })
})

describe('a confidential client', () => {
  const ways = [
    ['client_secret_basic', client.ClientSecretBasic],
    ['client_secret_post', client.ClientSecretPost],
  ] as const

  for (const [method, authentication] of ways) {
    for (const pkce of [true, false]) {
      test(`signs in by ${method} ${pkce ? 'with' : 'without'} PKCE, and its ID token is signed by RS256`, async () => {
        const config = await discover(running.issuer, 'backend', authentication(running.backendSecret))
        expect(config.serverMetadata().token_endpoint_auth_methods_supported).toContain(method)
        const attempt = await begin(config, 'http://localhost:3000/callback', { pkce })
        const answer = await new Person(running.issuer, met).signIn(attempt.url)
        expect(answer.origin + answer.pathname).toBe('http://localhost:3000/callback')

        const tokens = await finish(config, answer, attempt, met)
        expect(decodeProtectedHeader(tokens.id_token ?? '')).toMatchObject({ alg: 'RS256' })
        expect(tokens.claims()).toMatchObject({ ...ada, aud: 'backend', groups: ['app:backend:user'] })
        const userinfo = await client.fetchUserInfo(config, tokens.access_token, ADA)
        expect(userinfo).toEqual({ ...ada, groups: ['app:backend:user'] })
      })
    }
  }

  test('with another secret is refused, and the code is still good for the right one', async () => {
    const right = await discover(running.issuer, 'backend', client.ClientSecretBasic(running.backendSecret))
    const attempt = await begin(right, 'http://localhost:3000/callback')
    const answer = await new Person(running.issuer, met).signIn(attempt.url)

    const byForm = await discover(running.issuer, 'backend', client.ClientSecretPost('wrong'))
    await expect(finish(byForm, answer, attempt, met)).rejects.toMatchObject({ error: 'invalid_client', status: 401 })
    // RFC 6749 section 5.2: who used the header is challenged in it
    const byHeader = await discover(running.issuer, 'backend', client.ClientSecretBasic('wrong'))
    const challenged = { status: 401, cause: [{ scheme: 'basic' }] }
    await expect(finish(byHeader, answer, attempt, met)).rejects.toMatchObject(challenged)
    expect((await finish(right, answer, attempt, met)).claims()?.sub).toBe(ADA)
  })
})

test('nothing the service printed holds a code, token, cookie, secret, header or person', async () => {
  const config = await discover(running.issuer, 'backend', client.ClientSecretBasic(running.backendSecret))
  const attempt = await begin(config, 'http://localhost:3000/callback', { scope: 'openid offline_access' })
  const answer = await new Person(running.issuer, met).signIn(attempt.url)
  const tokens = await finish(config, answer, attempt, met)
  await expect(finish(config, answer, attempt, met)).rejects.toMatchObject({ error: 'invalid_grant' })
  await expect(client.fetchUserInfo(config, tokens.access_token, ADA)).rejects.toThrow()

  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"route":"\/userinfo","status":401/)
  expect(running.output()).toMatch(/"route":"\/login\/picker","status":303/)
  expect(met.leaksIn(running.output())).toEqual([])
  for (const leak of [answer.href, tokens.access_token, running.backendSecret, ADA]) expect(met.leaksIn(leak)).not.toEqual([]) // it would be seen
})
