import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf } from './answers.ts'
import { ADA, API, clientStore, GRACE, signInAt } from './clients.ts'
import { auditedBesideRefusals, authorizeUrl, claimsOf, exchange, signedIn, TestBrowser, type TestService, type Tokens } from './harness.ts'
import { none, type Outage, startOnShakyStores } from './shaky-stores.ts'

/** The gate of a completion fails, or its answer is lost: the issuer is told no more than that. */
const gate: Outage['fails'] = (_port, call) => call === 'deleteIfRevision'

async function started(): Promise<{ service: TestService; outage: Outage; browser: TestBrowser }> {
  const { outage, service } = startOnShakyStores(await clientStore('memory'))
  return { service, outage, browser: new TestBrowser(service) }
}

/** Asks, and picks a person while the gate fails: what they are answered. */
async function pickedInTrouble(
  { browser, outage }: { browser: TestBrowser; outage: Outage },
  changes: Record<string, string>,
  person = ADA,
): Promise<Response> {
  const login = (await browser.get(await authorizeUrl(changes))).headers.get('location') ?? ''
  const auth = new URL(login, 'http://localhost').searchParams.get('auth') ?? ''
  outage.fails = gate
  const answer = await browser.post('/login/picker', { auth, person })
  outage.fails = none
  return answer
}

/** The parameters of the authorization request a browser is sent to make. */
function askedAgain(answer: Response): Record<string, string> {
  expect(answer.status).toBe(303)
  const to = new URL(answer.headers.get('location') ?? '')
  expect(to.origin + to.pathname).toBe('http://localhost:8787/authorize')
  return Object.fromEntries(to.searchParams)
}

async function tokensOf(service: TestService, code: string | undefined): Promise<Tokens> {
  const answer = await exchange(service, code ?? '')
  if (answer.status !== 200) throw new Error(await answer.text())
  return answer.json()
}

