import { describe, expect, it } from 'vitest'
import { pageOf } from './answers.ts'
import { authorizeUrl, claimsOf, exchange, startService, TestBrowser, type Tokens } from './harness.ts'
import { ADA, codeOf, comeBack, refused, sent, starts, type UpstreamWorld, upstreamWorld } from './upstream-world.ts'

const world = await upstreamWorld()
const { service, okta, store } = world

async function tokensOf(answer: Response, at: UpstreamWorld = world): Promise<Tokens> {
  return (await exchange(at.service, codeOf(answer))).json()
}

describe('a sign-in at the company’s provider', () => {
  it('ends in a code of ours for the person of the address, proved when and how the provider says', async () => {
    const at = Math.floor(store.clock.now() / 1000) - 3_600
    const { browser, location } = await sent(world, { login_hint: 'ada@acme.example' })
    expect(Object.fromEntries(new URL(location).searchParams)).toMatchObject({ scope: 'openid email', login_hint: 'ada@acme.example' })
    const answer = await browser.get(
      okta.signIn(location, { email: 'Ada@ACME.example', email_verified: true, auth_time: at, amr: ['pwd', 'otp'] }),
    )
    const { id_token } = await tokensOf(answer)
    expect(claimsOf(id_token)).toMatchObject({
      sub: 'ada@acme.example',
      groups: ['app:demo:user'],
      acr: 'urn:sluis:acr:directory',
      amr: ['pwd', 'otp'],
      auth_time: at,
      nonce: 'the nonce',
    })
    expect(service.audit.events.find(({ event, subject }) => event === 'signin.completed' && subject === 'ada@acme.example')).toMatchObject(
      {
        how: 'okta',
        client: 'demo',
      },
    )
    expect(starts(browser)).toEqual([])
  })

  it('where the provider says neither when nor how: now, and nothing', async () => {
    const claims = claimsOf((await tokensOf(await comeBack(world, { ...ADA, amr: 'pwd' }))).id_token)
    expect(claims).toMatchObject({ auth_time: Math.floor(store.clock.now() / 1000) })
    expect(claims.amr).toBeUndefined()
  })

  it('leaves the browser signed in: the next client needs no provider', async () => {
    const { browser, location } = await sent(world)
    codeOf(await browser.get(okta.signIn(location, ADA)))
    codeOf(await browser.get(await authorizeUrl()))
  })

  it('with client_secret_post, where the provider takes that alone', async () => {
    const other = await upstreamWorld({ auth: 'client_secret_post' })
    codeOf(await comeBack(other))
  })

  it('asks for the scopes of the document too', async () => {
    const { location } = await sent(await upstreamWorld({ settings: { scopes: ['groups', 'email'] } }))
    expect(new URL(location).searchParams.get('scope')).toBe('openid email groups')
  })

  it('OIDC Core 5.4: reads userinfo where the ID token leaves the address out, and believes no other subject', async () => {
    okta.tell(ADA)
    expect(claimsOf((await tokensOf(await comeBack(world, {}))).id_token)).toMatchObject({ sub: ADA.email })
    okta.tell({ ...ADA, sub: 'u-2' })
    await refused(world, await comeBack(world, {}), 502, 'provider_garbage')
    okta.tell({ email: ADA.email })
    await refused(world, await comeBack(world, { email_verified: true }), 403, 'unverified_address') // of another address, that was
    okta.tell({})
    await refused(world, await comeBack(world, {}), 403, 'no_address')
  })

  it('may be of a person the directory does not list: refused there, and nothing has begun', async () => {
    const { browser, auth, location } = await sent(world)
    const html = await pageOf(await browser.get(okta.signIn(location, { email: 'nobody@acme.example', email_verified: true })), 403)
    expect(html).toContain('This account can’t sign in')
    expect(html).toContain(`href="/login/okta/start?auth=${auth}&amp;prompt=select_account"`)
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'signin.refused', subject: 'nobody@acme.example', how: 'okta' })
    expect(browser.cookies.has('sluis_sso')).toBe(false)
  })
})

