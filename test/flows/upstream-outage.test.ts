import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PortError } from '../../src/ports/error.ts'
import type { State } from '../../src/ports/state.ts'
import { authorizeUrl, startService, TestBrowser } from './harness.ts'
import { type Bent, json } from './upstream-provider.ts'
import { ADA, codeOf, comeBack, refused, sent, starts, type UpstreamWorld, upstreamWorld } from './upstream-world.ts'

type Answers = NonNullable<Bent['answers']>

const DISCOVERY = '/.well-known/openid-configuration'

/** Starts at a provider nobody has asked before, of somebody who waits to sign in. */
async function start(world: UpstreamWorld) {
  const { browser, auth } = await waiting(world)
  return { browser, auth, answer: await browser.get(`/login/okta/start?auth=${auth}`) }
}

async function waiting(world: UpstreamWorld) {
  const browser = new TestBrowser(world.service)
  const asked = await browser.get(await authorizeUrl())
  return { browser, auth: new URL(asked.headers.get('location') ?? '', world.service.url).searchParams.get('auth') ?? '' }
}

const troubles: [string, () => Response | Promise<Response>, string][] = [
  ['can’t be reached', () => Promise.reject(new TypeError('connection refused')), 'provider_unreachable'],
  ['fails', () => new Response('a stack trace', { status: 500 }), 'provider_unreachable'],
  ['redirects', () => new Response(null, { status: 302, headers: { location: 'https://evil.example/' } }), 'provider_unreachable'],
  ['sends more than anybody reads', () => new Response('x'.repeat(300_000)), 'provider_unreachable'],
  ['never stops sending', () => new Response(endless()), 'provider_unreachable'],
  ['breaks off', () => new Response(brokenOff()), 'provider_unreachable'],
  ['is not there', () => json(404, {}), 'provider_garbage'],
  ['sends a page', () => new Response('<html>', { headers: { 'content-type': 'text/html' } }), 'provider_garbage'],
  ['sends no JSON', () => new Response('{"issuer":', { headers: { 'content-type': 'application/json' } }), 'provider_garbage'],
  ['sends a list', () => json(200, []), 'provider_garbage'],
  ['sends null', () => json(200, null), 'provider_garbage'],
  ['sends nothing that counts', () => json(200, { issuer: 7, keys: 'none', access_token: {}, sub: [] }), 'provider_garbage'],
]

describe('a provider whose discovery', () => {
  it.each(troubles)('%s: nobody is sent anywhere, and everybody can try again', async (_what, trouble, reason) => {
    const world = await upstreamWorld()
    world.okta.bend({ answers: { [DISCOVERY]: trouble } })
    const { browser, auth, answer } = await start(world)
    expect(await refused(world, answer, 502, reason)).toContain(`href="/login/okta/start?auth=${auth}"`)
    expect(starts(browser)).toEqual([])
    world.okta.bend({})
    expect((await browser.get(`/login/okta/start?auth=${auth}`)).status).toBe(303)
  })

  it.each<[string, Record<string, unknown>]>([
    ['is of another issuer', { issuer: 'https://evil.example' }],
    ['has a garbage issuer', { issuer: 'okta' }],
    ['names no token endpoint', { token_endpoint: undefined }],
    ['names no keys', { jwks_uri: null }],
    ['sends people to a script', { authorization_endpoint: 'javascript:alert(1)' }],
    ['sends people over http', { authorization_endpoint: 'http://acme.okta.example/authorize' }],
    ['sends us into a private network', { token_endpoint: 'https://169.254.169.254/latest' }],
    ['sends us to ourselves by another name', { userinfo_endpoint: 'https://localhost.localhost/' }],
    ['has its algorithms in a text', { id_token_signing_alg_values_supported: 'ES256' }],
  ])('%s is refused', async (_what, discovery) => {
    const world = await upstreamWorld()
    world.okta.bend({ discovery })
    await refused(world, (await start(world)).answer, 502, 'provider_garbage')
  })

  it('is away does no harm for a day to those it was read for', async () => {
    const world = await upstreamWorld()
    codeOf(await comeBack(world))
    world.okta.bend({ answers: { [DISCOVERY]: () => json(503, {}) } })
    world.store.clock.advance(80_000)
    const before = world.okta.asked.length
    codeOf(await comeBack(world))
    codeOf(await comeBack(world))
    expect(world.okta.asked.slice(before).filter((path) => path === DISCOVERY)).toHaveLength(1)
    world.store.clock.advance(10_000)
    await refused(world, (await start(world)).answer, 502, 'provider_unreachable')
  })

  it('is read once an hour', async () => {
    const world = await upstreamWorld()
    for (let time = 0; time < 3; time++) codeOf(await comeBack(world))
    world.store.clock.advance(3_601)
    codeOf(await comeBack(world))
    expect(world.okta.asked.filter((path) => path === DISCOVERY)).toHaveLength(2)
  })

  it('names no client authentication of ours is not set up', async () => {
    const world = await upstreamWorld()
    world.okta.bend({ discovery: { token_endpoint_auth_methods_supported: ['private_key_jwt'] } })
    await refused(world, await comeBack(world), 503, 'not_set_up')
  })
})