describe('a sign-in whose store fails at the gate', () => {
  it('asks again with what the client asked, and its client is answered as if nothing had been', async () => {
    const world = await started()
    const claims = JSON.stringify({ id_token: { email: { essential: true } }, userinfo: { name: null } })
    const asked = { scope: 'openid offline_access', response_mode: 'form_post', resource: API, claims, state: 'a state & more' }
    const answer = await pickedInTrouble(world, asked)
    expect(askedAgain(answer)).toMatchObject({
      ...{ client_id: 'demo', redirect_uri: 'http://localhost:8787/demo', response_type: 'code', nonce: 'the nonce' },
      ...{ code_challenge_method: 'S256', code_challenge: expect.stringMatching(/^[\w-]{43}$/) },
      ...{ ...asked, claims: '{"id_token":{"email":null},"userinfo":{"name":null}}' },
    })

    const { mode, to, parameters } = await clientAnswer(await world.browser.get(answer.headers.get('location') ?? ''))
    expect({ mode, to, state: parameters.state }).toEqual({ mode: 'form_post', to: 'http://localhost:8787/demo', state: 'a state & more' })
    const { id_token, access_token } = await tokensOf(world.service, parameters.code)
    expect(claimsOf(id_token)).toMatchObject({ sub: ADA, nonce: 'the nonce', email: ADA })
    expect(claimsOf(access_token)).toMatchObject({ aud: API })
  })

  it.each<[string, Record<string, string>, string | undefined]>([
    ['nothing', {}, undefined],
    ['max_age=0', { max_age: '0' }, '300'],
    ['a max_age of an hour', { max_age: '3600' }, '3600'],
    ['prompt=login', { prompt: 'login' }, '300'],
    ['prompt=consent', { prompt: 'consent' }, '300'],
    ['prompt=select_account', { prompt: 'select_account login' }, '300'],
  ])(
    'asked for %s, asks for a proof as fresh as that or of the last minutes, and its client learns when it was',
    async (_what, asked, max_age) => {
      const world = await started()
      const answer = await pickedInTrouble(world, asked)
      const again = askedAgain(answer)
      expect([again.prompt, again.max_age]).toEqual([undefined, max_age])
      const { parameters } = await clientAnswer(await world.browser.get(answer.headers.get('location') ?? ''))
      const { issuer } = world.service.services
      expect(claimsOf((await tokensOf(world.service, parameters.code)).id_token).auth_time).toBe(issuer.clock.now() / 1000)
    },
  )

  it('whose address is opened later completes nothing that wanted the person proved anew', async () => {
    const { outage, service, store } = startOnShakyStores(await clientStore('memory'))
    const browser = new TestBrowser(service)
    const to = (await pickedInTrouble({ browser, outage }, { prompt: 'login' })).headers.get('location') ?? ''
    store.clock.advance(301)
    expect((await browser.get(to)).headers.get('location')).toMatch(/^\/login\?auth=/)
  })

  it('gives a stranger with its address a sign-in page, and somebody else signed in their own code', async () => {
    const world = await started()
    const to = (await pickedInTrouble(world, {})).headers.get('location') ?? ''
    expect((await new TestBrowser(world.service).get(to)).headers.get('location')).toMatch(/^\/login\?auth=/)
    const another = new TestBrowser(world.service)
    await signInAt(another, '/account', GRACE)
    const { parameters } = await clientAnswer(await another.get(to))
    expect(claimsOf((await tokensOf(world.service, parameters.code)).id_token).sub).toBe(GRACE)
  })

  it('holds to the one person the client named, and to no login_hint', async () => {
    const world = await started()
    const { id_token } = await signedIn(world.service)
    const answer = await pickedInTrouble(world, { id_token_hint: id_token, login_hint: GRACE })
    const again = askedAgain(answer)
    expect(again).toMatchObject({ claims: JSON.stringify({ id_token: { sub: { value: ADA } }, userinfo: {} }) })
    expect(again).not.toHaveProperty('login_hint')
    const to = answer.headers.get('location') ?? ''
    expect((await clientAnswer(await world.browser.get(to))).parameters.code).toBeDefined()
    const another = new TestBrowser(world.service)
    await signInAt(another, '/account', GRACE)
    expect((await another.get(to)).headers.get('location')).toMatch(/^\/login\?auth=/)
  })

  it('and is not the one person the client named is answered as ever: nothing has begun', async () => {
    const world = await started()
    const { id_token } = await signedIn(world.service)
    const answer = await pickedInTrouble(world, { id_token_hint: id_token }, GRACE)
    expect((await clientAnswer(answer)).parameters).toMatchObject({ error: 'login_required' })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('goes on to the page of ours it was for', async () => {
    const world = await started()
    const login = (await world.browser.get('/account')).headers.get('location') ?? ''
    world.outage.fails = gate
    const auth = new URL(login, 'http://localhost').searchParams.get('auth') ?? ''
    const answer = await world.browser.post('/login/picker', { auth, person: ADA })
    expect([answer.status, answer.headers.get('location')]).toEqual([303, 'http://localhost:8787/account'])
    world.outage.fails = none
    expect((await world.browser.get('/account')).status).toBe(200)
  })

  it('is audited once, and says why it took another way', async () => {
    const world = await started()
    const answer = await pickedInTrouble(world, {})
    await world.browser.get(answer.headers.get('location') ?? '')
    expect(auditedBesideRefusals(world.service)).toMatchObject([{ event: 'signin.completed', subject: ADA, client: 'demo' }])
    expect(world.service.logs.join('\n')).toContain('signin.asks_again')
  })

  it('whose request is longer than a redirect can be is told to try later, and stays signed in', async () => {
    const world = await started()
    const answer = await pickedInTrouble(world, { state: '%'.repeat(5_000) })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('set-cookie')).toMatch(/^sluis_sso=/)
    expect((await world.browser.get('/account')).status).toBe(200)
  })

  it('leaves a request that the same browser may complete, and no other', async () => {
    const world = await started()
    const login = (await world.browser.get(await authorizeUrl())).headers.get('location') ?? ''
    const auth = new URL(login, 'http://localhost').searchParams.get('auth') ?? ''
    world.outage.fails = gate
    await world.browser.post('/login/picker', { auth, person: ADA })
    world.outage.fails = none
    expect((await new TestBrowser(world.service).post('/login/picker', { auth, person: GRACE })).status).toBe(400)
    const again = await world.browser.post('/login/picker', { auth, person: ADA })
    const first = (await clientAnswer(again)).parameters.code ?? ''
    await tokensOf(world.service, first)
    expect(await errorOf(await exchange(world.service, first), 400)).toMatchObject({ error: 'invalid_grant' })
    expect((await world.browser.post('/login/picker', { auth, person: ADA })).status).toBe(400)
  })
})
