import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/bench/free-port.ts'
import { callOps } from '../../scripts/ops-client.ts'
import { workspace } from '../../scripts/workspace.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { ADMIN, smallTenant } from '../google/tenant.ts'
import { launchChromium, newProfile } from './chromium.ts'
import { type GoogleServer, startGoogle } from './google-server.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'
import { type CompanyProvider, companyProvider, signInThere } from './upstream-provider.ts'

const ADA = 'ada@acme.example'
const met = new SecretsMet()
let google: GoogleServer
let company: CompanyProvider
let running: RunningIssuer
let browser: Browser

beforeAll(async () => {
  const port = await freePort()
  google = await startGoogle(smallTenant())
  company = await companyProvider({ redirectUri: `http://localhost:${port}/login/company/callback` })
  const variables = { GOOGLE_ENDPOINT: google.origin }
  const started = await Promise.all([launchChromium(), startIssuer({ port, service: atWork, variables })])
  browser = started[0]
  running = started[1]
  for (const [name, value] of running.secrets) if (name !== 'GOOGLE_ENDPOINT') met.add(name, value)
  const target = { issuer: running.issuer, instance: 'dev', opsKey: running.secrets.get('OPS_KEY') ?? '' }
  for (const [name, value] of [['client-id', company.clientId] as const, ['client-secret', company.clientSecret] as const])
    await callOps(target, { command: 'secret.put', path: `internal/oidc/signin/company/${name}`, value: utf8(value) })
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop(), company?.[Symbol.asyncDispose](), google?.[Symbol.asyncDispose]()])
})

/** The company's provider says who somebody is, and its Workspace what they are in. */
function atWork(): string {
  return `version: 1
instance: dev
issuer: http://localhost:8787
name: Acme
directory: { kind: google }
signin:
  providers:
    company: { kind: oidc, issuer: '${company.issuer}', name: Acme Login }
audit: blob
`
}

/** As `npm run workspace -- ...` does. */
function command(...args: string[]): Promise<string> {
  return workspace([...args, '--issuer', running.issuer, '--vars', running.vars])
}

async function connect(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluis-key-'))
  try {
    await writeFile(join(folder, 'key.json'), google.google.keyFile)
    return await command('connect', '--key', join(folder, 'key.json'), '--admin', ADMIN)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

test('a connected Workspace says what somebody holds, and that they are gone ends their sign-in', async () => {
  expect(await connect()).toMatch(/^connected Workspace C01acme: /)
  await expect.poll(() => command('list'), { timeout: 15_000 }).toContain('4 people and 3 groups')

  await using person = await newProfile(browser, met)
  await person.context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css', body: '' }))
  const page = await person.context.newPage()
  await page.goto(`${running.issuer}/demo#start`)
  await page.waitForURL(`${company.issuer}/**`)
  await signInThere(page, ADA)
  await page
    .getByRole('status')
    .filter({ hasText: `Signed in as ${ADA}.` })
    .waitFor()
  const idToken = page.locator('section', { has: page.getByRole('heading', { name: 'ID token', exact: true }) })
  const rows = await idToken.getByRole('row').allTextContents()
  expect(rows).toEqual(expect.arrayContaining([`sub${ADA}`, 'groupsapp:demo:user'])) // of engineering, by way of platform

  for (const account of google.google.tenant.accounts) if (account.address === ADA) account.suspended = true
  const before = await command('list')
  expect(await command('refresh', 'C01acme')).toContain('C01acme')
  await expect.poll(() => command('list'), { timeout: 15_000 }).not.toBe(before)
  await running.restart() // an isolate goes by the manifest it has for half a minute
  await page.goto('about:blank') // the page it shows is of the same address
  await page.goto(`${running.issuer}/demo#start`)
  await page.waitForURL(`${company.issuer}/**`) // her sign-in here is over
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'This account can’t sign in' }).waitFor()
  expect(met.leaksIn(running.output())).toEqual([])
})
