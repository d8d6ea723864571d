import { describe, expect, it } from 'vitest'
import { elementsOf, errorOf, pageOf } from './answers.ts'
import { ADA, answerDevice, beginDevice, finishSignIn, GRACE, KATHERINE, poll, startClients, tokensIn } from './clients.ts'
import { claimsOf, contents, redeployed, signIn, startService, TestBrowser, type TestService, type TestStore } from './harness.ts'
import { allowing, limit } from './limits.ts'

const NOBODY_WAITS = 'No device waits under that code'

async function signedInBrowser(service: TestService, person = ADA): Promise<TestBrowser> {
  const browser = new TestBrowser(service)
  await signIn(browser, {}, person)
  return browser
}

async function waiting() {
  const { service, store } = await startClients('memory')
  const codes = await beginDevice(service, { scope: 'openid profile email offline_access' })
  return { service, store, ...codes, browser: await signedInBrowser(service) }
}

/** What the page's form would send. */
async function formOf(html: string): Promise<Record<string, string>> {
  const inputs = (await elementsOf(html)).filter(({ tag }) => tag === 'input')
  return Object.fromEntries(inputs.map(({ attributes }) => [attributes.name ?? '', attributes.value ?? '']))
}

async function expectPending(service: TestService, device_code: string): Promise<void> {
  expect(await errorOf(await poll(service, device_code), 400)).toMatchObject({ error: 'authorization_pending' })
}

async function expectNothingChanged(store: TestStore, ask: () => Promise<Response>): Promise<Response> {
  const before = await contents(store)
  const answer = await ask()
  expect(await contents(store)).toEqual(before)
  return answer
}

describe('RFC 8628 6.1: a code that is typed', () => {
  it.each<[string, (shown: string) => string]>([
    ['as it is shown', (shown) => shown],
    ['in lower case', (shown) => shown.toLowerCase()],
    ['without the dash', (shown) => shown.replace('-', '')],
    ['with spaces', (shown) => ` ${shown.replace('-', ' - ')} `],
    ['with a space for the dash', (shown) => shown.replace('-', ' ').toLowerCase()],
    ['with another dash', (shown) => shown.replace('-', '–')],
  ])('%s finds its device', async (_how, typed) => {
    const { browser, user_code } = await waiting()
    const html = await pageOf(await browser.post('/device', { user_code: typed(user_code) }), 200)
    expect(html).toContain('Allow this device?')
    expect(html).toContain(user_code)
  })

  it.each<[string, (world: Awaited<ReturnType<typeof waiting>>) => string | Promise<string>]>([
    ['nobody has', () => 'BBBB-BBBB'],
    ['is none', () => 'hello'],
    ['is a device code', ({ device_code }) => device_code],
    ['was allowed', ({ service, user_code }) => answered(service, user_code, 'allow')],
    ['was denied', ({ service, user_code }) => answered(service, user_code, 'deny')],
    [
      'was redeemed',
      async ({ service, user_code, device_code }) => {
        await answered(service, user_code, 'allow')
        await tokensIn(await poll(service, device_code))
        return user_code
      },
    ],
    [
      'has expired',
      ({ store, user_code }) => {
        store.clock.advance(600)
        return user_code
      },
    ],
  ])('%s is answered alike to whoever has signed in, and may be typed again', async (_what, typed) => {
    const world = await waiting()
    const user_code = await typed(world)
    const browser = await signedInBrowser(world.service, GRACE)
    for (const form of [{ user_code }, { user_code, action: 'allow' }, { user_code, action: 'deny' }]) {
      const html = await pageOf(await expectNothingChanged(world.store, () => browser.post('/device', form)), 400)
      expect(html).toContain(NOBODY_WAITS)
      expect((await formOf(html)).user_code?.replace('-', '')).toBe(user_code.slice(0, 16).replace('-', ''))
    }
  })

  it('tells who has not signed in nothing: one that waits and one that nobody has are both answered by a sign-in', async () => {
    const { service, user_code } = await waiting()
    for (const code of [user_code, 'BBBB-BBBB']) {
      for (const form of [{ user_code: code }, { user_code: code, action: 'allow' }]) {
        const answer = await new TestBrowser(service).post('/device', form)
        expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringMatching(/^\/login\?auth=/)])
      }
    }
  })

  it('is never markup', async () => {
    const { service } = await waiting()
    const typed = '"><script>alert'
    const shown = await pageOf(await new TestBrowser(service).post('/device', { user_code: typed }), 400)
    const filled = await pageOf(await new TestBrowser(service).get(`/device?user_code=${encodeURIComponent(typed)}`), 200)
    for (const html of [shown, filled]) {
      expect((await elementsOf(html)).some(({ tag }) => tag === 'script')).toBe(false)
      expect(html).not.toContain(typed)
    }
  })
})

