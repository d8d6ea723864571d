import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import { ensureChromium } from '../../scripts/chromium.ts'
import type { SecretsMet } from './secrets-met.ts'

/** A person's Chromium, with a profile of its own that is empty. */
export interface Profile extends AsyncDisposable {
  context: BrowserContext
  /** Errors of the console and of scripts so far, CSP violations among them. Not: that a page answered with an error's status. */
  troubles(): string[]
}

export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: ensureChromium(),
    args: [
      '--no-sandbox', // root has none in a container
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

/** `await using` closes it also when the test fails. What the browser sends and is given goes into `met`. */
export async function newProfile(browser: Browser, met: SecretsMet, options: BrowserContextOptions = {}): Promise<Profile> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(20_000) // ms: on a machine that does much else
  const troubles: { text: string; url: string }[] = []
  const refused = new Set<string>()

  context.on('console', (message) => {
    if (message.type() === 'error') troubles.push({ text: message.text(), url: message.location().url })
  })
  context.on('weberror', (error) => troubles.push({ text: error.error().message, url: error.page()?.url() ?? '' }))
  context.on('request', (request) => {
    met.addAnswer(request.url(), [])
    met.add('access token', /^Bearer (.+)$/.exec(request.headers().authorization ?? '')?.[1])
  })
  context.on('response', (response) => {
    if (response.status() >= 400 && response.request().isNavigationRequest()) refused.add(response.url())
  })
  return {
    context,
    troubles: () =>
      troubles.filter(({ text, url }) => !(text.startsWith('Failed to load resource') && refused.has(url))).map(({ text }) => text),
    async [Symbol.asyncDispose]() {
      for (const { value } of await context.cookies()) met.add('cookie', value)
      await context.close()
    },
  }
}
