import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../scripts/bench/free-port.ts'
import { callOps } from '../../scripts/ops-client.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { accessibilityProblems } from './accessible.ts'
import { launchChromium, newProfile } from './chromium.ts'
import { ADA } from './person.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'
import { type CompanyProvider, companyProvider, signInThere } from './upstream-provider.ts'

const met = new SecretsMet()
let company: CompanyProvider
let running: RunningIssuer
let browser: Browser

beforeAll(async () => {
  const port = await freePort()
  company = await companyProvider({ redirectUri: `http://localhost:${port}/login/company/callback` })
  const started = await Promise.all([launchChromium(), startIssuer({ port, service: withCompany })])
  browser = started[0]
  running = started[1]
  for (const [name, value] of running.secrets) met.add(name, value)
  met.add('the client secret at the company', company.clientSecret)
  await put('client-id', company.clientId)
  await put('client-secret', `${company.clientSecret}\n`)
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop(), company?.[Symbol.asyncDispose]()])
})

/** A service document with the company's provider as the one way in. */
function withCompany(): string {
  return `version: 1
instance: dev
issuer: http://localhost:8787
name: Acme (development)
directory:
  kind: local
  people: [{ email: ${ADA}, given_name: Ada, family_name: Lovelace, groups: [engineering@acme.example] }]
signin:
  providers:
    company: { kind: oidc, issuer: '${company.issuer}', name: Acme Login }
`
}

/** As `npm run seed` does. */
async function put(name: string, value: string): Promise<void> {
  const target = { issuer: running.issuer, instance: 'dev', opsKey: running.secrets.get('OPS_KEY') ?? '' }
  await callOps(target, { command: 'secret.put', path: `internal/oidc/signin/company/${name}`, value: utf8(value) })
}

async function profile(options: BrowserContextOptions = {}) {
  const person = await newProfile(browser, met, options)
  await person.context.route('https://fonts.googleapis.com/**', (route) => route.fulfill({ contentType: 'text/css', body: '' })) // its pages want one
  return person
}

async function signedIn(page: Page): Promise<void> {
  const says = `Signed in as ${ADA}.`
  await page.getByRole('status').filter({ hasText: says }).waitFor()
}

test('somebody signs in at their company, straight from the application and back, and stays signed in', async () => {
  await using person = await profile()
  const page = await person.context.newPage()
  await page.goto(`${running.issuer}/demo#start`)
  await page.waitForURL(`${company.issuer}/**`)
  await signInThere(page, 'Ada@acme.example')
  await signedIn(page)
  const idToken = page.locator('section', { has: page.getByRole('heading', { name: 'ID token', exact: true }) })
  const rows = await idToken.getByRole('row').allTextContents()
  expect(rows).toEqual(expect.arrayContaining([`sub${ADA}`, 'groupsapp:demo:user', 'acrurn:sluis:acr:directory']))
  expect((await person.context.cookies(running.issuer)).map(({ name }) => name).sort()).toEqual(['sluis_browser', 'sluis_sso'])

  await page.goto(`${running.issuer}/demo#start`) // from here on the company is not asked
  await signedIn(page)
  expect(person.troubles()).toEqual([])
})

test('two tabs at once each come back to their own application', async () => {
  await using person = await profile()
  const [first, second] = [await person.context.newPage(), await person.context.newPage()]
  for (const tab of [first, second]) {
    await tab.goto(`${running.issuer}/demo#start`)
    await tab.waitForURL(`${company.issuer}/**`)
  }
  await signInThere(second, ADA)
  await signedIn(second)
  await signInThere(first, ADA)
  await signedIn(first)
  expect(person.troubles()).toEqual([])
})

test('who turns back, or has no verified address, is told so and can come by another account', async () => {
  await using person = await profile({ viewport: { width: 360, height: 740 } })
  const page = await person.context.newPage()
  await page.goto(`${running.issuer}/demo#start`)
  await page.getByRole('link', { name: 'Cancel' }).click()
  await page.getByRole('heading', { level: 1, name: 'You are not signed in' }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])

  await page.getByRole('link', { name: 'Use another account' }).click()
  await signInThere(page, 'new@acme.example')
  await page.getByText('Acme Login has not verified the address of this account.').waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('link', { name: 'Use another account' }).click()
  await signInThere(page, ADA)
  await signedIn(page)
  expect(person.troubles()).toEqual([])
})

test('a device is allowed by somebody the company has just proved, by a form whose page lets it go nowhere else', async () => {
  await using person = await profile()
  const page = await person.context.newPage()
  const body = new URLSearchParams({ client_id: 'native', scope: 'openid' })
  const device = await fetch(`${running.issuer}/device_authorization`, { method: 'POST', body })
  const { user_code } = (await device.json()) as { user_code: string }
  await page.goto(`${running.issuer}/device`)
  await page.getByRole('textbox').fill(user_code)
  await page.getByRole('button').click()
  await page.getByRole('link', { name: 'Acme Login' }).click()
  await signInThere(page, ADA)
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('A program on this computer').waitFor()
  expect(person.troubles()).toEqual([])
})

test('nothing the service printed holds a code, token, cookie, secret or person', async () => {
  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"reason":"unverified_address"/)
  expect(running.output()).toMatch(/"route":"\/login\/:provider\/callback","status":303/)
  expect(met.leaksIn(running.output())).toEqual([])
})
