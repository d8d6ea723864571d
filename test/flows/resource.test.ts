import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import {
  authorizeUrl,
  claimsOf,
  contents,
  exchange,
  redeployed,
  signedIn,
  signIn,
  startService,
  TestBrowser,
  type Tokens,
  testStore,
  verifier,
} from './harness.ts'

const API = 'https://api.acme.example/v1'

const store = testStore('memory', {
  edit({ policy }) {
    policy.resources[API] = { requires: ['app:demo:user'], groups: 'all', groups_delimiter: '/' }
    policy.resources['https://api.acme.example/v1/'] = { requires: ['app:demo:user'] }
    policy.resources['urn:acme:reports'] = { requires: ['app:backend:user'], signing_alg: 'RS256' }
  },
})
const service = startService(store)

async function codeFor(resource: string | undefined): Promise<string> {
  return (await signIn(new TestBrowser(service), { resource })).searchParams.get('code') ?? ''
}

/** A token request with any parameters, doubled ones too. */
function tokenRequest(code: string, resources: string[]): Promise<Response> {
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    client_id: 'demo',
    redirect_uri: 'http://localhost:8787/demo',
    code_verifier: verifier,
  })
  for (const resource of resources) body.append('resource', resource)
  return service.fetch('/token', { method: 'POST', body })
}

describe('RFC 8707 2: a resource at /authorize', () => {
  it.each([
    ['that is relative', ['/v1']],
    ['with a fragment', [`${API}#x`]],
    ['with an empty fragment', [`${API}#`]],
    ['that is not declared', ['https://other.acme.example/v1']],
    ['with a slash more than is declared', ['urn:acme:reports/']],
    ['whose path is in another case', ['https://api.acme.example/V1']],
    ['with a query that is not declared', [`${API}?x=1`]],
    ['that is a client', ['demo']],
    ['that every object has', ['constructor']],
    ['beside another', [API, 'urn:acme:reports']],
    ['twice the same', [API, API]],
  ])('%s is refused with invalid_target', async (_what, resources) => {
    const before = await contents(store)
    const more = resources.map((resource) => `&resource=${encodeURIComponent(resource)}`).join('')
    const { parameters } = await clientAnswer(await service.fetch((await authorizeUrl({ response_mode: 'fragment' })) + more))
    expect(parameters).toMatchObject({ error: 'invalid_target', state: 'the state', iss: 'http://localhost:8787' })
    expect(await contents(store)).toEqual(before)
  })

  it.each([
    [API, API],
    ['HTTPS://API.acme.EXAMPLE/v1', API],
    ['https://api.acme.example/v1/', 'https://api.acme.example/v1/'],
    ['URN:acme:reports', 'urn:acme:reports'],
  ])('%s is the audience %s', async (resource, aud) => {
    const { access_token, id_token } = await signedIn(service, { resource })
    expect(claimsOf(access_token)).toMatchObject({ aud, client_id: 'demo' })
    expect(claimsOf(id_token).aud).toBe('demo')
  })

  it('decides which groups its token names and how, and the client those of its ID token', async () => {
    const { access_token, id_token } = await signedIn(service, { resource: API })
    expect(claimsOf(access_token).groups).toEqual(['app/backend/user', 'app/console/operator', 'app/demo/user', 'emp/all'])
    expect(claimsOf(id_token).groups).toEqual(['app:demo:user'])
  })

  it('decides what its token is signed with, and the client what its ID token is', async () => {
    const { access_token, id_token } = await signedIn(service, { resource: 'urn:acme:reports' })
    const algOf = (token: string) => JSON.parse(atob(token.split('.')[0] ?? '')).alg
    expect([algOf(access_token), algOf(id_token)]).toEqual(['RS256', 'ES256'])
  })

  it('that does not admit the person is not given, though the client admits them', async () => {
    const browser = new TestBrowser(service)
    const started = await browser.get(await authorizeUrl({ resource: 'urn:acme:reports' }))
    const auth = new URL(started.headers.get('location') ?? '', service.url).searchParams.get('auth') ?? ''
    await pageOf(await browser.post('/login/picker', { auth, person: 'katherine@acme.example' }), 403)
  })
})

describe('RFC 8707 2.2: a resource at /token', () => {
  it.each([
    ['the one the code was issued for', API, [API]],
    ['the same in the spelling of the authorization request', 'HTTPS://api.ACME.example/v1', ['HTTPS://api.ACME.example/v1']],
    ['none', API, []],
  ])('may be %s', async (_what, asked, sent) => {
    const answer = await tokenRequest(await codeFor(asked), sent)
    expect(answer.status).toBe(200)
    expect(claimsOf((await answer.json<Tokens>()).access_token).aud).toBe(API)
  })

  it.each<[string, string | undefined, string[]]>([
    ['another', API, ['urn:acme:reports']],
    ['one that is not declared', API, ['https://other.example/']],
    ['one where the code was issued for none', undefined, [API]],
    ['one that is not declared where the code was issued for none', undefined, ['https://other.example/']],
    ['with a fragment', API, [`${API}#x`]],
    ['two', API, [API, API]],
  ])('that is %s is refused with invalid_target, and the code stays good', async (_what, asked, sent) => {
    const code = await codeFor(asked)
    expect(await errorOf(await tokenRequest(code, sent), 400)).toMatchObject({ error: 'invalid_target' })
    expect((await exchange(service, code)).status).toBe(200)
  })

  it('that the policy lost meanwhile is invalid_grant', async () => {
    const code = await codeFor('urn:acme:reports')
    const later = startService(
      redeployed(store, ({ policy }) => {
        delete policy.resources['urn:acme:reports']
      }),
    )
    expect(await errorOf(await exchange(later, code), 400)).toMatchObject({ error: 'invalid_grant' })
  })
})
