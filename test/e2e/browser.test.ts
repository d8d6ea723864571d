import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessibilityProblems } from './accessible.ts'
import { launchChromium, newProfile } from './chromium.ts'
import { loopbackServer } from './loopback-server.ts'
import { ADA } from './person.ts'
import { SecretsMet } from './secrets-met.ts'
import { type RunningIssuer, startIssuer } from './start-issuer.ts'

const met = new SecretsMet()
let running: RunningIssuer
let browser: Browser

beforeAll(async () => {
  browser = await launchChromium()
  running = await startIssuer()
  for (const [name, value] of running.secrets) met.add(name, value)
})
afterAll(async () => {
  await Promise.allSettled([browser?.close(), running?.stop()])
})

const profile = (options = {}) => newProfile(browser, met, options)

describe('the start page', () => {
  test('leads through a sign-in with the demo client to the claims that came back', async () => {
    await using person = await profile()
    const page = await person.context.newPage()
    await page.goto(running.issuer)
    await page.getByRole('link', { name: 'Sign in with the demo client' }).click()
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    await page
      .getByRole('status')
      .filter({ hasText: `Signed in as ${ADA}.` })
      .waitFor()

    const who = { sub: ADA, groups: 'app:demo:user' }
    const named = { ...who, name: 'Ada Lovelace', email: ADA, email_verified: 'true' }
    expect(await claims(page, 'ID token')).toMatchObject({ ...named, iss: running.issuer, aud: 'demo', acr: 'urn:sluis:acr:directory' })
    expect(await claims(page, 'Access token')).toMatchObject({ ...who, client_id: 'demo', scope: 'openid profile email' })
    expect(await claims(page, 'Userinfo')).toMatchObject(named)
    expect(page.url()).toBe(`${running.issuer}/demo`) // the code has left the address bar
    expect(await person.context.cookies()).toMatchObject(
      ['sluis_browser', 'sluis_sso'].map((name) => ({ name, httpOnly: true, sameSite: 'Lax' })),
    )
    expect(person.troubles()).toEqual([])
  })

  test('is enough with a keyboard alone: Tab, Enter, and focus that can be seen', async () => {
    await using person = await profile()
    const page = await person.context.newPage()
    await page.goto(running.issuer)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Sign in with the demo client')
    await page.keyboard.press('Enter')

    await page.getByRole('button', { name: 'Ada Lovelace' }).waitFor()
    const order = []
    for (let press = 0; press < 3; press++) {
      await page.keyboard.press('Tab')
      order.push(await focused(page))
    }
    expect(order).toEqual(['Ada Lovelace', 'Grace Hopper', 'Katherine Johnson'].map((name) => expect.stringContaining(name)))
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('status').filter({ hasText: 'Signed in as grace@acme.example.' }).waitFor()
    expect(person.troubles()).toEqual([])
  })

  test('is where the page at 127.0.0.1 leads: one name only, and a newcomer is told which', async () => {
    await using person = await profile()
    const page = await person.context.newPage()
    expect((await page.goto(`http://127.0.0.1:${running.port}/`))?.status()).toBe(421)
    const link = page.getByRole('link', { name: `Open ${running.issuer}` })
    expect(await link.evaluate((element) => getComputedStyle(element).display)).toBe('inline-block') // its style came along
    await link.click()
    await page.getByRole('link', { name: 'Sign in with the demo client' }).waitFor()
    expect(page.url()).toBe(`${running.issuer}/`)
    expect(person.troubles()).toEqual([])
  })
})

