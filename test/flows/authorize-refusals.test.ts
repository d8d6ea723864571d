import { describe, expect, it } from 'vitest'
import { clientAnswer, errorOf, pageOf } from './answers.ts'
import { asBackend, authorizeUrl, contents, startService, testStore } from './harness.ts'

const store = testStore('memory')
const service = startService(store)
const REDIRECT = 'http://localhost:8787/demo'

interface Wrong {
  rule: string
  /** Changes to a right request. */
  with?: Record<string, string | undefined>
  /** Parameters sent beside it. */
  and?: [string, string]
  error: string
  /** What the description names; the changed parameter unless said. */
  names?: string
}

const wrongs: Wrong[] = [
  { rule: 'RFC 6749 4.1.2.1: a missing response_type', with: { response_type: undefined }, error: 'invalid_request' },
  { rule: 'RFC 6749 3.1: an empty response_type is a missing one', with: { response_type: '' }, error: 'invalid_request' },
  { rule: 'RFC 9700 2.1.2: the implicit flow', with: { response_type: 'token' }, error: 'unsupported_response_type' },
  { rule: 'RFC 9700 2.1.2: an ID token from here', with: { response_type: 'id_token' }, error: 'unsupported_response_type' },
  { rule: 'RFC 9700 2.1.2: the hybrid flow', with: { response_type: 'code id_token' }, error: 'unsupported_response_type' },
  { rule: 'a response_type in another case', with: { response_type: 'CODE' }, error: 'unsupported_response_type' },

  { rule: 'Multiple Response Types 2.1: an unknown response_mode', with: { response_mode: 'web_message' }, error: 'invalid_request' },
  { rule: 'a response_mode in another case', with: { response_mode: 'FRAGMENT' }, error: 'invalid_request' },

  {
    rule: 'RFC 9700 2.1.1: a public client without PKCE',
    with: { code_challenge: undefined, code_challenge_method: undefined },
    error: 'invalid_request',
    names: 'code_challenge',
  },
  { rule: 'RFC 7636 4.3: a challenge without a method', with: { code_challenge_method: undefined }, error: 'invalid_request' },
  { rule: 'RFC 9700 2.1.1: the method plain', with: { code_challenge_method: 'plain' }, error: 'invalid_request' },
  { rule: 'RFC 7636 4.3: a method there is not', with: { code_challenge_method: 's256' }, error: 'invalid_request' },
  {
    rule: 'RFC 7636 4.3: a method without a challenge, of a public client',
    with: { code_challenge: undefined },
    error: 'invalid_request',
    names: 'code_challenge_method',
  },
  { rule: 'RFC 7636 4.2: a challenge too short for SHA-256', with: { code_challenge: 'a'.repeat(42) }, error: 'invalid_request' },
  { rule: 'RFC 7636 4.2: a challenge too long for SHA-256', with: { code_challenge: 'a'.repeat(44) }, error: 'invalid_request' },
  { rule: 'RFC 7636 4.2: a challenge that is no base64url', with: { code_challenge: `${'a'.repeat(42)}+` }, error: 'invalid_request' },

  { rule: 'RFC 6749 3.3: a scope with two spaces', with: { scope: 'openid  profile' }, error: 'invalid_scope' },
  { rule: 'RFC 6749 3.3: a scope with a quote', with: { scope: 'openid "profile"' }, error: 'invalid_scope' },
  { rule: 'RFC 6749 3.3: a scope beyond ASCII', with: { scope: 'openid prófile' }, error: 'invalid_scope' },
  { rule: 'RFC 6749 3.3: a scope of words there are not', with: { scope: 'address phone' }, error: 'invalid_scope' },

  { rule: 'OIDC Core 3.1.2.1: prompt none beside another', with: { prompt: 'none login' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.1: a prompt there is not', with: { prompt: 'create' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.1: a prompt in another case', with: { prompt: 'Login' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.6: prompt none without a sign-in', with: { prompt: 'none' }, error: 'login_required', names: '' },

  { rule: 'OIDC Core 3.1.2.1: a negative max_age', with: { max_age: '-1' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.1: a max_age with a fraction', with: { max_age: '1.5' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.1: a max_age with an exponent', with: { max_age: '1e3' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.1: a max_age of words', with: { max_age: 'never' }, error: 'invalid_request' },
  { rule: 'OIDC Core 3.1.2.1: a max_age of centuries', with: { max_age: '9'.repeat(11) }, error: 'invalid_request' },

  { rule: 'OIDC Core 6.1: a request object', with: { request: 'e30.e30.' }, error: 'request_not_supported' },
  { rule: 'OIDC Core 6.2: a request by reference', with: { request_uri: 'https://a.example/r' }, error: 'request_uri_not_supported' },
  { rule: 'OIDC Core 7.2.1: a registration', with: { registration: '{}' }, error: 'registration_not_supported' },

  { rule: 'OIDC Core 5.5: claims that are no JSON', with: { claims: '{' }, error: 'invalid_request' },
  { rule: 'OIDC Core 5.5: claims that are a list', with: { claims: '[]' }, error: 'invalid_request' },
  { rule: 'OIDC Core 5.5: claims that are text', with: { claims: '"email"' }, error: 'invalid_request' },
  { rule: 'OIDC Core 5.5: claims that are null', with: { claims: 'null' }, error: 'invalid_request' },
  { rule: 'OIDC Core 5.5: claims of an ID token that are a list', with: { claims: '{"id_token":["email"]}' }, error: 'invalid_request' },
  { rule: 'OIDC Core 5.5.1: a claim asked for by a number', with: { claims: '{"userinfo":{"email":1}}' }, error: 'invalid_request' },
  {
    rule: 'OIDC Core 5.5.1: an essential that is no boolean',
    with: { claims: '{"id_token":{"acr":{"essential":"yes"}}}' },
    error: 'invalid_request',
  },
  {
    rule: 'OIDC Core 5.5.1.1: an essential acr that no sign-in here reaches',
    with: { claims: '{"id_token":{"acr":{"essential":true,"values":["urn:example:gold"]}}}' },
    error: 'unmet_authentication_requirements',
    names: 'acr',
  },
  {
    rule: 'OIDC Core 5.5.1.1: the same, of one value',
    with: { claims: '{"id_token":{"acr":{"essential":true,"value":"urn:example:gold"}}}' },
    error: 'unmet_authentication_requirements',
    names: 'acr',
  },

  { rule: 'RFC 8707 2: a resource that is not declared', with: { resource: 'https://api.example/' }, error: 'invalid_target' },

  ...[
    'response_type',
    'response_mode',
    'scope',
    'nonce',
    'prompt',
    'max_age',
    'login_hint',
    'claims',
    'code_challenge',
    'code_challenge_method',
    'id_token_hint',
    'acr_values',
    'ui_locales',
    'something_else',
  ].map(
    (name): Wrong => ({
      rule: `RFC 6749 3.1: ${name} twice`,
      with: { [name]: 'one' },
      and: [name, 'two'],
      error: 'invalid_request',
      names: name,
    }),
  ),
]

/** The path of the wrong request, in this response mode. */
async function asked({ with: changes = {}, and }: Wrong, mode: string | undefined): Promise<string> {
  const url = await authorizeUrl({ response_mode: mode, ...changes })
  return and === undefined ? url : `${url}&${new URLSearchParams([and])}`
}

describe.each(['query', 'fragment', 'form_post'] as const)('refused, and told to the client with state and iss, by %s', (mode) => {
  it.each(wrongs)('$rule', async (wrong) => {
    const before = await contents(store)
    const answer = await service.fetch(await asked(wrong, mode), { headers: { accept: 'text/html' } })
    const told = await clientAnswer(answer)

    const modeIsWrong = wrong.with?.response_mode !== undefined
    expect(told).toEqual({
      mode: modeIsWrong ? 'query' : mode,
      to: REDIRECT,
      parameters: {
        error: wrong.error,
        error_description: expect.stringContaining(wrong.names ?? Object.keys(wrong.with ?? {})[0] ?? ''),
        state: 'the state',
        iss: 'http://localhost:8787',
      },
    })
    expect(answer.headers.getSetCookie()).toEqual([])
    expect(await contents(store)).toEqual(before)
  })
})

describe('an authorization error', () => {
  it('RFC 6749 4.1.2.1: has no state where the request had none, or had two', async () => {
    for (const url of [await authorizeUrl({ state: undefined, prompt: 'none' }), `${await authorizeUrl({ prompt: 'none' })}&state=b`]) {
      expect((await clientAnswer(await service.fetch(url))).parameters).not.toHaveProperty('state')
    }
  })

  it('RFC 6749 4.1.2.1: gives the state back as it came, whatever is in it', async () => {
    const state = `"><script>alert('1')</script>&=;%#?+ é 漢 🗝`
    for (const response_mode of ['query', 'fragment', 'form_post']) {
      const answer = await service.fetch(await authorizeUrl({ state, response_mode, prompt: 'none' }))
      expect((await clientAnswer(answer)).parameters.state).toBe(state)
    }
  })

  it('OAuth 2.0 Form Post 2: is a page whose form may be sent to the client, and nowhere else', async () => {
    for (const [redirect_uri, source] of [
      [REDIRECT, 'http://localhost:8787'],
      ['com.acme.demo:/callback', 'com.acme.demo:'],
    ] as const) {
      const answer = await service.fetch(await authorizeUrl({ redirect_uri, response_mode: 'form_post', prompt: 'none' }))
      expect(answer.headers.get('content-security-policy')).toMatch(new RegExp(`; form-action 'self' ${source}$`))
      await pageOf(answer, 200)
    }
  })

  it('RFC 7636 4.3: tells a confidential client of a method without a challenge', async () => {
    const answer = await service.fetch(await authorizeUrl({ ...asBackend, code_challenge: undefined }))
    expect((await clientAnswer(answer)).parameters).toMatchObject({ error: 'invalid_request', iss: 'http://localhost:8787' })
  })
})

describe('RFC 6749 4.1.2.1: a malformed parameter goes back to the client that is known', () => {
  it.each([
    ['a stray percent sign', 'nonce=%', 'nonce'],
    ['half an escape', 'nonce=%4', 'nonce'],
    ['bytes that are no UTF-8', 'nonce=%ff', 'nonce'],
    ['half a surrogate pair', 'nonce=%ed%a0%80', 'nonce'],
    ['a NUL', 'nonce=%00', 'nonce'],
    ['a line break', 'nonce=a%0d%0ab', 'nonce'],
    ['a DEL', 'nonce=%7f', 'nonce'],
    ['a C1 control', 'nonce=%c2%85', 'nonce'],
    ['a name that is not encoded', '%zz=1', 'parameter name'],
    ['a value over 8 KiB', `login_hint=${'a'.repeat(8_193)}`, 'login_hint'],
  ])('%s', async (_what, pair, names) => {
    const before = await contents(store)
    const { parameters } = await clientAnswer(await service.fetch(`${await authorizeUrl({ nonce: undefined })}&${pair}`))
    expect(parameters).toMatchObject({ error: 'invalid_request', state: 'the state', iss: 'http://localhost:8787' })
    expect(parameters.error_description).toContain(names)
    expect(await contents(store)).toEqual(before)
  })

  it.each([
    ['client_id', { client_id: undefined }],
    ['redirect_uri', { redirect_uri: undefined }],
  ])('and is a page when it is %s itself', async (name, changes) => {
    const before = await contents(store)
    const url = `${await authorizeUrl(changes)}&${name}=%ff`
    await pageOf(await service.fetch(url, { headers: { accept: 'text/html' } }), 400)
    expect((await errorOf(await service.fetch(url), 400)).error_description).toContain(name)
    expect(await contents(store)).toEqual(before)
  })
})

describe('an authorization request waits for a person', () => {
  it.each<[string, Record<string, string | undefined>]>([
    ['as it should be', {}],
    ['RFC 6749 3.1: with empty parameters, which are none', { prompt: '', max_age: '', claims: '', resource: '', response_mode: '' }],
    ['RFC 6749 3.1: with parameters nobody knows', { audience: 'x', foo: 'bar', display: 'popup' }],
    ['RFC 6749 3.3: without a scope', { scope: undefined }],
    ['RFC 6749 3.3: with a scope there is and one there is not', { scope: 'openid address' }],
    ['without state and nonce', { state: undefined, nonce: undefined }],
    ['OIDC Core 3.1.2.1: with prompt login', { prompt: 'login' }],
    ['OIDC Core 3.1.2.1: with several prompts', { prompt: 'login consent select_account' }],
    ['OIDC Core 3.1.2.1: with max_age 0', { max_age: '0' }],
    ['OIDC Core 3.1.2.1: with acr_values it can not meet: they are a wish', { acr_values: 'urn:example:gold' }],
    ['OIDC Core 3.1.2.1: with ui_locales it does not have', { ui_locales: 'nl fr-CA' }],
    ['OIDC Core 5.5: with claims', { claims: '{"id_token":{"email":null,"name":{"essential":true}},"userinfo":{"x":{"value":1}}}' }],
    ['OIDC Core 5.5: with empty claims', { claims: '{}' }],
    ['OIDC Core 5.5: with claims of null', { claims: '{"userinfo":null,"id_token":null,"other":1}' }],
    ['OIDC Core 5.5.1.1: with an acr it meets', { claims: '{"id_token":{"acr":{"essential":true,"values":["urn:sluis:acr:directory"]}}}' }],
    ['OIDC Core 5.5.1.1: with an essential acr of any value', { claims: '{"id_token":{"acr":{"essential":true}}}' }],
    ['OIDC Core 5.5.1.1: with a voluntary acr', { claims: '{"id_token":{"acr":{"values":["urn:example:gold"]}}}' }],
    ['of a confidential client without PKCE', { ...asBackend, code_challenge: undefined, code_challenge_method: undefined }],
    ['with a state of 8 KiB', { state: 's'.repeat(8_192) }],
  ])('%s', async (_what, changes) => {
    const before = Object.keys(await contents(store))
    const answer = await service.fetch(await authorizeUrl(changes))
    expect(answer.status).toBe(303)
    const [, id] = /^\/login\?auth=([A-Za-z0-9_-]{22})$/.exec(answer.headers.get('location') ?? '') ?? []
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^sluis_browser=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    const added = Object.keys(await contents(store)).filter((key) => !before.includes(key))
    expect(added).toEqual([`req.a-${id}`])
  })
})