describe.each(['/token', '/jwks', '/userinfo'])('a provider whose %s', (path) => {
  it.each(troubles)('%s: nothing has begun, and the person can try again', async (_what, trouble, reason) => {
    const world = await upstreamWorld()
    const { browser, auth, location } = await sent(world)
    const callback = world.okta.signIn(location, path === '/userinfo' ? {} : ADA)
    world.okta.bend({ answers: { [path]: trouble } })
    const html = await refused(world, await browser.get(callback), 502, reason)
    expect(html).toContain(`href="/login/okta/start?auth=${auth}"`)
    expect(browser.cookies.has('sluis_sso')).toBe(false)

    world.okta.bend({})
    const again = await browser.get(`/login/okta/start?auth=${auth}`)
    codeOf(await browser.get(world.okta.signIn(again.headers.get('location') ?? '', ADA)))
  })
})

describe('a token endpoint that says', () => {
  const token = (status: number, body: unknown, headers = {}): Answers => ({ '/token': () => json(status, body, headers) })

  it.each<[string, Answers, number, string]>([
    ['invalid_client', token(400, { error: 'invalid_client' }), 502, 'client_refused'],
    [
      'invalid_client, with a challenge',
      token(401, { error: 'invalid_client' }, { 'www-authenticate': 'Basic realm="x"' }),
      502,
      'client_refused',
    ],
    ['unauthorized_client', token(400, { error: 'unauthorized_client' }), 502, 'client_refused'],
    ['invalid_grant', token(400, { error: 'invalid_grant' }), 400, 'code_refused'],
    ['something of its own', token(400, { error: 'ada@acme.example' }), 502, 'provider_error'],
    ['a token type nobody knows', token(200, { access_token: 'a', token_type: 'mac', id_token: 'a.b.c' }), 502, 'provider_garbage'],
    ['no ID token', token(200, { access_token: 'a', token_type: 'Bearer' }), 502, 'provider_garbage'],
  ])('%s is taken at its word', async (_what, answers, status, reason) => {
    const world = await upstreamWorld()
    world.okta.bend({ answers })
    await refused(world, await comeBack(world), status, reason)
    expect(world.service.logs.join('\n')).not.toContain('ada@acme.example')
  })
})

describe('this service', () => {
  it('without the client id or the secret says which address lacks one, to its operator', async () => {
    for (const name of ['client-id', 'client-secret']) {
      const world = await upstreamWorld()
      await world.store.adapters().secrets.delete(`internal/oidc/signin/okta/${name}`)
      await refused(world, (await start(world)).answer, 503, 'not_set_up')
      expect(world.service.logs.at(-2)).toContain(`no secret at internal/oidc/signin/okta/${name}`)
    }
  })

  it('whose store is away at the last step says so, and the person can try again', async () => {
    const world = await upstreamWorld()
    let away = false
    const shaky = startService(world.store, (adapters) => ({ ...adapters, state: failing(adapters.state, () => away) }), world.okta.fetch)
    const { browser, auth, location } = await sent({ service: shaky })
    const callback = world.okta.signIn(location, ADA)
    away = true
    const html = await refused({ service: shaky }, await browser.get(callback), 503, 'not_kept')
    away = false
    expect(html).toContain(`href="/login/okta/start?auth=${auth}"`)
    const again = await browser.get(`/login/okta/start?auth=${auth}`)
    codeOf(await browser.get(world.okta.signIn(again.headers.get('location') ?? '', ADA)))
  })

  it('answers whatever query it is sent with a page that is no 500, and logs none of it', async () => {
    const world = await upstreamWorld()
    const { browser, auth, location } = await sent(world)
    const state = new URL(location).searchParams.get('state') ?? ''
    const name = fc.constantFrom('auth', 'state', 'code', 'error', 'iss', 'prompt', 'response', 'id_token', 'token', '__proto__')
    const value = fc.oneof(fc.constantFrom(auth, state, world.okta.issuer, 'login', ''), fc.string({ unit: 'binary' }), fc.string())
    const path = fc.constantFrom('/login/okta/start', '/login/okta/callback', '/login/other/callback', '/login/other/start')
    await fc.assert(
      fc.asyncProperty(path, fc.array(fc.tuple(name, value), { maxLength: 5 }), fc.boolean(), async (at, pairs, raw) => {
        const query = raw
          ? pairs.map(([key, text]) => `${key}=${text.replaceAll('#', '%23')}`).join('&')
          : new URLSearchParams(pairs.map(wellFormed))
        const cookies = [...browser.cookies]
        const { status } = await browser.get(`${at}?${query}`)
        for (const [key, kept] of cookies) browser.cookies.set(key, kept)
        expect(status).not.toBe(500)
      }),
      { numRuns: 150 },
    )
    const logged = world.service.logs.join('\n')
    for (const secret of [auth, state, ...browser.cookies.values()]) expect(logged).not.toContain(secret)
  })
})

function wellFormed([key, text]: [string, string]): [string, string] {
  return [key, text.toWellFormed()]
}

/** A State whose writes of sign-ins fail while it is away. */
function failing(state: State, away: () => boolean): State {
  return {
    ...state,
    create: async (key, ...rest) => {
      if (away() && key.startsWith('sso.')) throw new PortError('Unavailable', 'away')
      return state.create(key, ...rest)
    },
  }
}

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })
}

function brokenOff(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(10))
      controller.error(new TypeError('connection lost'))
    },
  })
}
