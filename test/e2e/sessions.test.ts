import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ADA, Person } from './person.ts'
import { begin, discover, finish, meet, SCOPE } from './relying-party.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

const OFFLINE = `${SCOPE} offline_access`
const met = new SecretsMet()

let running: RunningIssuer
let native: client.Configuration
let backend: client.Configuration

beforeAll(async () => {
  running = await startIssuer()
  for (const [name, value] of running.secrets) met.add(name, value)
  native = await discover(running.issuer, 'native')
  backend = await discover(running.issuer, 'backend', client.ClientSecretBasic(running.backendSecret))
})
afterAll(() => running?.stop())

describe('a session with offline_access', () => {
  test('is refreshed by a token that rotates, and the token before still brings the same one for a while', async () => {
    const first = await opened(native)
    const second = await refreshed(native, first)
    expect(second.token).toMatch(/^slr_[\w-]{43}$/)
    expect(second.token).not.toBe(first)
    expect(second.tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: OFFLINE })
    expect(await client.fetchUserInfo(native, second.tokens.access_token, ADA)).toMatchObject({ sub: ADA, name: 'Ada Lovelace' })

    const again = await refreshed(native, first) // an answer that was lost on its way
    expect(again.token).toBe(second.token)
    expect(again.tokens.access_token).not.toBe(second.tokens.access_token)
    expect((await refreshed(native, second.token)).token).not.toBe(second.token)
  })

  test('is the same session to its client at every refresh: subject, sid and time of the sign-in', async () => {
    const attempt = await begin(backend, 'http://localhost:3000/callback', { scope: OFFLINE })
    const before = await finish(backend, await new Person(running.issuer, met).signIn(attempt.url), attempt, met)
    const claims = before.claims()
    expect(claims).toMatchObject({ sub: ADA, sid: expect.any(String), auth_time: expect.any(Number) })
    const after = await refreshed(backend, before.refresh_token)
    expect(after.tokens.claims()).toMatchObject({ sub: ADA, sid: claims?.sid, auth_time: claims?.auth_time })
  })

  test('that its client revokes is over: nothing refreshes it, and its access token opens nothing', async () => {
    const first = await opened(native)
    const { token, tokens } = await refreshed(native, first)
    await client.tokenRevocation(native, token)
    for (const presented of [token, first])
      await expect(client.refreshTokenGrant(native, presented)).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(client.fetchUserInfo(native, tokens.access_token, ADA)).rejects.toMatchObject({ status: 401 })
    await client.tokenRevocation(native, token) // RFC 7009 section 2.2: what was asked for is so
  })
})

describe('introspection', () => {
  test('tells a client with a secret what its tokens are, until they are not', async () => {
    const { token, tokens } = await refreshed(backend, await opened(backend, 'http://localhost:3000/callback'))
    const session = { active: true, client_id: 'backend', username: ADA, sub: ADA, iss: running.issuer, scope: OFFLINE }
    const access = { ...session, token_type: 'Bearer', aud: 'backend', groups: ['app:backend:user'], exp: expect.any(Number) }
    expect(await client.tokenIntrospection(backend, tokens.access_token)).toMatchObject(access)
    expect(await client.tokenIntrospection(backend, token)).toMatchObject(session)

    await client.tokenRevocation(backend, token)
    for (const over of [tokens.access_token, token]) expect(await client.tokenIntrospection(backend, over)).toEqual({ active: false })
  })

  test("says no more of another client's token than of garbage, and nothing to a client without a secret", async () => {
    const { token, tokens } = await refreshed(native, await opened(native))
    for (const presented of [tokens.access_token, token, 'garbage'])
      expect(await client.tokenIntrospection(backend, presented)).toEqual({ active: false })
    await expect(client.tokenIntrospection(native, token)).rejects.toMatchObject({ error: 'invalid_client', status: 401 })
  })
})

