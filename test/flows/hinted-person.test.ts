import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { clientAnswer, pageOf } from './answers.ts'
import {
  authorizeUrl,
  claimsOf,
  contents,
  redeployed,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type TestStore,
  testStore,
} from './harness.ts'

const store = testStore('memory')
const service = startService(store)
const ADA = await signedIn(service)
const GRACE = 'grace@acme.example'

const [header = '', payload = '', signature = ''] = ADA.id_token.split('.')
const { keys } = await (await service.fetch('/keys')).json<{ keys: { kid: string; alg: string }[] }>()
const publicKey = keys.find(({ alg }) => alg === 'ES256')
const kid = publicKey?.kid ?? ''

const renamed = redeployed(store, ({ service }) => {
  service.issuer = 'http://127.0.0.1:8787'
})

async function idTokenOf(elsewhere: TestStore): Promise<string> {
  return (await signedIn(startService(elsewhere))).id_token
}

function signedWithPublicKey(): Promise<string> {
  const secret = utf8(JSON.stringify(publicKey))
  return new SignJWT(claimsOf(ADA.id_token)).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid }).sign(secret)
}

function encoded(value: unknown): string {
  return encodeBase64url(utf8(JSON.stringify(value)))
}

async function startedWith(
  changes: Record<string, string>,
  browser = new TestBrowser(service),
): Promise<{ browser: TestBrowser; auth: string }> {
  const answer = await browser.get(await authorizeUrl(changes))
  return { browser, auth: new URL(answer.headers.get('location') ?? '', service.url).searchParams.get('auth') ?? '' }
}

describe('OIDC Core 3.1.2.1: id_token_hint', () => {
  it('of ours offers its person first', async () => {
    const { browser, auth } = await startedWith({ id_token_hint: ADA.id_token })
    const html = await pageOf(await browser.get(`/login?auth=${auth}`), 200)
    expect(html).toMatch(/value="ada@acme\.example" autofocus/)
  })

  it('lets its person complete the request', async () => {
    const redirect = await signIn(new TestBrowser(service), { id_token_hint: ADA.id_token })
    expect(redirect.searchParams.get('code')).toMatch(/^slc_/)
  })

  it('of ours that has expired is as good', async () => {
    const old = testStore('memory')
    const { id_token } = await signedIn(startService(old))
    old.clock.advance(7 * 86_400)
    expect((await signIn(new TestBrowser(startService(old)), { id_token_hint: id_token })).searchParams.get('code')).toMatch(/^slc_/)
  })

  it.each<[string, () => string | Promise<string>]>([
    ['no token', () => 'hint'],
    ['a token without its signature', () => `${header}.${payload}.`],
    ['a token cut in two', () => `${header}.${payload}`],
    ['a token with a claim changed', () => `${header}.${encoded({ ...claimsOf(ADA.id_token), sub: GRACE })}.${signature}`],
    ['alg none', () => `${encoded({ alg: 'none', typ: 'JWT' })}.${payload}.`],
    ['alg none under our kid', () => `${encoded({ alg: 'none', typ: 'JWT', kid })}.${payload}.`],
    ['HS256 with our public key as its secret', signedWithPublicKey],
    ['an access token', () => ADA.access_token],
    ['of an issuer that has our name and other keys', () => idTokenOf(testStore('memory'))],
    ['of an issuer that has our keys and another name', () => idTokenOf(renamed)],
  ])('that is %s is refused', async (_what, hint) => {
    const id_token_hint = await hint()
    const before = await contents(store)
    const { parameters } = await clientAnswer(await service.fetch(await authorizeUrl({ id_token_hint })))
    expect(parameters).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('id_token_hint') })
    expect(await contents(store)).toEqual(before)
  })
})

describe.each([
  ['OIDC Core 3.1.2.2: for an id_token_hint', { id_token_hint: ADA.id_token }],
  ['OIDC Core 5.5.1: for a sub asked for by value', { claims: '{"id_token":{"sub":{"value":"ada@acme.example"}}}' }],
  ['OIDC Core 5.5.1: for a sub spelled another way', { claims: '{"id_token":{"sub":{"value":" Ada@ACME.example"}}}' }],
])('%s', (_what, hint) => {
  it.each(['query', 'fragment', 'form_post'])(
    'another person is answered login_required, by %s, without a code or a sign-in',
    async (response_mode) => {
      const { browser, auth } = await startedWith({ ...hint, response_mode })
      const answer = await browser.post('/login/picker', { auth, person: GRACE })
      const told = await clientAnswer(answer)
      expect(told.mode).toBe(response_mode)
      expect(told.parameters).toEqual({
        error: 'login_required',
        error_description: expect.stringMatching(/person/),
        state: 'the state',
        iss: 'http://localhost:8787',
      })
      expect(answer.headers.getSetCookie()).toEqual([])
      await pageOf(await browser.post('/login/picker', { auth, person: 'ada@acme.example' }), 400)
    },
  )

  it('the person asked for completes it', async () => {
    expect((await signIn(new TestBrowser(service), hint)).searchParams.get('code')).toMatch(/^slc_/)
  })
})

describe('OIDC Core 5.5.1: nobody else than the sub asked for completes a request', () => {
  it('whose id_token_hint names another: it is refused', async () => {
    const claims = `{"id_token":{"sub":{"value":"${GRACE}"}}}`
    const { parameters } = await clientAnswer(await service.fetch(await authorizeUrl({ claims, id_token_hint: ADA.id_token })))
    expect(parameters).toMatchObject({ error: 'invalid_request', error_description: expect.stringContaining('two people') })
  })

  it('whose id_token_hint names the same', async () => {
    const claims = '{"id_token":{"sub":{"value":"ada@acme.example"}}}'
    expect((await signIn(new TestBrowser(service), { claims, id_token_hint: ADA.id_token })).searchParams.get('code')).toMatch(/^slc_/)
  })

  it('and a login_hint binds nobody', async () => {
    expect((await signIn(new TestBrowser(service), { login_hint: GRACE })).searchParams.get('code')).toMatch(/^slc_/)
  })
})
