import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { rfc5054of2048 } from '../../src/crypto/srp/group.ts'
import { toBytes } from '../../src/crypto/srp/numbers.ts'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import { authorizeUrl, claimsOf, contents, exchange, type TestBrowser, type Tokens } from './harness.ts'
import { CONFORMANCE, passwordStore, RECOVERY, salts, startPasswordService, waiting } from './password-service.ts'
import { proved, type Started, srpClient, started } from './srp-client.ts'

const store = passwordStore()
const service = await startPasswordService(store)

const recovery = (auth: string, x = RECOVERY) => ({ auth, account: 'recovery', x })

async function answerStart(browser: TestBrowser, form: Record<string, string>): Promise<Started> {
  const answer = await browser.post('/login/recovery/start', form)
  expect(answer.status).toBe(200)
  return answer.json()
}

describe('the right password', () => {
  it.each([
    ['recovery', RECOVERY, 'urn:sluis:acr:recovery'],
    ['conformance', CONFORMANCE, 'urn:sluis:acr:directory'],
  ])('signs %s in, as a person of that name', async (account, x, acr) => {
    const { browser, auth } = await waiting(service)
    const proof = await proved(browser, { auth, account, x })
    const { parameters } = await clientAnswer(await browser.post('/login/recovery/complete', { auth, proof }))
    const tokens: Tokens = await (await exchange(service, parameters.code ?? '')).json()
    expect(claimsOf(tokens.id_token)).toMatchObject({ sub: account, acr, amr: ['pwd'] })
    expect([...browser.cookies.keys()]).toContain('sluis_sso')
  })

  it.each(['query', 'fragment', 'form_post'])('is answered in response mode %s like any other sign-in', async (response_mode) => {
    const { browser, auth } = await waiting(service, { response_mode })
    const proof = await proved(browser, recovery(auth))
    const answer = await clientAnswer(await browser.post('/login/recovery/complete', { auth, proof }))
    expect(answer).toMatchObject({ mode: response_mode, to: 'http://localhost:8787/demo', parameters: { state: 'the state' } })
  })

  it('begins nothing before the browser has seen what the issuer proves in return', async () => {
    const { browser, auth } = await waiting(service)
    const { handle, M1 } = await started(browser, recovery(auth))
    const before = await contents(store)
    const answer = await browser.post('/login/recovery/finish', { handle, M1 })
    expect(answer.headers.getSetCookie()).toEqual([])
    const { [`srp.${handle}`]: _, ...others } = before
    expect(await contents(store)).toEqual(others)
  })

  it('proves the issuer too, by something that is no proof of the password', async () => {
    const { browser, auth } = await waiting(service)
    const { handle, M1, M2 } = await started(browser, recovery(auth))
    const body = await (await browser.post('/login/recovery/finish', { handle, M1 })).json()
    expect(body).toEqual({ M2, proof: expect.stringMatching(/^[\w-]{100,}$/) })
    expect(M2).not.toBe(M1)
  })

  it('is in the audit, before it is let in', async () => {
    const { browser, auth } = await waiting(service)
    const proof = await proved(browser, recovery(auth))
    const from = service.audit.events.length
    await browser.post('/login/recovery/complete', { auth, proof })
    const told = { subject: 'recovery', how: 'recovery', client: 'demo' }
    expect(service.audit.events.slice(from)).toMatchObject([
      { event: 'recovery.signed_in', ...told },
      { event: 'signin.completed', ...told },
    ])
  })

  it('completes its request once, of two that come at once', async () => {
    const { browser, auth } = await waiting(service)
    const proof = await proved(browser, recovery(auth))
    const complete = () => browser.post('/login/recovery/complete', { auth, proof })
    const answers = await Promise.all([complete(), complete(), complete()])
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 400 || status === 409)).toHaveLength(2)
  })

  it('leaves a request for one person to that person', async () => {
    const claims = JSON.stringify({ id_token: { sub: { value: 'ada@acme.example' } } })
    const { browser, auth } = await waiting(service, { claims })
    const proof = await proved(browser, recovery(auth))
    const { parameters } = await clientAnswer(await browser.post('/login/recovery/complete', { auth, proof }))
    expect(parameters).toMatchObject({ error: 'login_required' })
  })
})

