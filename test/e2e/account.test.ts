import * as client from 'openid-client'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems } from './accessible.ts'
import { launchChromium, newProfile } from './chromium.ts'
import { type LoopbackServer, loopbackServer } from './loopback-server.ts'
import { ADA } from './person.ts'
import { begin, discover, finish, meet, SCOPE } from './relying-party.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

const OFFLINE = `${SCOPE} offline_access`
const PHONE = { viewport: { width: 390, height: 844 } } // CSS pixels: a phone of today, held upright
const met = new SecretsMet()

let running: RunningIssuer
let browser: Browser
let native: client.Configuration
let demo: client.Configuration

beforeAll(async () => {
  browser = await launchChromium()
  running = await startIssuer()
  for (const [name, value] of running.secrets) met.add(name, value)
  native = await discover(running.issuer, 'native')
  demo = await discover(running.issuer, 'demo')
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop()])
})

describe('somebody who signs in at one client', () => {
  test('is signed in at a second without a page, sees both on /account, and ends them one by one or all', async () => {
    await using server = await loopbackServer()
    await using person = await newProfile(browser, met)
    const page = await person.context.newPage()
    const visited = navigations(page)

    const program = await openedBy(native, `http://127.0.0.1:${server.port}/callback`, server, page, async () => {
      await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    })
    visited.length = 0
    const demoUri = `http://localhost:${server.port}/demo`
    const second = await openedBy(demo, demoUri, server, page)
    expect(visited).toEqual([`${running.issuer}/authorize`, demoUri])
    expect(second.claims).toMatchObject({ sub: ADA, auth_time: program.claims?.auth_time })
    expect(second.claims?.sid).not.toBe(program.claims?.sid)

    await page.goto(`${running.issuer}/account`)
    const here = page.locator('section', { has: page.getByRole('heading', { name: 'This browser' }) })
    expect(await applications(here)).toEqual(['A program on this computer', 'The demo'])
    await here.getByRole('button', { name: 'End The demo' }).click()
    await expect.poll(() => applications(here)).toEqual(['A program on this computer'])
    await expect(client.refreshTokenGrant(demo, second.refreshToken)).rejects.toMatchObject({ error: 'invalid_grant' })
    const later = meet(await client.refreshTokenGrant(native, program.refreshToken), met)

    await page.getByRole('button', { name: 'End everything, here and everywhere' }).click()
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor()
    await expect(client.refreshTokenGrant(native, later.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(client.fetchUserInfo(native, later.access_token, ADA)).rejects.toMatchObject({ status: 401 })
    await page.goto((await begin(demo, demoUri)).url.href)
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
    expect(person.troubles()).toEqual([])
  })
})

describe('on a phone', () => {
  test('a device is allowed with a keyboard that types its code, and ended on /account', async () => {
    await using person = await newProfile(browser, met, PHONE)
    const page = await person.context.newPage()
    const asked = await client.initiateDeviceAuthorization(native, { scope: OFFLINE })
    met.add('device code', asked.device_code)
    for (const code of [asked.user_code, asked.user_code.replace('-', '')]) met.add('user code', code)

    await page.goto(asked.verification_uri)
    await fits(page, 'Connect a device')
    await page.keyboard.type(asked.user_code.replace('-', ' ').toLowerCase()) // the field has the focus
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    await fits(page, 'Allow this device?')
    await page.getByText(asked.user_code, { exact: true }).waitFor()
    await page.getByText('Only go on if you started this yourself').waitFor()
    await page.getByRole('button', { name: 'Allow' }).click()
    await fits(page, 'Your device is signed in')

    const tokens = meet(await client.pollDeviceAuthorizationGrant(native, asked), met)
    await page.getByRole('link', { name: 'your account page' }).click()
    await fits(page, 'Your account')
    await page.getByRole('button', { name: 'End A program on this computer' }).click()
    await page.getByText('None.', { exact: true }).waitFor()
    await expect(client.refreshTokenGrant(native, tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' })
    await page.getByRole('button', { name: 'Sign out of this browser' }).click()
    await fits(page, 'You are signed out')
    expect(person.troubles()).toEqual([])
  })

  test('a link with the code in it fills it in, and a code that no device shows is told so beside what was typed', async () => {
    await using person = await newProfile(browser, met, PHONE)
    const page = await person.context.newPage()
    await page.goto(`${running.issuer}/device?user_code=BCDF-GHJK`)
    expect(await page.getByLabel('Code').inputValue()).toBe('BCDF-GHJK')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    await page.getByRole('alert').filter({ hasText: 'No device waits under that code' }).waitFor()
    expect(await page.getByLabel('Code').inputValue()).toMatch(/^BCDF-?GHJK$/)
    await fits(page, 'Connect a device')
    expect(person.troubles()).toEqual([])
  })
})

test('nothing the service printed holds a code, token, cookie, secret, header or person', async () => {
  await fetch(`${running.issuer}/nowhere?user_code=BCDF-GHJK`)
  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"route":"unmatched","status":404/)
  for (const route of ['/account', '/device']) expect(running.output()).toContain(`"route":"${route}","status":200`)
  expect(met.leaksIn(running.output())).toEqual([])
})

/** The addresses the page goes to, less what they carry: every hop of a redirect is one. */
function navigations(page: Page): string[] {
  const visited: string[] = []
  page.on('request', (request) => {
    const { origin, pathname } = new URL(request.url())
    if (request.isNavigationRequest()) visited.push(origin + pathname)
  })
  return visited
}

/** Goes through a whole sign-in of a client that listens on this computer; `act` is what the person does on the way. */
async function openedBy(config: client.Configuration, redirectUri: string, server: LoopbackServer, page: Page, act = async () => {}) {
  const attempt = await begin(config, redirectUri, { scope: OFFLINE })
  await page.goto(attempt.url.href)
  await act()
  await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
  const { parameters } = await server.next()
  const tokens = await finish(config, new URL(`${redirectUri}?${new URLSearchParams(parameters)}`), attempt, met)
  return { claims: tokens.claims(), refreshToken: tokens.refresh_token ?? '' }
}

/** What a part of the account page lists, by name. */
function applications(part: ReturnType<Page['locator']>): Promise<string[]> {
  return part
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => row.firstElementChild?.textContent ?? '').sort((a, b) => a.localeCompare(b)))
}

/** The page is this one, and has its headings, names and order, and fits. */
async function fits(page: Page, heading: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
}
