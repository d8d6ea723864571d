import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ADA, Person, type Shown } from './person.ts'
import { type Attempt, begin, discover, finish, meet, SCOPE } from './relying-party.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

const REDIRECT = 'http://127.0.0.1:49321/callback'
const met = new SecretsMet()

let running: RunningIssuer
let config: client.Configuration

/** How far an attempt had come when the service ended. */
interface Under {
  attempt: Attempt
  person: Person
}
let exchanged: Under & { answer: URL; accessToken: string }
let signedIn: Under & { answer: URL }
let waiting: Under & { page: Shown }
let refreshToken: string
let keysBefore: unknown

beforeAll(async () => {
  running = await startIssuer()
  for (const [name, value] of running.secrets) met.add(name, value)
  config = await discover(running.issuer, 'native')
  const start = async () => ({ attempt: await begin(config, REDIRECT), person: new Person(running.issuer, met) })

  const first = await start()
  const answer = await first.person.signIn(first.attempt.url)
  const tokens = await finish(config, answer, first.attempt, met)
  exchanged = { ...first, answer, accessToken: tokens.access_token }
  const second = await start()
  signedIn = { ...second, answer: await second.person.signIn(second.attempt.url) }
  const third = await start()
  waiting = { ...third, page: await third.person.open(third.attempt.url) }
  const fourth = { attempt: await begin(config, REDIRECT, { scope: `${SCOPE} offline_access` }), person: new Person(running.issuer, met) }
  const opened = await finish(config, await fourth.person.signIn(fourth.attempt.url), fourth.attempt, met)
  refreshToken = opened.refresh_token ?? ''
  keysBefore = await keys()
  await running.restart()
}, 120_000) // ms: two starts
afterAll(() => running?.stop())

test('the signing keys stay the same', async () => {
  expect(await keys()).toEqual(keysBefore)
})

test('an access token from before is accepted', async () => {
  expect(await client.fetchUserInfo(config, exchanged.accessToken, ADA)).toMatchObject({ sub: ADA, name: 'Ada Lovelace' })
})

test('a code from before is exchanged', async () => {
  const tokens = await finish(config, signedIn.answer, signedIn.attempt, met)
  expect(tokens.claims()).toMatchObject({ sub: ADA, nonce: signedIn.attempt.checks.expectedNonce })
  expect(await client.fetchUserInfo(config, tokens.access_token, ADA)).toMatchObject({ sub: ADA })
})

test('a page that was open before is completed', async () => {
  const answer = await waiting.person.pick(waiting.page, 'grace@acme.example')
  expect((await finish(config, answer, waiting.attempt, met)).claims()?.sub).toBe('grace@acme.example')
})

test('a refresh token from before refreshes, and so does the one it brings', async () => {
  const first = meet(await client.refreshTokenGrant(config, refreshToken), met)
  expect(await client.fetchUserInfo(config, first.access_token, ADA)).toMatchObject({ sub: ADA, name: 'Ada Lovelace' })
  const second = meet(await client.refreshTokenGrant(config, first.refresh_token ?? ''), met)
  expect(new Set([refreshToken, first.refresh_token, second.refresh_token]).size).toBe(3)
})

test('a code that was spent before is still spent, and presenting it again ends what it opened', async () => {
  await expect(finish(config, exchanged.answer, exchanged.attempt, met)).rejects.toMatchObject({ error: 'invalid_grant' })
  await expect(client.fetchUserInfo(config, exchanged.accessToken, ADA)).rejects.toMatchObject({ status: 401 })
})

test('the secret of a client is still there', async () => {
  const backend = await discover(running.issuer, 'backend', client.ClientSecretBasic(running.backendSecret))
  const attempt = await begin(backend, 'http://localhost:3000/callback')
  const answer = await new Person(running.issuer, met).signIn(attempt.url)
  expect((await finish(backend, answer, attempt, met)).claims()?.sub).toBe(ADA)
})

test('nothing it printed, before or after, holds a code, token, cookie, secret, header or person', async () => {
  await client.fetchUserInfo(config, 'garbage', ADA).catch(() => null)
  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"route":"\/userinfo","status":401/)
  expect(running.output().match(/^sluis-edge is ready: /gm)).toHaveLength(2)
  expect(met.leaksIn(running.output())).toEqual([])
})

async function keys(): Promise<unknown> {
  return (await fetch(config.serverMetadata().jwks_uri ?? '')).json()
}
