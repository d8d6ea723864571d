import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { callOps } from '../../scripts/ops-client.ts'
import { accessibilityProblems } from './accessible.ts'
import { type Application, application } from './application.ts'
import { launchChromium, newProfile } from './chromium.ts'
import { ADA } from './person.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

const met = new SecretsMet()
let running: RunningIssuer
let browser: Browser
/** Told by the issuer. */
let ledger: Application
/** Told in the browser. */
let handbook: Application

beforeAll(async () => {
  ;[ledger, handbook, browser] = await Promise.all([application(met), application(met), launchChromium()])
  running = await startIssuer({ policy: withApplications })
  for (const [name, value] of running.secrets) met.add(name, value)
  await ledger.connect(running.issuer, 'ledger', running.secrets.get('LEDGER_CLIENT_SECRET'))
  await handbook.connect(running.issuer, 'handbook')
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop(), ledger?.[Symbol.asyncDispose](), handbook?.[Symbol.asyncDispose]()])
})

function withApplications(policy: string): string {
  const rows = `
  ledger:
    kind: confidential
    redirects: [${ledger.url}/callback]
    signed_out: [${ledger.url}/bye]
    requires: [app:demo:user]
    secret: internal/oidc/clients/ledger
    backchannel_logout_uri: ${ledger.url}/told
  handbook:
    kind: public
    redirects: [${handbook.url}/callback]
    signed_out: [${handbook.url}/bye]
    requires: [app:demo:user]
    frontchannel_logout_uri: ${handbook.url}/frame
    frontchannel_logout_session_required: true
`
  return policy.replace('\nclients:\n', `\nclients:\n${rows}`)
}

/** Signed in at both applications, at the second without a page. */
async function signedInAtBoth(page: Page): Promise<void> {
  await page.goto(`${ledger.url}/login`)
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.getByRole('heading', { name: `Signed in as ${ADA}` }).waitFor()
  await page.goto(`${handbook.url}/login`)
  await page.getByRole('heading', { name: `Signed in as ${ADA}` }).waitFor()
  for (const app of [ledger, handbook]) {
    app.framed.length = 0
    app.told.length = 0
  }
}

async function expectNobodyAnywhere(page: Page): Promise<void> {
  for (const app of [ledger, handbook]) {
    await expect.poll(() => app.sessions.size).toBe(0)
    await page.goto(app.url)
    await page.getByRole('heading', { name: 'Nobody is signed in' }).waitFor()
  }
  await page.goto(`${ledger.url}/login`)
  await page.getByRole('button', { name: 'Ada Lovelace' }).waitFor() // it has to be said again who it is
}

const profile = (options = {}) => newProfile(browser, met, options)

test('one sign-out ends both applications: one is told by the issuer, one in the browser', async () => {
  await using person = await profile()
  const page = await person.context.newPage()
  await signedInAtBoth(page)
  const [sid] = [...handbook.sessions.keys()]
  const cookies = async () => (await person.context.cookies()).map(({ name }) => name)
  expect(await cookies()).toContain(handbook.cookie)

  await page.goto(`${running.issuer}/logout`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  await page.getByRole('button', { name: /^Sign out/ }).click()
  await expect.poll(() => handbook.framed).toEqual([{ iss: running.issuer, sid }])
  await expect.poll(cookies).not.toContain(handbook.cookie)
  await expect.poll(() => ledger.told.length).toBe(1)
  expect(ledger.told).toMatchObject([{ sub: ADA, aud: 'ledger', iss: running.issuer }])
  expect(await accessibilityProblems(page)).toEqual([])
  expect(person.troubles()).toEqual([])
  await expectNobodyAnywhere(page)
})

test('RP-Initiated Logout 1.0: an application signs its person out unasked, is told itself, and has them back with its state', async () => {
  await using person = await profile()
  const page = await person.context.newPage()
  await signedInAtBoth(page)
  await page.goto(`${ledger.url}/logout`)
  await page.getByRole('heading', { name: 'Goodbye, its state' }).waitFor()
  expect(page.url()).toBe(`${ledger.url}/bye?state=its+state`)
  expect(handbook.framed).toHaveLength(1)
  expect(person.troubles()).toEqual([])
  await expectNobodyAnywhere(page)
})

/** How a person gets from the page that says "signed out" back to the application. */
const waysOn = [
  { way: 'by its script', javaScriptEnabled: true, goOn: async () => {} },
  {
    way: 'without JavaScript by its link',
    javaScriptEnabled: false,
    goOn: async (page: Page) => {
      expect(await accessibilityProblems(page)).toEqual([])
      await page.getByRole('link', { name: 'Go there now' }).click()
    },
  },
]

test.each(waysOn)('a request that proves nothing asks, nothing ends before, and the person goes on $way', async ({ goOn, ...options }) => {
  await using person = await profile({ javaScriptEnabled: options.javaScriptEnabled })
  const page = await person.context.newPage()
  await signedInAtBoth(page)
  await page.goto(`${running.issuer}/end_session?client_id=handbook&post_logout_redirect_uri=${handbook.url}/bye&state=s`)
  await page.getByRole('button', { name: /^Sign out/ }).waitFor()
  expect(await accessibilityProblems(page)).toEqual([])
  expect([ledger.told, handbook.framed]).toEqual([[], []])
  await page.goto(ledger.url)
  await page.getByRole('heading', { name: `Signed in as ${ADA}` }).waitFor()

  await page.goBack()
  await page.getByRole('button', { name: /^Sign out/ }).click()
  await expect.poll(() => ledger.told.length).toBe(1)
  await expect.poll(() => handbook.framed.length).toBe(1)
  await goOn(page)
  await page.getByRole('heading', { name: 'Goodbye, s' }).waitFor()
  expect(page.url()).toBe(`${handbook.url}/bye?state=s`)
  expect(person.troubles()).toEqual([])
  await expectNobodyAnywhere(page)
})

test('an application that is away at the sign-out is told when it is back, by the tick alone, across a restart', async () => {
  await using person = await profile()
  const page = await person.context.newPage()
  await signedInAtBoth(page)
  ledger.deaf = true
  await page.goto(`${ledger.url}/logout`)
  await page.getByRole('heading', { name: 'Goodbye, its state' }).waitFor()
  await expect.poll(() => running.output()).toContain('"event":"logout.failed"')

  ledger.deaf = false
  await running.restart()
  expect(ledger.told).toEqual([])
  const target = { issuer: running.issuer, instance: 'dev', opsKey: running.secrets.get('OPS_KEY') ?? '' }
  await expect
    .poll(
      async () => {
        await callOps(target, { command: 'tick.run', kind: 'logout', target: 'all' })
        return ledger.told.length
      },
      { timeout: 60_000, interval: 3_000 }, // ms: it waits for half a minute
    )
    .toBe(1)
  expect(ledger.sessions.size).toBe(0)
}, 90_000)

test('no line that the service wrote holds a secret, a token or a person', () => {
  expect(met.leaksIn(running.output())).toEqual([])
})
