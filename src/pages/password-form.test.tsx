import { describe, expect, it } from 'vitest'
import { Document } from './layout.tsx'
import { signInPage } from './sign-in.tsx'

const ADA = { email: 'ada@acme.example', name: 'Ada Lovelace' }
const okta = { name: 'Okta', start: '/login/okta/start?auth=r1' }
const request = { auth: 'r1', client: { name: 'Payroll' }, redirectUri: 'https://payroll.acme.example/cb', people: undefined }

async function rendered(ways: Partial<Parameters<typeof signInPage>[0]>): Promise<string> {
  const page = signInPage({ ...request, providers: [], accounts: [], ...ways })
  return String(await (<Document site={{ name: 'Acme', issuer: 'https://id.acme.example' }} page={page} requestId={undefined} />))
}

describe('the password form', () => {
  it('has no address, no names and a button that waits: without its script nothing of it can be sent', async () => {
    for (const accounts of [['recovery'], ['recovery', 'conformance']]) {
      const [form = ''] = /<form data-srp="r1">.*?<\/form>/.exec(await rendered({ accounts })) ?? []
      expect(form).toContain('type="password"')
      expect(form).not.toMatch(/ (?:name|action|method|formaction)=/)
      expect(form.match(/<button[^>]*>/g)).toEqual([expect.stringContaining(' disabled')])
      expect(form).toMatch(/<noscript>.*needs JavaScript.*<\/noscript>/)
    }
  })

  it('is of one account, or asks which', async () => {
    expect(await rendered({ accounts: ['recovery'] })).toMatch(/<input type="text" id="account" value="recovery".*Recovery password/)
    const both = await rendered({ accounts: ['recovery', 'conformance'] })
    expect([...both.matchAll(/<option value="(\w+)"/g)].map(([, account]) => account)).toEqual(['recovery', 'conformance'])
  })

  it('is folded away behind other ways in, and open where it is the only one', async () => {
    expect(await rendered({ accounts: ['recovery'], people: [ADA] })).toMatch(/<details><summary>Sign in with the recovery password/)
    expect(await rendered({ accounts: ['recovery'], providers: [okta] })).toContain('<details>')
    expect(await rendered({ accounts: ['recovery'] })).not.toContain('<details>')
  })

  it('brings its script, and a page without it none', async () => {
    expect(await rendered({ accounts: ['recovery'] })).toContain('/assets/password.js')
    expect(await rendered({ providers: [okta] })).not.toContain('<script')
  })
})

describe('the providers', () => {
  it('are links, before everything else, and without a picker nothing is said of development', async () => {
    const html = await rendered({ providers: [okta, { name: 'Google', start: '/login/google/start?auth=r1' }], accounts: ['recovery'] })
    const links = [...html.matchAll(/<a class="primary" href="([^"]+)">([^<]+)</g)].map(([, href, text]) => [href, text])
    expect(links).toEqual([
      ['/login/okta/start?auth=r1', 'Sign in with Okta'],
      ['/login/google/start?auth=r1', 'Sign in with Google'],
    ])
    expect(html.indexOf('Sign in with Okta')).toBeLessThan(html.indexOf('<details>'))
    expect(html).not.toContain('development')
  })

  it('no way in at all is said so', async () => {
    expect(await rendered({})).toContain('Nobody can sign in here yet')
  })
})
