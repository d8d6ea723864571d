import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as client from 'openid-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/bench/free-port.ts'
import { parseDevVars } from '../../scripts/dev-vars.ts'
import { type NpmStart, npmStart, npmStartFails } from './npm-start.ts'
import { ADA, Person } from './person.ts'
import { begin, discover, finish } from './relying-party.ts'
import { SecretsMet } from './secrets-met.ts'

const met = new SecretsMet()
let folder: string
let port: number
let running: NpmStart | undefined
let printed = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluis-npm-start-'))
  port = await freePort()
  running = await npmStart(port, folder)
})
afterAll(async () => {
  await running?.interrupt()
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
})

test('the first start answers soon after the command', () => {
  const { answeredAfter = Number.POSITIVE_INFINITY } = running ?? {}
  console.log(`npm start answered ${(answeredAfter / 1000).toFixed(1)} s after the command`)
  expect(answeredAfter).toBeLessThan(15_000) // ms: 5 s on a quiet machine; this one runs other tests, too
})

test('the first start draws the secrets, for their owner alone', async () => {
  const vars = await secrets()
  expect([...vars.keys()]).toEqual(['SEAL_KEY', 'OPS_KEY', 'BACKEND_CLIENT_SECRET'])
  expect(new Set(vars.values()).size).toBe(3)
  for (const value of vars.values()) expect(value).toMatch(/^[\w-]{43}$/)
  expect((await stat(varsFile())).mode & 0o777).toBe(0o600)
})

test('with no file edited, a public client and one with a secret sign somebody in', async () => {
  await expect.poll(() => running?.output(), { timeout: 30_000 }).toContain('sluis-edge is ready')
  expect(await signsIn('native', 'http://127.0.0.1:49321/callback')).toBe(ADA)
  expect(await signsIn('backend', 'http://localhost:3000/callback', await backendSecret())).toBe(ADA)
})

test('a second start on the same port says so, names another, and leaves the first alone', async () => {
  const elsewhere = join(folder, 'second')
  const { code, output } = await npmStartFails(port, elsewhere)
  expect(code).toBe(1)
  expect(output).toContain(`port ${port} of 127.0.0.1 is taken by another program. Another one: npm start -- --port ${port + 1}\n`)
  await expect(stat(elsewhere)).rejects.toThrow('ENOENT')
  expect((await fetch(`http://localhost:${port}/healthz`)).status).toBe(200)
})

test('Ctrl-C ends everything that was started', async () => {
  printed += running?.output()
  const left = await running?.interrupt()
  running = undefined
  expect(left).toEqual([])
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow()
})

test('the next start uses the secrets there are, and the records', async () => {
  const before = await readFile(varsFile(), 'utf8')
  const { mtimeMs } = await stat(varsFile())
  running = await npmStart(port, folder)
  await expect.poll(() => running?.output(), { timeout: 30_000 }).toContain('sluis-edge is ready')
  expect(await readFile(varsFile(), 'utf8')).toBe(before)
  expect((await stat(varsFile())).mtimeMs).toBe(mtimeMs)
  expect(await signsIn('backend', 'http://localhost:3000/callback', await backendSecret())).toBe(ADA)
})

test('nothing either of them printed is a warning, or holds a code, token, cookie, secret, header or person', async () => {
  for (const [name, value] of await secrets()) met.add(name, value)
  const exchanges = () => `${printed}${running?.output()}`.match(/"route":"\/userinfo","status":200/g)
  await expect.poll(exchanges, { timeout: 10_000 }).toHaveLength(3)
  const output = `${printed}${running?.output()}`
  expect(output).not.toMatch(/^warning: |"level":"(?:warn|error)"/m)
  expect(met.leaksIn(output)).toEqual([])
})

async function signsIn(clientId: string, redirectUri: string, secret?: string): Promise<string | undefined> {
  const issuer = `http://localhost:${port}`
  const config = await discover(issuer, clientId, secret === undefined ? client.None() : client.ClientSecretBasic(secret))
  const attempt = await begin(config, redirectUri)
  const tokens = await finish(config, await new Person(issuer, met).signIn(attempt.url), attempt, met)
  const userinfo = await client.fetchUserInfo(config, tokens.access_token, ADA)
  return userinfo.sub
}

function varsFile(): string {
  return join(folder, 'vars')
}

async function secrets(): Promise<ReadonlyMap<string, string>> {
  return parseDevVars(await readFile(varsFile(), 'utf8'))
}

async function backendSecret(): Promise<string> {
  return (await secrets()).get('BACKEND_CLIENT_SECRET') ?? ''
}