describe('whatever fails', () => {
  /** 403, the same words, no cookie. */
  async function refused(answer: Response): Promise<void> {
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await errorOf(answer, 403)).toEqual({ error: 'proof_refused', error_description: 'That password was not accepted.' })
  }

  const N = rfc5054of2048.N
  const sent = (value: bigint, length = 256) => encodeBase64url(toBytes(value, length))

  it.each([
    ['0', sent(0n)],
    ['N', sent(N)],
    ['2N', sent(2n * N, 257)],
    ['over N', sent(N + 1n)],
    ['a byte short', sent(5n, 255)],
    ['not padded', 'BQ'],
    ['in standard base64', `${sent(5n)}==`],
    ['not base64url', '!'.repeat(342)],
  ])('an A that is %s, of an account there is and of one there is not, is refused alike', async (_what, A) => {
    const { browser, auth } = await waiting(service)
    const before = await contents(store)
    for (const account of ['recovery', 'nobody']) await refused(await browser.post('/login/recovery/start', { auth, account, A }))
    expect(await contents(store)).toEqual(before)
  })

  it.each([
    ['a wrong password', 'recovery', 0x3333n],
    ['the password of another account', 'recovery', CONFORMANCE],
    ['an account there is not', 'root', RECOVERY],
    ['a name of every object', '__proto__', RECOVERY],
    ['an account in other letters', 'Recovery', RECOVERY],
  ])('%s is refused alike', async (_what, account, x) => {
    const { browser, auth } = await waiting(service)
    const { handle, M1 } = await started(browser, { auth, account, x })
    await refused(await browser.post('/login/recovery/finish', { handle, M1 }))
    expect((await browser.get(`/login?auth=${auth}`)).status).toBe(200)
  })

  it.each<[string, (right: string) => string]>([
    ['that is cut off', (right) => right.slice(0, -1)],
    ['that is longer', (right) => `${right}AA`],
    ['not in base64url', () => '+/+/'],
    ['of zeros', () => encodeBase64url(new Uint8Array(32))],
  ])('an M1 %s is refused alike, and the handle is gone', async (_what, change) => {
    const { browser, auth } = await waiting(service)
    const { handle, M1 } = await started(browser, recovery(auth))
    await refused(await browser.post('/login/recovery/finish', { handle, M1: change(M1) }))
    await refused(await browser.post('/login/recovery/finish', { handle, M1 }))
  })

  it('a handle proves one thing once', async () => {
    const { browser, auth } = await waiting(service)
    const { handle, M1 } = await started(browser, recovery(auth))
    const finish = () => browser.post('/login/recovery/finish', { handle, M1 })
    const answers = await Promise.all([finish(), finish(), finish()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403])
    await refused(await finish())
  })

  it('M1 of another exchange is refused, of the same account, browser and request', async () => {
    const { browser, auth } = await waiting(service)
    const [first, second] = [await started(browser, recovery(auth)), await started(browser, recovery(auth))]
    await refused(await browser.post('/login/recovery/finish', { handle: first.handle, M1: second.M1 }))
  })

  it('a handle in another browser is refused, and waits for its own', async () => {
    const [here, there] = [await waiting(service), await waiting(service)]
    const { handle, M1 } = await started(here.browser, recovery(here.auth))
    await refused(await there.browser.post('/login/recovery/finish', { handle, M1 }))
    expect((await here.browser.post('/login/recovery/finish', { handle, M1 })).status).toBe(200)
  })

  it.each(['AAAAAAAAAAAAAAAAAAAAAA', 'x', '../req.a-x', 'a'.repeat(8_000)])('the handle %.30s is refused alike', async (handle) => {
    const { browser } = await waiting(service)
    await refused(await browser.post('/login/recovery/finish', { handle, M1: 'x' }))
  })

  it('a handle of two minutes ago is refused', async () => {
    const { browser, auth } = await waiting(service)
    const { handle, M1 } = await started(browser, recovery(auth))
    store.clock.advance(120)
    await refused(await browser.post('/login/recovery/finish', { handle, M1 }))
  })

  it('an exchange whose seal does not open any more is refused, and the log says so', async () => {
    const { browser, auth } = await waiting(service)
    const [first, second] = [await started(browser, recovery(auth)), await started(browser, recovery(auth))]
    const { state } = store.adapters()
    const [one, other] = await Promise.all([state.get(`srp.${first.handle}`), state.get(`srp.${second.handle}`)])
    const read = (entry: typeof one) => JSON.parse(new TextDecoder().decode(entry?.value))
    await state.put(`srp.${first.handle}`, utf8(JSON.stringify({ ...read(one), b: read(other).b })), 120)
    await refused(await browser.post('/login/recovery/finish', { handle: first.handle, M1: first.M1 }))
    expect(service.logs.join('\n')).toContain('signin.exchange_sealed_otherwise')
  })

  it('is told apart in log and audit alone, and neither holds what was typed', async () => {
    const [from, logged] = [service.audit.events.length, service.logs.length]
    const { browser, auth } = await waiting(service)
    for (const account of ['recovery', 'conformance', 'hunter2']) {
      const { handle } = await started(browser, { auth, account, x: 5n })
      await browser.post('/login/recovery/finish', { handle, M1: 'x' })
    }
    const reason = 'the proof is wrong'
    expect(service.audit.events.slice(from)).toMatchObject([
      { event: 'recovery.refused', reason, subject: 'recovery', how: 'recovery' },
      { event: 'signin.refused', reason, subject: 'conformance', how: 'conformance' },
      { event: 'signin.refused', reason, how: 'password' },
    ])
    const lines = service.logs.slice(logged)
    expect(lines.filter((line) => line.includes('signin.password_failed'))).toHaveLength(3)
    expect(JSON.stringify([service.audit.events.slice(from), lines])).not.toContain('hunter2')
  })
})