describe('RFC 8628 3.3.1: a link that holds the code', () => {
  it('fills it in for somebody who has to sign in, and counts nothing', async () => {
    const { service, verification_uri_complete, user_code, store } = await waiting()
    const html = await pageOf(await expectNothingChanged(store, () => new TestBrowser(service).get(verification_uri_complete)), 200)
    expect(await formOf(html)).toEqual({ user_code })
    expect(html).not.toContain('A program on this computer')
  })

  it('shows what it is for to somebody who has just signed in', async () => {
    const { browser, verification_uri_complete } = await waiting()
    expect(await pageOf(await browser.get(verification_uri_complete), 200)).toContain('Allow this device?')
  })

  it('never allows: not by itself, not with an answer in it, not twice', async () => {
    const { service, store, browser, device_code, user_code, verification_uri_complete } = await waiting()
    for (const more of ['', '&action=allow', '&action=allow&person=ada%40acme.example', '']) {
      await expectNothingChanged(store, () => browser.get(verification_uri_complete + more))
    }
    await expectNothingChanged(store, () => service.fetch(`/device?user_code=${user_code}&action=allow`, { method: 'HEAD' }))
    await expectPending(service, device_code)
  })
})

describe('the page that asks', () => {
  it('says who asks, for whom, from where and what for, and to go on only with what one started', async () => {
    const { browser, user_code } = await waiting()
    const html = await pageOf(await browser.post('/device', { user_code }), 200)
    for (const said of [
      'A program on this computer',
      ADA,
      user_code,
      'a place we don’t know',
      'your name',
      'your address',
      'to stay signed in',
      'Only go on if you started this yourself',
    ]) {
      expect(html).toContain(said)
    }
  })

  it.each([
    ['DE', 'Germany'],
    ['T1', 'the Tor network'],
    ['XX', 'a place we don’t know'],
    ['11', 'a place we don’t know'],
    ['Germany', 'a place we don’t know'],
    [undefined, 'a place we don’t know'],
  ])('names the country that the platform saw the device in: %s is %s', async (country, shown) => {
    const { service } = await startClients('memory')
    const request = new Request('http://localhost:8787/device_authorization', {
      method: 'POST',
      body: new URLSearchParams({ client_id: 'native' }),
      cf: { country },
    } as RequestInit)
    const { user_code } = await (await service.fetch(request)).json<{ user_code: string }>()
    expect(await pageOf(await (await signedInBrowser(service)).post('/device', { user_code }), 200)).toContain(shown)
  })

  it('can be framed by nobody, sends its form here, and is not kept', async () => {
    const { service, browser, user_code } = await waiting()
    for (const answer of [await browser.post('/device', { user_code }), await new TestBrowser(service).get('/device')]) {
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-security-policy': expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'; form-action 'self'$/),
        'cache-control': 'no-store',
        'x-frame-options': 'DENY',
        'referrer-policy': 'same-origin',
      })
      expect((await elementsOf(await answer.text())).filter(({ tag }) => tag === 'script')).toEqual([])
    }
  })
})