// together, because a device waits its interval of five seconds before it asks
describe.concurrent('a device', () => {
  test('is signed in while somebody types its code in a browser without JavaScript, signs in there and allows it', async () => {
    const asked = await askedByDevice()
    const [tokens] = await Promise.all([client.pollDeviceAuthorizationGrant(native, asked), answeredByAda(asked, 'allow')])
    meet(tokens, met)
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: OFFLINE })
    expect(tokens.claims()).toMatchObject({ iss: running.issuer, aud: 'native', sub: ADA, name: 'Ada Lovelace' })
    const { tokens: later } = await refreshed(native, tokens.refresh_token)
    expect(await client.fetchUserInfo(native, later.access_token, ADA)).toMatchObject({ sub: ADA })
    await expect(polled(asked)).rejects.toMatchObject({ error: expect.stringMatching(/^(?:invalid_grant|expired_token)$/) }) // once
  })

  test('is told when the person denies it', async () => {
    const asked = await askedByDevice()
    const poll = expect(client.pollDeviceAuthorizationGrant(native, asked)).rejects.toMatchObject({ error: 'access_denied' })
    await Promise.all([poll, answeredByAda(asked, 'deny')])
  })

  test('that does not keep to its interval is told to slow down', async () => {
    const asked = await askedByDevice()
    const errors: unknown[] = []
    for (let poll = 0; poll < 7; poll++) errors.push(await polled(asked).catch(({ error }) => error)) // 3 in 10 s: two windows at the most
    expect(errors.slice(0, 3)).toEqual(Array(3).fill('authorization_pending'))
    expect(errors).toContain('slow_down')
  })
})

test('nothing the service printed holds a code, token, cookie, secret, header or person', async () => {
  await expect(client.refreshTokenGrant(native, 'slr_somebodys')).rejects.toMatchObject({ error: 'invalid_grant' })
  await fetch(`${running.issuer}/nowhere?user_code=BCDF-GHJK`)
  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"route":"unmatched","status":404/)
  for (const route of ['/device_authorization', '/device', '/introspect', '/revoke'])
    expect(running.output()).toContain(`"route":"${route}","status":200`)
  expect(met.leaksIn(running.output())).toEqual([])
})

/** Signs Ada in. Answers the refresh token. */
async function opened(config: client.Configuration, redirectUri = 'http://127.0.0.1:49321/callback'): Promise<string> {
  const attempt = await begin(config, redirectUri, { scope: OFFLINE })
  const tokens = await finish(config, await new Person(running.issuer, met).signIn(attempt.url), attempt, met)
  return tokens.refresh_token ?? ''
}

async function refreshed(config: client.Configuration, token = '') {
  const tokens = meet(await client.refreshTokenGrant(config, token), met)
  return { tokens, token: tokens.refresh_token ?? '' }
}

async function askedByDevice() {
  const asked = await client.initiateDeviceAuthorization(native, { scope: OFFLINE })
  expect(asked).toMatchObject({ verification_uri: `${running.issuer}/device`, expires_in: 600, interval: 5 })
  met.add('device code', asked.device_code)
  met.add('user code', asked.user_code)
  met.add('user code', asked.user_code.replace('-', ''))
  return asked
}

type Asked = Awaited<ReturnType<typeof askedByDevice>>

/** One poll, whenever. */
function polled({ device_code }: Asked) {
  return client.genericGrantRequest(native, 'urn:ietf:params:oauth:grant-type:device_code', { device_code })
}

/** Ada, at a browser in which nobody has signed in. */
async function answeredByAda({ verification_uri, user_code }: Asked, action: 'allow' | 'deny'): Promise<void> {
  const ada = new Person(running.issuer, met)
  const signIn = await ada.submit(await ada.open(verification_uri), { user_code })
  expect(new URL(signIn.url).pathname).toBe('/login')
  const consent = await ada.submit(signIn, { person: ADA })
  for (const shown of ['A program on this computer', user_code, ADA]) expect(consent.html).toContain(shown)
  const done = await ada.submit(consent, { action })
  expect(done.html).toContain(action === 'allow' ? 'Your device is signed in' : 'was not let in')
}