describe('who asks with nothing', () => {
  const A = srpClient(1n).A

  it('an account there is not has a salt and a B like the others, the same salt every time', async () => {
    const { browser, auth } = await waiting(service)
    const ask = (account: string) => answerStart(browser, { auth, account, A })
    const [first, again, other, real] = [await ask('nobody'), await ask('nobody'), await ask('somebody'), await ask('recovery')]
    expect(again.salt).toBe(first.salt)
    expect(again.B).not.toBe(first.B)
    expect(other.salt).not.toBe(first.salt)
    expect(real.salt).toBe(encodeBase64url(salts.recovery))
    for (const { handle, salt, iterations, B } of [first, again, other, real]) {
      expect({ handle: handle.length, salt: salt.length, iterations, B: B.length }).toEqual({
        handle: 22,
        salt: 22,
        iterations: 600_000,
        B: 342,
      })
    }
  })

  it.each([
    ['start', 'auth', { account: 'recovery', A }],
    ['start', 'account', { auth: 'x', A }],
    ['start', 'A', { auth: 'x', account: 'recovery' }],
    ['finish', 'handle', { M1: 'x' }],
    ['finish', 'M1', { handle: 'x' }],
  ])('%s without %s is told so', async (step, name, form) => {
    const { browser } = await waiting(service)
    const { error_description } = await errorOf(await browser.post(`/login/recovery/${step}`, form), 400)
    expect(error_description).toBe(`${name} is missing`)
  })

  it('a name longer than any account has is refused as one', async () => {
    const { browser, auth } = await waiting(service)
    const answer = await browser.post('/login/recovery/start', { auth, account: 'a'.repeat(65), A })
    expect((await errorOf(answer, 400)).error_description).toContain('account is longer')
  })

  it('another browser, or a request there is not, is told that it is gone', async () => {
    const [here, there] = [await waiting(service), await waiting(service)]
    for (const auth of [here.auth, 'A'.repeat(22)])
      expect(await errorOf(await there.browser.post('/login/recovery/start', { auth, account: 'recovery', A }), 400)).toMatchObject({
        error: 'request_gone',
      })
  })

  it.each(['start', 'finish', 'complete'])('another site’s form is refused at %s', async (step) => {
    const { browser, auth } = await waiting(service)
    const { handle, M1 } = await started(browser, recovery(auth))
    const form = { auth, account: 'recovery', A, handle, M1, proof: 'x' }
    for (const headers of [{}, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }])
      expect((await browser.post(`/login/recovery/${step}`, form, headers)).status).toBe(403)
    expect((await browser.post('/login/recovery/finish', { handle, M1 })).status).toBe(200)
  })
})

