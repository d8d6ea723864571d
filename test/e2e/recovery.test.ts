import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { ROOT } from '../../scripts/build.ts'
import { accessibilityProblems } from './accessible.ts'
import { launchChromium, newProfile } from './chromium.ts'
import { loopbackServer } from './loopback-server.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

const met = new SecretsMet()
let running: RunningIssuer
let browser: Browser
/** As `npm start` printed it: the issuer has never seen it. */
let password: string

beforeAll(async () => {
  browser = await launchChromium()
  running = await startIssuer({ policy: letsRecoveryIn })
  password = /^ *recovery password:? +(\w{40})\b/m.exec(running.output())?.[1] ?? ''
  expect(password).toHaveLength(40)
  for (const [name, value] of running.secrets) met.add(name, value)
  met.add('recovery password', password)
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop()])
})

describe('the recovery password', () => {
  for (const mode of ['query', 'form_post']) {
    test(`signs its account in at a client, answered by ${mode}, and is in nothing the browser sends`, async () => {
      await using client = await loopbackServer()
      await using person = await newProfile(browser, met)
      const page = await person.context.newPage()
      const sent = everythingSent(page)
      await page.goto(authorization(client.port, { response_mode: mode }))
      await typePassword(page, password)
      await page.getByRole('heading', { name: 'Back at the client' }).waitFor()

      const { method, parameters } = await client.next()
      expect(method).toBe(mode === 'query' ? 'GET' : 'POST')
      expect(parameters).toEqual({ code: expect.stringMatching(/^slc_/), state: 'the state', iss: running.issuer })
      expect(sent()).toContain('/login/recovery/start')
      expect(sent()).toContain('/login/recovery/complete')
      for (const spelling of [password, encodeURIComponent(password), btoa(password).replaceAll('=', '')])
        expect(sent()).not.toContain(spelling)
      expect(person.troubles()).toEqual([])

      await page.goto(`${running.issuer}/account`)
      await page.getByText('recovery', { exact: true }).first().waitFor()
    })
  }

  test('that is wrong is told so beside it, and the right one is taken after it', async () => {
    await using client = await loopbackServer()
    await using person = await newProfile(browser, met)
    const page = await person.context.newPage()
    await page.goto(authorization(client.port))
    await typePassword(page, `${password}x`)
    await page.getByRole('alert').filter({ hasText: 'That password was not accepted' }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('password')

    await page.keyboard.type(password) // over the wrong one, which is selected
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
    expect(person.troubles().filter((trouble) => !trouble.includes('status of 403'))).toEqual([])
  })

  test('has a form that waits for its script, and says so where there is none', async () => {
    await using person = await newProfile(browser, met, { javaScriptEnabled: false })
    const page = await person.context.newPage()
    await page.goto(authorization(49_321))
    await unfold(page)
    await page.getByLabel('Recovery password').fill('typed anyway')
    await page.locator('noscript p', { hasText: 'This needs JavaScript' }).waitFor()
    expect(await page.getByRole('button', { name: 'Sign in', exact: true }).isDisabled()).toBe(true)
    const at = page.url()
    await page.keyboard.press('Enter')
    expect(page.url()).toBe(at)
  })

  test('is another after `npm run verifier`, and no more the one before', async () => {
    await using client = await loopbackServer()
    await using person = await newProfile(browser, met)
    const before = password
    password = await drawAnother()
    met.add('recovery password', password)
    const page = await person.context.newPage()
    await page.goto(authorization(client.port))
    await typePassword(page, before)
    await page.getByRole('alert').filter({ hasText: 'That password was not accepted' }).waitFor()
    await page.getByLabel('Recovery password').fill(password)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
  })

  test('is in no line of the service but the one that hands it over', async () => {
    for (const step of ['start', 'finish', 'complete'])
      await expect.poll(() => running.output(), { timeout: 10_000 }).toContain(`"route":"/login/recovery/${step}"`)
    const lines = running
      .output()
      .split('\n')
      .filter((line) => !/^ *recovery password/.test(line))
    expect(met.leaksIn(lines.join('\n'))).toEqual([])
  })
})

/** What `npm run verifier -- recovery` prints. */
async function drawAnother(): Promise<string> {
  const args = [join(ROOT, 'scripts/verifier.ts'), 'recovery', '--issuer', running.issuer]
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, OPS_KEY: running.secrets.get('OPS_KEY') } })
  return stdout.trim()
}

/** The account holds what names it: the clients of this test ask for this group. */
function letsRecoveryIn(policy: string): string {
  const document = parseDocument(policy)
  document.setIn(['groups', 'app:demo:user', 'matchers'], [{ account: 'recovery' }])
  return String(document)
}

async function unfold(page: Page): Promise<void> {
  await page.getByText('Sign in with the recovery password').click()
}

async function typePassword(page: Page, typed: string): Promise<void> {
  await unfold(page)
  await page.getByLabel('Recovery password').fill(typed)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Addresses, headers and bodies of all requests a page makes, to whomever. */
function everythingSent(page: Page): () => string {
  const requests: Request[] = []
  page.on('request', (request) => requests.push(request))
  return () => requests.map((request) => [request.url(), JSON.stringify(request.headers()), request.postData() ?? ''].join('\n')).join('\n')
}

function authorization(port: number, more: Record<string, string> = {}): string {
  const parameters = {
    response_type: 'code',
    client_id: 'native',
    redirect_uri: `http://127.0.0.1:${port}/callback`,
    scope: 'openid',
    state: 'the state',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', // RFC 7636 appendix B
    code_challenge_method: 'S256',
    ...more,
  }
  return `${running.issuer}/authorize?${new URLSearchParams(parameters)}`
}
