import { describe, expect, it } from 'vitest'
import { pageOf } from './answers.ts'
import { authorizeUrl, redeployed, startService, TestBrowser, type TestService } from './harness.ts'
import { upstreamWorld } from './upstream-world.ts'

const { store, okta, service: several } = await upstreamWorld()

/** As many providers as are named, and no other way in. */
function withOnly(...ids: string[]): TestService {
  const only = redeployed(store, ({ service }) => {
    const kept = Object.entries(service.signin.providers).filter(([id]) => ids.includes(id))
    Object.assign(service.signin, { picker: false, providers: Object.fromEntries(kept) })
    delete service.recovery
  })
  return startService(only, undefined, okta.fetch)
}

/** The page a request is sent to, as its browser has it. */
async function chooser(service: TestService, changes: Record<string, string> = {}) {
  const browser = new TestBrowser(service)
  const login = (await browser.get(await authorizeUrl(changes))).headers.get('location') ?? ''
  return { browser, login, answer: await browser.get(login) }
}

describe('the ways to sign in', () => {
  it('are shown with the application they are for and where it returns, each provider with its own start', async () => {
    const { answer, login } = await chooser(several)
    const html = await pageOf(answer, 200)
    const auth = new URL(login, several.url).searchParams.get('auth')
    expect(html).toContain('The demo')
    expect(html).toContain('You will go back to <span class="where">a program on this computer</span>')
    for (const id of ['okta', 'other']) expect(html).toContain(`href="/login/${id}/start?auth=${auth}"`)
    expect(html).toContain('Acme &lt;Okta&gt;')
    expect(html).not.toContain('Acme <Okta>')
  })

  it('are chosen from where there are two providers and nothing else', async () => {
    expect(await pageOf((await chooser(withOnly('okta', 'other'))).answer, 200)).toContain('/login/other/start')
  })

  it('are not shown where there is but one: the browser goes straight on to it', async () => {
    const { browser, login, answer } = await chooser(withOnly('okta'))
    const auth = new URL(login, several.url).searchParams.get('auth')
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/login/okta/start?auth=${auth}`])
    const started = await browser.get(answer.headers.get('location') ?? '')
    expect(started.headers.get('location')).toMatch(/^https:\/\/acme\.okta\.example\/authorize\?/)
  })

  it('are shown all the same for consent, and for a page of ours', async () => {
    const one = withOnly('okta')
    expect(await pageOf((await chooser(one, { prompt: 'consent' })).answer, 200)).toContain('The demo')
    const browser = new TestBrowser(one)
    const login = (await browser.get('/account')).headers.get('location') ?? ''
    expect(await pageOf(await browser.get(login), 200)).toContain('/login/okta/start')
  })

  it('are of the browser the request began in: another is told that it has gone, and is sent nowhere', async () => {
    const { login } = await chooser(withOnly('okta'))
    await pageOf(await new TestBrowser(withOnly('okta')).get(login), 400)
  })
})
