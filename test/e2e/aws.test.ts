import { readFile } from 'node:fs/promises'
import * as client from 'openid-client'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { launchChromium, newProfile } from './chromium.ts'
import { ADA, Person } from './person.ts'
import { descendants, running as stillRunning } from './processes.ts'
import { begin, discover, finish, meet } from './relying-party.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

// npm run start:aws, as a newcomer runs it

const met = new SecretsMet()
let running: RunningIssuer
let browser: Browser

beforeAll(async () => {
  ;[running, browser] = await Promise.all([startIssuer({ aws: true }), launchChromium()])
  for (const [name, value] of running.secrets) met.add(name, value)
  met.add('secret access key', await secretAccessKey())
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop()])
})

test('somebody signs in at the demo page, in Chromium', async () => {
  await using person = await newProfile(browser, met)
  const page = await person.context.newPage()
  await page.goto(running.issuer)
  await page.getByRole('link', { name: 'Sign in with the demo client' }).click()
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: `Signed in as ${ADA}.` })
    .waitFor()
  expect(person.troubles()).toEqual([])
})

test('a client signs somebody in with the secret that stands in SSM, and refreshes; with another it does not', async () => {
  const config = await discover(running.issuer, 'backend', client.ClientSecretBasic(running.backendSecret))
  const attempt = await begin(config, 'http://localhost:3000/callback', { scope: 'openid offline_access' })
  const answer = await new Person(running.issuer, met).signIn(attempt.url)
  const impostor = await discover(running.issuer, 'backend', client.ClientSecretBasic('another'))
  await expect(finish(impostor, answer, attempt, met)).rejects.toMatchObject({ status: 401 })

  const tokens = await finish(config, answer, attempt, met)
  const next = meet(await client.refreshTokenGrant(config, tokens.refresh_token ?? ''), met)
  expect(next.refresh_token).not.toBe(tokens.refresh_token)
  expect(await client.fetchUserInfo(config, next.access_token, ADA)).toMatchObject({ sub: ADA })
})

test('/readyz is ready, and warns of nothing but the ticks that nobody has asked for yet', async () => {
  const answer = await fetch(`${running.issuer}/readyz`)
  const ok = ['store', 'signing_keys', 'table sluis-dev-oidc'].map((check) => [check, 'ok'])
  const checks = { ...Object.fromEntries(ok), state_secret: 'same' }
  const warnings = ['keyring:all', 'logout:all'].map((tick) => expect.stringMatching(new RegExp(`^tick ${tick}: .* has not run yet`)))
  expect([answer.status, await answer.json()]).toEqual([200, { status: 'ready', checks, warnings }])
})

test('all of it is in DynamoDB, SSM and KMS, and no read of it is an eventual one', async () => {
  const { counts, eventual, refused } = await requests()
  for (const call of ['dynamodb.PutItem', 'dynamodb.GetItem', 'dynamodb.DeleteItem', 'ssm.GetParameters', 'kms.Encrypt']) {
    expect(counts[call], call).toBeGreaterThan(0)
  }
  expect(eventual).toBe(0)
  expect(Object.keys(refused).filter((type) => !type.endsWith('ConditionalCheckFailedException'))).toEqual([])
})

test('nothing printed holds a code, token, cookie, secret, header or person', async () => {
  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"route":"\/userinfo","status":200/)
  expect(running.output()).not.toMatch(/"level":"(?:warn|error)"/)
  expect(running.output()).not.toMatch(/Signature=|AWS4-HMAC/)
  expect(met.leaksIn(running.output())).toEqual([])
})

test('it stops with nothing left running, the emulator neither', async () => {
  const emulator = emulatorUrl()
  const programs = [running.pid, ...(await descendants(running.pid))].filter((pid) => pid !== undefined)
  expect(programs.length).toBeGreaterThan(1)
  await running.stop()
  await expect.poll(() => stillRunning(programs), { timeout: 10_000 }).toEqual([])
  await expect(fetch(`${emulator}/_emulator/requests`)).rejects.toThrow()
})

/** The one that was drawn for this run, as wrangler was told it; undefined where a program's arguments can't be read. */
async function secretAccessKey(): Promise<string | undefined> {
  const programs = await descendants(running.pid)
  const lines = await Promise.all(programs.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return /AWS_OIDC_SECRET_ACCESS_KEY:([^\0]+)/.exec(lines.join('\0'))?.[1]
}

interface Requests {
  counts: Record<string, number>
  eventual: number
  refused: Record<string, number>
}

async function requests(): Promise<Requests> {
  return JSON.parse(await (await fetch(`${emulatorUrl()}/_emulator/requests`)).text())
}

/** As the newcomer is told. */
function emulatorUrl(): string {
  const url = /(http:\S+)\/_emulator\/requests counts the calls/.exec(running.output())?.[1]
  if (url === undefined) throw new Error(`nothing says where the emulator is:\n${running.output()}`)
  return url
}