describe('a start', () => {
  it('is for a request that waits in this browser, at a provider there is', async () => {
    const { auth } = await sent(world)
    await pageOf(await new TestBrowser(service).get(`/login/okta/start?auth=${auth}`), 400)
    await pageOf(await new TestBrowser(service).get('/login/okta/start'), 400)
    for (const path of ['/login/nobody/start', '/login/__proto__/start', '/login/okta%2f/start', '/login/nobody/callback'])
      await pageOf(await new TestBrowser(service).get(`${path}?auth=${auth}`), 404)
  })

  it('has a cookie of its own, sealed, so that two tabs do not disturb each other', async () => {
    const first = await sent(world)
    const second = await sent(world, { state: 'of the second tab' }, first.browser)
    expect(starts(first.browser)).toHaveLength(2)
    const answers = [await first.browser.get(okta.signIn(second.location, ADA)), await first.browser.get(okta.signIn(first.location, ADA))]
    expect(answers.map((answer) => new URL(answer.headers.get('location') ?? '').searchParams.get('state'))).toEqual([
      'of the second tab',
      'the state',
    ])
    expect(starts(first.browser)).toEqual([])
  })

  it('sets a cookie that no script sees and that is gone in ten minutes', async () => {
    const { browser, auth } = await sent(world)
    const [line = ''] = (await browser.get(`/login/okta/start?auth=${auth}`)).headers.getSetCookie()
    expect(line).toMatch(/^sluis_upstream_[\w-]{12}=[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    expect(line.length).toBeLessThan(600)
  })

  it('makes room for itself among ten: the oldest goes', async () => {
    const { browser, location: oldest } = await sent(world)
    const next = await sent(world, {}, browser)
    for (let tab = 0; tab < 9; tab++) await sent(world, {}, browser)
    expect(starts(browser)).toHaveLength(10)
    await refused(world, await browser.get(okta.signIn(oldest, ADA)), 400, 'not_started_here')
    codeOf(await browser.get(okta.signIn(next.location, ADA)))
  })

  it('is good at another isolate too: all it holds is in the cookie', async () => {
    const { browser, location } = await sent(world)
    const elsewhere = new TestBrowser(startService(store, undefined, okta.fetch))
    for (const [name, value] of browser.cookies) elsewhere.cookies.set(name, value)
    codeOf(await elsewhere.get(okta.signIn(location, ADA)))
  })
})

describe('an answer', () => {
  it('counts once', async () => {
    const { browser, location } = await sent(world)
    const callback = okta.signIn(location, ADA)
    const kept = new Map(browser.cookies)
    codeOf(await browser.get(callback))
    await refused(world, await browser.get(callback), 400, 'not_started_here')
    for (const [name, value] of kept) browser.cookies.set(name, value) // a browser that keeps what it was told to forget
    expect(await pageOf(await browser.get(callback), 400)).toContain('not valid any more')
  })

  it('whose code the provider has seen before is refused, with a way to try again', async () => {
    const { browser, auth, location } = await sent(world)
    const callback = okta.signIn(location, ADA)
    const kept = [...browser.cookies]
    okta.bend({ claims: { nonce: 'another' } })
    await refused(world, await browser.get(callback), 400, 'id_token_nonce')
    okta.bend({})
    for (const [name, value] of kept) browser.cookies.set(name, value)
    expect(await refused(world, await browser.get(callback), 400, 'code_refused')).toContain(`href="/login/okta/start?auth=${auth}"`)
    const again = await browser.get(`/login/okta/start?auth=${auth}`)
    codeOf(await browser.get(okta.signIn(again.headers.get('location') ?? '', ADA)))
  })

  it('brought by another browser counts for nothing, with the start’s cookie or without', async () => {
    const { browser, location } = await sent(world)
    const victim = (await sent(world)).browser
    const callback = okta.signIn(location, { email: 'grace@acme.example', email_verified: true })
    const before = okta.asked.length
    await refused(world, await victim.get(callback), 400, 'not_started_here')
    const [name = ''] = starts(browser)
    victim.cookies.set(name, browser.cookies.get(name) ?? '')
    await refused(world, await victim.get(callback), 400, 'not_started_here')
    expect(okta.asked.slice(before)).toEqual([])
    expect(victim.cookies.has('sluis_sso')).toBe(false)
  })

  it('after ten minutes is refused, though the cookie is still there', async () => {
    const { browser, location } = await sent(world)
    const callback = okta.signIn(location, ADA)
    store.clock.advance(600)
    const html = await refused(world, await browser.get(callback), 400, 'start_expired')
    expect(html).toContain('Try again')
    store.clock.advance(-600)
  })

  it('after the request has gone is told that, and nothing is asked of the provider', async () => {
    const { browser, location, auth } = await sent(world)
    const callback = okta.signIn(location, ADA)
    await store.adapters().state.delete(`req.a-${auth}`)
    const before = okta.asked.length
    await pageOf(await browser.get(callback), 400)
    expect(okta.asked.length).toBe(before)
  })

  it('to one provider counts at no other', async () => {
    const { browser, location } = await sent(world)
    await refused(world, await browser.get(okta.signIn(location, ADA).replace('/login/okta/', '/login/other/')), 400, 'not_started_here')
  })

  it.each([
    ['another state', (callback: string) => callback.replace(/state=../, 'state=AA')],
    ['a state that begins alike', (callback: string) => callback.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'))],
    ['no state', (callback: string) => callback.replace(/&state=[^&]*/, '')],
    ['a garbage state', (callback: string) => callback.replace(/state=[^&]*/, 'state=%F0%9F%98%80')],
  ])('with %s belongs to nobody', async (_what, change) => {
    const { browser, location } = await sent(world)
    await refused(world, await browser.get(change(okta.signIn(location, ADA))), 400, 'not_started_here')
  })

  it('of a start that was tampered with belongs to nobody', async () => {
    const { browser, location } = await sent(world)
    const [name = ''] = starts(browser)
    const value = browser.cookies.get(name) ?? ''
    browser.cookies.set(name, (value.startsWith('A') ? 'B' : 'A') + value.slice(1))
    await refused(world, await browser.get(okta.signIn(location, ADA)), 400, 'not_started_here')
  })

  it('RFC 9207: of another issuer, or of none where the provider says that it names itself, is refused before its code is used', async () => {
    for (const change of [{ iss: 'https://evil.example' }, { iss: '' }]) {
      const { browser, location } = await sent(world)
      const before = okta.asked.length
      await refused(world, await browser.get(okta.signIn(location, ADA, change)), 400, 'other_issuer')
      expect(okta.asked.slice(before)).toEqual([])
    }
  })

  it.each([
    ['access_denied', 400, 'cancelled'],
    ['temporarily_unavailable', 502, 'provider_error'],
    ['invalid_scope', 502, 'provider_error'],
    ['<script>', 502, 'provider_error'],
  ])('that is the error %s says so, in words of ours', async (error, status, reason) => {
    const { browser, auth, location } = await sent(world)
    const html = await refused(world, await browser.get(okta.refuse(location, error)), status, reason)
    expect(html).toContain(`/login/okta/start?auth=${auth}`)
    expect(html).toContain('Acme &lt;Okta&gt;')
    expect(html).not.toContain('nobody')
    expect(starts(browser)).toEqual([])
  })

  it('without a code and without an error is refused', async () => {
    const { browser, location } = await sent(world)
    const callback = okta.signIn(location, ADA).replace(/code=[^&]*&/, '')
    await refused(world, await browser.get(callback), 502, 'provider_garbage')
  })
})