describe('what finish hands over', () => {
  it('is refused for another request of the same browser', async () => {
    const { browser, auth } = await waiting(service)
    const proof = await proved(browser, recovery(auth))
    const other = await anotherRequest(browser)
    expect(other).not.toBe(auth)
    await refusedPage(browser, { auth: other, proof })
    expect((await browser.post('/login/recovery/complete', { auth, proof })).status).toBe(303)
  })

  it.each<[string, (proof: string) => string]>([
    ['changed by a letter', (proof) => `${proof.slice(0, -8)}${proof.at(-8) === 'A' ? 'B' : 'A'}${proof.slice(-7)}`],
    ['cut off', (proof) => proof.slice(0, 40)],
    ['that is no base64url', () => 'x+/'],
  ])('is refused when it is %s', async (_what, change) => {
    const { browser, auth } = await waiting(service)
    await refusedPage(browser, { auth, proof: change(await proved(browser, recovery(auth))) })
  })

  it('is good for two minutes', async () => {
    const { browser, auth } = await waiting(service)
    const proof = await proved(browser, recovery(auth))
    store.clock.advance(120)
    await refusedPage(browser, { auth, proof })
  })

  it('is good for no longer where a clock was set back meanwhile', async () => {
    const { browser, auth } = await waiting(service)
    store.clock.advance(150)
    const proof = await proved(browser, recovery(auth))
    store.clock.advance(-150)
    await refusedPage(browser, { auth, proof })
  })

  it('is nothing in another browser', async () => {
    const [here, there] = [await waiting(service), await waiting(service)]
    const proof = await proved(here.browser, recovery(here.auth))
    await pageOf(await there.browser.post('/login/recovery/complete', { auth: here.auth, proof }), 400)
    await pageOf(await there.browser.post('/login/recovery/complete', { auth: there.auth, proof }), 403)
  })

  it('is nothing once the request is completed', async () => {
    const { browser, auth } = await waiting(service)
    const proof = await proved(browser, recovery(auth))
    await browser.post('/login/recovery/complete', { auth, proof })
    const from = service.audit.events.length
    await pageOf(await browser.post('/login/recovery/complete', { auth, proof }), 400)
    expect(service.audit.events.slice(from)).toEqual([])
  })

  it('is no exchange’s secret, though both are sealed', async () => {
    const { browser, auth } = await waiting(service)
    const { handle } = await started(browser, recovery(auth))
    const entry = await store.adapters().state.get(`srp.${handle}`)
    const { b } = JSON.parse(new TextDecoder().decode(entry?.value))
    const proof = b.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
    await pageOf(await browser.post('/login/recovery/complete', { auth, proof }), 403)
  })

  async function refusedPage(browser: TestBrowser, form: { auth: string; proof: string }): Promise<void> {
    const html = await pageOf(await browser.post('/login/recovery/complete', form), 403)
    expect(html).toContain('That was not accepted')
    expect([...browser.cookies.keys()]).not.toContain('sluis_sso')
  }

  async function anotherRequest(browser: TestBrowser): Promise<string> {
    const answer = await browser.get(await authorizeUrl({ state: 'other' }))
    return new URL(answer.headers.get('location') ?? '', service.url).searchParams.get('auth') ?? ''
  }
})
