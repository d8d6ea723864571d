import { describe, expect, it } from 'vitest'
import { waitingRequest } from '../crash/arrange.ts'
import { authorizeUrl, signIn, startService, TestBrowser, testStore } from './harness.ts'

const RECOVERY = 'urn:sluis:acr:recovery'
const DIRECTORY = 'urn:sluis:acr:directory'

const needing = (...values: string[]) => ({ claims: JSON.stringify({ id_token: { acr: { essential: true, values } } }) })

const service = startService(testStore('memory'))

describe('OpenID Connect Core 5.5.1.1: an essential acr', () => {
  it('that another kind of sign-in has is not met by this one: the client is told so, and no code is given', async () => {
    const browser = new TestBrowser(service)
    const auth = await waitingRequest(browser, needing(RECOVERY))
    const answer = await browser.post('/login/picker', { auth, person: 'ada@acme.example' })
    const location = new URL(answer.headers.get('location') ?? '')
    expect(location.searchParams.get('error')).toBe('unmet_authentication_requirements')
    expect(location.searchParams.get('code')).toBeNull()
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'signin.refused', subject: 'ada@acme.example' })
  })

  it('is not met silently by a standing sign-in of another acr either: somebody has to sign in', async () => {
    const browser = new TestBrowser(service)
    await signIn(browser)
    const silent = await browser.get(await authorizeUrl(needing(DIRECTORY)))
    expect(silent.headers.get('location')).toContain('code=')
    const asked = await browser.get(await authorizeUrl(needing(RECOVERY)))
    expect(asked.headers.get('location')).toContain('/login?auth=')
    const none = await browser.get(await authorizeUrl({ ...needing(RECOVERY), prompt: 'none' }))
    expect(none.headers.get('location')).toContain('error=login_required')
  })

  it('of several is met by any of them', async () => {
    const redirect = await signIn(new TestBrowser(service), needing(RECOVERY, DIRECTORY))
    expect(redirect.searchParams.get('code')).toMatch(/^slc_/)
  })
})

describe('what discovery lists', () => {
  const listed = async (recovery: boolean) => {
    const store = testStore('memory', {
      edit({ service: document }) {
        if (!recovery) delete document.recovery
      },
    })
    const answer = await startService(store).fetch('/.well-known/openid-configuration')
    return (await answer.json<{ acr_values_supported: string[] }>()).acr_values_supported
  }

  it('is what a sign-in here can reach', async () => {
    expect(await listed(true)).toEqual([DIRECTORY, RECOVERY])
    expect(await listed(false)).toEqual([DIRECTORY])
  })
})