describe('the form of the sign-in page', () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`sends somebody ${javaScriptEnabled ? 'with' : 'without'} JavaScript to a client on another origin`, async () => {
      await using client = await loopbackServer()
      await using person = await profile({ javaScriptEnabled })
      const page = await person.context.newPage()
      await page.goto(authorization('native', `http://127.0.0.1:${client.port}/callback`))
      await page.getByRole('button', { name: 'Ada Lovelace' }).click()
      await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
      expect(await client.next()).toEqual({ method: 'GET', path: '/callback', parameters: anAnswer() })
      expect(person.troubles()).toEqual([])
    })
  }

  test('sends somebody to a client with a scheme of its own', async () => {
    await using person = await profile()
    const page = await person.context.newPage()
    await page.goto(authorization('demo', 'com.acme.demo:/callback'))
    // no program of this computer has the scheme, so that Chromium gives up: but only when it has got there
    const attempted = page.waitForEvent('requestfailed', (request) => request.url().startsWith('com.acme.demo:'))
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    const url = new URL((await attempted).url())
    expect(url.pathname).toBe('/callback')
    expect(Object.fromEntries(url.searchParams)).toEqual(anAnswer())
    expect(person.troubles()).toEqual([])
  })

  test('would be stopped by a policy without the client in it, and that would be seen here', async () => {
    for (const [clientId, redirectUri] of [
      ['demo', 'com.acme.demo:/callback'],
      ['native', 'http://127.0.0.1:49321/callback'],
    ] as const) {
      await using person = await profile()
      const page = await person.context.newPage()
      await page.goto(authorization(clientId, redirectUri))
      await page.route(page.url(), async (route) => {
        const answer = await route.fetch()
        const policy = answer.headers()['content-security-policy'] ?? ''
        const headers = { ...answer.headers(), 'content-security-policy': policy.replace(/form-action .*/, "form-action 'self'") }
        await route.fulfill({ response: answer, headers })
      })
      await page.reload()
      await page.getByRole('button', { name: 'Ada Lovelace' }).click()
      await expect.poll(() => person.troubles(), { timeout: 10_000 }).toEqual([expect.stringMatching(/form-action 'self'.*blocked/)])
    }
  })

  test('is refused when a page of another origin sends it, and the sign-in waits for its own page', async () => {
    await using client = await loopbackServer()
    await using person = await profile()
    const page = await person.context.newPage()
    await page.goto(authorization('native', `http://127.0.0.1:${client.port}/callback`))
    const auth = new URL(page.url()).searchParams.get('auth') ?? ''
    const form = `<form method="post" action="${running.issuer}/login/picker"><input name="auth" value="${auth}"><button name="person" value="${ADA}">Win a prize</button></form>`
    await using evil = await loopbackServer({ '/': form })

    const other = await person.context.newPage()
    for (const host of ['localhost', '127.0.0.1']) {
      // a port of localhost is the same site, so that Lax cookies come along, and only the origin differs
      await other.goto(`http://${host}:${evil.port}/`)
      const answered = other.waitForResponse(`${running.issuer}/login/picker`)
      await other.getByRole('button').click()
      expect((await answered).status()).toBe(403)
      await other.getByRole('heading', { name: 'That did not come from this site' }).waitFor()
    }
    await page.getByRole('button', { name: 'Grace Hopper' }).click()
    expect((await client.next()).parameters).toEqual(anAnswer())
    expect(person.troubles()).toEqual([])
  })

  test('completes a request once: a second tab is told that it was finished already', async () => {
    await using client = await loopbackServer()
    await using person = await profile()
    const [first, second] = [await person.context.newPage(), await person.context.newPage()]
    await first.goto(authorization('native', `http://127.0.0.1:${client.port}/callback`))
    await second.goto(first.url())
    await first.getByRole('button', { name: 'Ada Lovelace' }).click()
    await first.getByRole('heading', { name: 'Back at the client' }).waitFor()
    await second.getByRole('button', { name: 'Grace Hopper' }).click()
    await second.getByText('It was finished already, perhaps in another tab').waitFor()
    expect((await client.next()).parameters).toEqual(anAnswer())
    expect(person.troubles()).toEqual([])
  })
})

describe('response_mode=form_post', () => {
  for (const javaScriptEnabled of [true, false]) {
    test(`posts the answer to the client's server ${javaScriptEnabled ? 'by itself' : 'at the press of a button, without JavaScript'}`, async () => {
      await using client = await loopbackServer()
      await using person = await profile({ javaScriptEnabled })
      const page = await person.context.newPage()
      await page.goto(authorization('native', `http://127.0.0.1:${client.port}/callback`, { response_mode: 'form_post' }))
      await page.getByRole('button', { name: 'Ada Lovelace' }).click()
      if (!javaScriptEnabled) await page.getByRole('button', { name: 'Continue' }).click()
      const received = await client.next()
      expect(received).toEqual({ method: 'POST', path: '/callback', parameters: anAnswer() })
      met.add('code', received.parameters.code)
      await page.getByRole('heading', { name: 'Back at the client' }).waitFor()
      expect(person.troubles()).toEqual([])
    })
  }
})