describe('an answer', () => {
  it.each(['allow', 'deny'] as const)('that says %s is taken from who signed in within five minutes, and then no more', async (action) => {
    const { service, store, device_code, user_code, browser } = await waiting()
    store.clock.advance(300)
    const sent = await browser.post('/device', { user_code, action })
    const login = sent.headers.get('location') ?? ''
    expect([sent.status, login]).toEqual([303, expect.stringMatching(/^\/login\?auth=/)])
    await expectPending(service, device_code)
    const back = await finishSignIn(browser, login)
    expect(back).toBe(`http://localhost:8787/device?user_code=${user_code.replace('-', '')}`)
    expect(await pageOf(await browser.get(back), 200)).toContain('Allow this device?')
    await expectPending(service, device_code)
    store.clock.advance(299)
    await pageOf(await browser.post('/device', { user_code, action }), 200)
    expect((await poll(service, device_code)).status).toBe(action === 'allow' ? 200 : 400)
  })

  it('is not taken from somebody who has not signed in', async () => {
    const { service, device_code, user_code } = await waiting()
    expect((await new TestBrowser(service).post('/device', { user_code, action: 'allow' })).status).toBe(303)
    await expectPending(service, device_code)
  })

  it.each<[string, Record<string, string>]>([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['another host of this site', { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' }],
    ['another site, in an old browser', { origin: 'https://evil.example' }],
    ['nowhere', {}],
    ['the address bar', { 'sec-fetch-site': 'none' }],
  ])('that comes from %s is refused, and nothing is allowed', async (_where, headers) => {
    const { service, store, browser, device_code, user_code } = await waiting()
    for (const form of [{ user_code }, { user_code, action: 'allow' }]) {
      const answer = await expectNothingChanged(store, () => browser.post('/device', form, headers))
      await pageOf(answer, 403)
    }
    await expectPending(service, device_code)
  })

  it.each([
    ['allow', 'deny', 200],
    ['deny', 'allow', 400],
    ['allow', 'allow', 200],
  ] as const)('counts once: %s, then %s', async (first, second, status) => {
    const { service, store, browser, device_code, user_code } = await waiting()
    await pageOf(await browser.post('/device', { user_code, action: first }), 200)
    const again = await expectNothingChanged(store, () => browser.post('/device', { user_code, action: second }))
    if (first === second) expect(await pageOf(again, 200)).toContain('Your device is signed in')
    else expect(await pageOf(again, 400)).toContain(NOBODY_WAITS)
    expect((await poll(service, device_code)).status).toBe(status)
  })

  it('of a second person does not change that of the first', async () => {
    const { service, browser, device_code, user_code } = await waiting()
    await browser.post('/device', { user_code, action: 'allow' })
    await pageOf(await (await signedInBrowser(service, GRACE)).post('/device', { user_code, action: 'allow' }), 400)
    expect(claimsOf((await tokensIn(await poll(service, device_code))).id_token).sub).toBe(ADA)
  })

  it('is for the person the page named: where another has signed in since, the page is shown to them', async () => {
    const { service, browser, device_code, user_code } = await waiting()
    const form = await formOf(await pageOf(await browser.post('/device', { user_code }), 200))
    await signIn(browser, {}, GRACE) // in another tab
    const html = await pageOf(await browser.post('/device', { ...form, action: 'allow' }), 200)
    expect(html).toContain('Allow this device?')
    expect(html).toContain(GRACE)
    await expectPending(service, device_code)
    await browser.post('/device', { ...(await formOf(html)), action: 'allow' })
    expect(claimsOf((await tokensIn(await poll(service, device_code))).id_token).sub).toBe(GRACE)
  })

  it('of somebody the client does not admit is refused; the device waits for somebody else', async () => {
    const { service, store } = await startClients('memory', ({ policy }) =>
      Object.assign(policy.clients.native ?? {}, { requires: ['app:backend:user'] }),
    )
    const { device_code, user_code } = await beginDevice(service)
    const katherine = await signedInBrowser(service, KATHERINE)
    const answer = await expectNothingChanged(store, () => katherine.post('/device', { user_code, action: 'allow' }))
    const html = await pageOf(answer, 403)
    expect(html).toContain(KATHERINE)
    expect(html).not.toMatch(/app:|emp:|engineering/)
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'device.refused', subject: KATHERINE, client: 'native' })
    await pageOf(await (await signedInBrowser(service)).post('/device', { user_code, action: 'allow' }), 200)
    expect((await poll(service, device_code)).status).toBe(200)
  })

  it.each<[string, (documents: TestStore['documents']) => void, number]>([
    ['the directory has suspended the person', suspendAll, 403],
    ['the client is gone', ({ policy }) => void delete policy.clients.native, 400],
  ])('where %s is refused', async (_what, edit, status) => {
    const { store, browser, user_code } = await waiting()
    const tab = new TestBrowser(startService(redeployed(store, edit)))
    for (const [name, value] of browser.cookies) tab.cookies.set(name, value)
    await pageOf(await expectNothingChanged(store, () => tab.post('/device', { user_code, action: 'allow' })), status)
  })

  it.each<[string, Record<string, string>]>([
    ['no code', {}],
    ['an empty code', { user_code: '' }],
    ['an answer there is not', { action: 'maybe' }],
    ['an answer in upper case', { action: 'ALLOW' }],
  ])('with %s is refused', async (_what, changes) => {
    const { store, browser, user_code } = await waiting()
    const form: Record<string, string> = Object.keys(changes).includes('action') ? { user_code, ...changes } : changes
    await pageOf(await expectNothingChanged(store, () => browser.post('/device', form)), 400)
  })

  it('is audited', async () => {
    const { service, browser, user_code } = await waiting()
    await browser.post('/device', { user_code, action: 'allow' })
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'device.allowed', subject: ADA, client: 'native' })
  })
})

