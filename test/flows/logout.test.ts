import { describe, expect, it } from 'vitest'
import { pageOf } from './answers.ts'
import { ADA, answerDevice, beginDevice, clientStore, GRACE, HOUR, poll, signInAt, tokensIn } from './clients.ts'
import { auditedBesideRefusals, claimsOf, contents, engines, startService, TestBrowser } from './harness.ts'
import { everything, none, type Outage, reads, records, startOnShakyStores, writes } from './shaky-stores.ts'
import { COOKIE, expectOver, FORGET, framesIn, HERE, isAlive, signedInWorld, withFrontChannel } from './sign-out-world.ts'

const CLEARED = expect.stringMatching(/^sluis_sso=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/)

function back(answer: Response): [number, string | null] {
  return [answer.status, answer.headers.get('location')]
}

describe.each(engines)('/logout on %s', (engine) => {
  it('asks first, and changes nothing by asking', async () => {
    const { browser, store, service, demo } = await signedInWorld(engine)
    const before = await contents(store)
    const html = await pageOf(await browser.get('/logout'), 200)
    expect(html).toContain(`You are signed in as <strong>${ADA}</strong>`)
    expect(html).toContain('<form method="post" action="/logout">')
    expect(await contents(store)).toEqual(before)
    expect(browser.cookies.has(COOKIE)).toBe(true)
    expect(await isAlive(service, demo)).toBe(true)
  })

  it('signs this browser out when its own form is sent, and no other browser', async () => {
    const world = await signedInWorld(engine)
    const answer = await world.browser.post('/logout', {})
    expect(back(answer)).toEqual([303, `${HERE}/signed-out`])
    expect(answer.headers.getSetCookie()).toEqual([CLEARED])
    await expectOver(world)
    expect(auditedBesideRefusals(world.service).at(-1)).toMatchObject({
      event: 'sessions.ended',
      subject: ADA,
      reason: 'sign_out',
      by: ADA,
      count: 2,
    })
    expect(Object.keys(await contents(world.store)).filter((key) => key.startsWith('logout-due.'))).toEqual([])
  })
})

describe('POST /logout', () => {
  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another host of this site', { 'sec-fetch-site': 'same-site' }],
    ['another site, in an old browser', { origin: 'https://evil.example' }],
    ['nowhere', {}],
  ])('from %s is refused with a page, and ends nothing', async (_where, headers) => {
    const { browser, store } = await signedInWorld()
    const before = await contents(store)
    const answer = await browser.post('/logout', {}, headers)
    expect(answer.headers.getSetCookie()).toEqual([])
    await pageOf(answer, 403)
    expect(await contents(store)).toEqual(before)
  })

  it('leaves devices signed in', async () => {
    const { service, browser } = await signedInWorld()
    const { device_code, user_code } = await beginDevice(service)
    await answerDevice(browser, user_code)
    const device = await tokensIn(await poll(service, device_code))
    await browser.post('/logout', {})
    expect(await isAlive(service, device)).toBe(true)
  })

  it('ends a sign-in that completes nothing silently any more, and what it opened', async () => {
    const world = await signedInWorld()
    world.store.clock.advance(13 * HOUR)
    await world.browser.post('/logout', {})
    const left = Object.keys(await contents(world.store)).filter((key) => /^(ses|sso)\./.test(key))
    expect(left).toHaveLength(2) // the other browser's
  })

  it('clears a cookie that stands for nothing any more', async () => {
    const { browser } = await signedInWorld()
    const cookie = browser.cookies.get(COOKIE) ?? ''
    await browser.post('/logout', {})
    for (const value of [cookie, 'nonsense']) {
      browser.cookies.set(COOKIE, value)
      const answer = await browser.post('/logout', {})
      expect(back(answer)).toEqual([303, `${HERE}/signed-out`])
      expect(answer.headers.getSetCookie()).toEqual([CLEARED])
    }
  })

  it('lands who has no cookie, and sets none', async () => {
    const service = startService(await clientStore('memory'))
    const answer = await new TestBrowser(service).post('/logout', {})
    expect(back(answer)).toEqual([303, `${HERE}/signed-out`])
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(service.audit.events).toEqual([])
  })

  it('loads what clients are to be told by in frames, of this browser only', async () => {
    const world = await signedInWorld('memory', withFrontChannel)
    const answer = await world.browser.post('/logout', {})
    expect(answer.headers.get('content-security-policy')).toContain('frame-src https://demo.acme.example;')
    const query = new URLSearchParams({ iss: HERE, sid: String(claimsOf(world.demo.id_token).sid) })
    expect(framesIn(await pageOf(answer, 200))).toEqual([`${FORGET}?${query}`])
    await expectOver(world)
  })

  it('sent twice at once signs out, and says so both times', async () => {
    const world = await signedInWorld()
    const answers = await Promise.all([world.browser.post('/logout', {}), world.browser.post('/logout', {})])
    for (const answer of answers) expect(back(answer)).toEqual([303, `${HERE}/signed-out`])
    await expectOver(world)
  })
})

describe('/account', () => {
  it.each([['Sign out of this browser'], ['End everything, here and everywhere']])('tells clients in frames too: %s', async (label) => {
    const { browser } = await signedInWorld('memory', withFrontChannel)
    const html = await pageOf(await browser.get('/account'), 200)
    const [, name = '', value = ''] = new RegExp(`name="([^"]+)" value="([^"]+)"[^>]*>${label}`).exec(html) ?? []
    const frames = framesIn(await pageOf(await browser.post('/account', { [name]: value }), 200))
    expect(frames).toEqual([expect.stringMatching(/^https:\/\/demo\.acme\.example\/forget\?iss=/)])
  })
})

describe('/signed-out', () => {
  it('says so, and reads nothing for who has no cookie', async () => {
    const { service, outage } = startOnShakyStores(await clientStore('memory'))
    outage.fails = everything
    const html = await pageOf(await new TestBrowser(service).get('/signed-out'), 200)
    expect(html).toContain('You are signed out')
  })

  it('does not say so to who is signed in', async () => {
    const { browser } = await signedInWorld()
    expect(back(await browser.get('/signed-out'))).toEqual([303, `${HERE}/account`])
  })
})

describe.each<[string, Outage['fails']]>([
  ['all of them', everything],
  ['reads', reads],
  ['writes', writes],
  ['records', records],
])('while the stores are away: %s', (_what, fails) => {
  it('a sign-out claims nothing, keeps the cookie, and works afterwards', async () => {
    const { service, outage } = startOnShakyStores(await clientStore('memory'))
    const browser = new TestBrowser(service)
    await signInAt(browser, '/account', GRACE)
    outage.fails = fails
    const answer = await browser.post('/logout', {})
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    expect(await pageOf(answer, 503)).toContain('temporarily_unavailable')
    outage.fails = none
    expect((await browser.get('/account')).status).toBe(200)
    expect(back(await browser.post('/logout', {}))).toEqual([303, `${HERE}/signed-out`])
    expect((await browser.get('/account')).status).toBe(303)
  })
})

describe('HEAD and odd methods', () => {
  it('of /logout end nothing', async () => {
    const { browser, store } = await signedInWorld()
    const before = await contents(store)
    expect((await browser.ask('HEAD', '/logout')).status).toBe(200)
    for (const method of ['PUT', 'DELETE', 'PATCH']) expect((await browser.ask(method, '/logout')).status).toBe(405)
    expect(await contents(store)).toEqual(before)
  })
})