describe('on a phone', () => {
  const pages: [string, string, (page: Page) => Promise<unknown>][] = [
    ['the start page', 'It is running', (page) => page.goto(running.issuer)],
    ['the sign-in page', 'Sign in', (page) => page.goto(authorization('demo', `${running.issuer}/demo`))],
    [
      'the demo client with its claims',
      'Demo client',
      async (page) => {
        await page.goto(`${running.issuer}/demo#start`)
        await page.getByRole('button', { name: 'Ada Lovelace' }).click()
        await page.getByRole('heading', { name: 'Userinfo' }).waitFor()
      },
    ],
    [
      'the demo client with an answer it did not ask for',
      'Demo client',
      async (page) => {
        await page.goto(`${running.issuer}/demo?code=somebodys&state=somebodys`)
        await page.getByRole('status').filter({ hasText: 'This tab did not start a sign-in' }).waitFor()
      },
    ],
    ['the page of an error', 'That request was not valid', (page) => page.goto(`${running.issuer}/authorize?client_id=nobody`)],
    ['the page of a request that is gone', 'This sign-in is not valid any more', (page) => page.goto(`${running.issuer}/login?auth=gone`)],
    ['the page of an address there is not', 'Nothing here', (page) => page.goto(`${running.issuer}/nowhere`)],
    ['the page at another name', 'Another address', (page) => page.goto(`http://127.0.0.1:${running.port}/demo`)],
    [
      'the page for who is not admitted',
      'You are signed in, but not for this',
      async (page) => {
        await page.goto(authorization('backend', 'http://localhost:3000/callback'))
        await page.getByRole('button', { name: 'Katherine Johnson' }).click()
      },
    ],
  ]

  test.each(pages)('%s has its headings, names and order, and fits', async (_name, heading, open) => {
    await using person = await profile({ viewport: { width: 360, height: 740 } })
    const page = await person.context.newPage()
    await open(page)
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor()
    expect(await accessibilityProblems(page)).toEqual([])
    expect(person.troubles()).toEqual([])
  })
})

test('nothing the service printed holds a code, token, cookie, secret, header or person', async () => {
  await using person = await profile()
  const page = await person.context.newPage()
  await page.goto(`${running.issuer}/demo#start`)
  await page.getByRole('button', { name: 'Ada Lovelace' }).click()
  await page.getByRole('heading', { name: 'Userinfo' }).waitFor()
  for (const { value } of await person.context.cookies()) met.add('cookie', value)
  await page.goto(`${running.issuer}/nowhere?code=slc_somebodys`)

  await expect.poll(() => running.output(), { timeout: 10_000 }).toMatch(/"route":"unmatched","status":404/)
  expect(running.output()).toMatch(/"route":"\/userinfo","status":200/)
  expect(met.leaksIn(running.output())).toEqual([])
})

/** A request of a public client: with PKCE, and parameters of its own. */
function authorization(clientId: string, redirectUri: string, more: Record<string, string> = {}): string {
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email',
    state: 'the state',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', // RFC 7636 appendix B
    code_challenge_method: 'S256',
    ...more,
  }
  return `${running.issuer}/authorize?${new URLSearchParams(parameters)}`
}

/** What every answer to it holds, and nothing beside. */
function anAnswer() {
  return { code: expect.stringMatching(/^slc_[\w-]{43}$/), state: 'the state', iss: running.issuer }
}

/** A table of the demo client, by name of the claim. */
async function claims(page: Page, title: string): Promise<Record<string, string>> {
  const section = page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) })
  return Object.fromEntries(
    await section.getByRole('row').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent))),
  )
}

/** What the keyboard is at, which must be outlined. */
async function focused(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement
    if (element === null || getComputedStyle(element).outlineStyle === 'none') return 'nothing to be seen'
    return element.textContent.trim()
  })
}