describe('RFC 8628 5.1: guessing', () => {
  it('is limited by address, by form and by link, whatever is guessed', async () => {
    const { service, store, browser, user_code, device_code } = await waiting()
    const binding = allowing(5)
    limit(service, 'userCode', binding)
    const other = await signedInBrowser(service, GRACE)
    for (const guess of ['BBBB-BBBB', 'CCCC-CCCC', 'FFFF-FFFF']) await pageOf(await other.post('/device', { user_code: guess }), 400)
    await pageOf(await browser.get(`/device?user_code=${user_code}`), 200)
    const shown = await formOf(await pageOf(await browser.post('/device', { user_code }), 200))
    for (const ask of [
      () => other.post('/device', { user_code: 'DDDD-DDDD' }),
      () => browser.post('/device', { user_code, action: 'allow' }),
      () => browser.get(`/device?user_code=${user_code}`),
    ]) {
      const answer = await expectNothingChanged(store, ask)
      expect(answer.headers.get('retry-after')).toBe('60')
      expect(await pageOf(answer, 429)).toContain('Too many attempts')
    }
    expect(new Set(binding.keys)).toEqual(new Set(['unknown']))
    await pageOf(await other.get('/device'), 200)
    // what the page showed is no guess any more
    await pageOf(await browser.post('/device', { ...shown, action: 'allow' }), 200)
    expect((await poll(service, device_code)).status).toBe(200)
  })

  it('an approval costs one look from the typed code to the end', async () => {
    const { service, browser, user_code } = await waiting()
    const binding = allowing(1)
    limit(service, 'userCode', binding)
    const shown = await formOf(await pageOf(await browser.post('/device', { user_code }), 200))
    await pageOf(await browser.post('/device', { ...shown, action: 'allow' }), 200)
  })

  it('a request shown for one code does not answer for another', async () => {
    const { service, browser, user_code, device_code } = await waiting()
    const shown = await formOf(await pageOf(await browser.post('/device', { user_code }), 200))
    await pageOf(await browser.post('/device', { ...shown, user_code: 'BBBB-BBBB', action: 'allow' }), 400)
    await pageOf(await browser.post('/device', { ...shown, request: 'f'.repeat(64), action: 'allow' }), 400)
    await expectPending(service, device_code)
  })

  it('from one address leaves the others alone', async () => {
    const { service, browser } = await waiting()
    const binding = allowing(1)
    limit(service, 'userCode', binding)
    const from = (address: string) =>
      browser.post('/device', { user_code: 'BBBB-BBBB' }, { 'cf-connecting-ip': address, 'sec-fetch-site': 'same-origin' })
    expect([(await from('192.0.2.1')).status, (await from('192.0.2.1')).status, (await from('192.0.2.2')).status]).toEqual([400, 429, 400])
    expect([(await from('2001:db8::1')).status, (await from('2001:db8::2')).status, (await from('2001:db8:0:1::1')).status]).toEqual([
      400, 429, 400,
    ])
    expect(binding.keys).toEqual(['192.0.2.1', '192.0.2.1', '192.0.2.2', '2001:db8:0:0', '2001:db8:0:0', '2001:db8:0:1'])
  })
})

async function answered(service: TestService, user_code: string, action: 'allow' | 'deny'): Promise<string> {
  await answerDevice(await signedInBrowser(service), user_code, action)
  return user_code
}

function suspendAll({ service }: TestStore['documents']): void {
  for (const person of service.directory.people) person.suspended = true
}
