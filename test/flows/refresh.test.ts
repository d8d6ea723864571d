import { describe, expect, it } from 'vitest'
import { utf8 } from '../../src/crypto/bytes.ts'
import { PortError } from '../../src/ports/error.ts'
import { errorOf } from './answers.ts'
import { ADA, API, at, basic, GRACE, HOUR, MINUTE, post, refresh, refreshed, startClients, tokensIn } from './clients.ts'
import {
  auditedBesideRefusals,
  claimsOf,
  contents,
  engines,
  redeployed,
  signedIn,
  startService,
  type TestService,
  type TestStore,
  type Tokens,
  userinfo,
} from './harness.ts'

const WEEK = 604_800 // s

/** Refused as not live, with nothing written: so nothing spent and nothing ended. */
async function expectNothingChanged(store: TestStore, ask: () => Promise<Response>, error: string, status = 400): Promise<void> {
  const before = await contents(store)
  expect(await errorOf(await ask(), status)).toMatchObject({ error })
  expect(await contents(store)).toEqual(before)
}

async function expectAlive(service: TestService, tokens: Tokens): Promise<void> {
  expect((await userinfo(service, tokens.access_token)).status).toBe(200)
}

describe.each(engines)('a refresh on %s', (engine) => {
  it('RFC 6749 6, RFC 9700 4.14.2: answers new tokens of the same session, and spends the token presented', async () => {
    const { service, store } = await startClients(engine)
    const first = await signedIn(service)
    store.clock.advance(10)
    const answer = await refresh(service, first.refresh_token)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('pragma')).toBe('no-cache')
    const second = await tokensIn(answer)
    expect(second).toMatchObject({ token_type: 'Bearer', expires_in: HOUR, scope: first.scope })
    expect(second.refresh_token).toMatch(/^slr_[A-Za-z0-9_-]{43}$/)
    expect(
      new Set([first, second].flatMap(({ refresh_token, access_token, id_token }) => [refresh_token, access_token, id_token])).size,
    ).toBe(6)

    const [before, after] = [claimsOf(first.access_token), claimsOf(second.access_token)]
    expect(after.jti).not.toBe(before.jti)
    for (const name of ['sub', 'sid', 'aud', 'client_id', 'scope', 'groups', 'auth_time', 'acr', 'amr'])
      expect(after[name]).toEqual(before[name])
    await expectAlive(service, second)
    await expectAlive(service, first)
    await expectAlive(service, await refreshed(service, second.refresh_token))
  })

  it('OIDC Core 12.2: says in the ID token what the first said, with a time of its own and no nonce', async () => {
    const { service, store } = await startClients(engine)
    const first = await signedIn(service)
    store.clock.advance(10 * MINUTE)
    const second = await refreshed(service, first.refresh_token)
    const { nonce, iat, exp, at_hash: _, ...kept } = claimsOf(first.id_token)
    expect(nonce).toBe('the nonce')
    const { at_hash: __, ...after } = claimsOf(second.id_token)
    expect(after).toEqual({ ...kept, iat: Number(iat) + 600, exp: Number(exp) + 600 })
  })

  it('100 of one token at once are answered with one successor, which is good', async () => {
    const { service, store } = await startClients(engine)
    const isolates = Array.from({ length: 10 }, () => startService(store))
    const { refresh_token } = await signedIn(service)
    const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => refresh(isolates[n % 10] ?? service, refresh_token)))
    const tokens = await Promise.all(answers.map(tokensIn))
    expect(new Set(tokens.map((token) => token.refresh_token)).size).toBe(1)
    await expectAlive(service, await refreshed(service, tokens[0]?.refresh_token ?? ''))
  })

  it.each([0, 1, 6 * HOUR, 11 * HOUR + 59 * MINUTE])('%i s after the sign-in begins twelve idle hours anew', async (refreshedAt) => {
    const { service, store } = await startClients(engine, ({ policy }) => {
      policy.lifetimes.absolute = WEEK
    })
    const [kept, left] = [await signedIn(service), await signedIn(service)]
    store.clock.advance(refreshedAt)
    const [keptNext, leftNext] = [await refreshed(service, kept.refresh_token), await refreshed(service, left.refresh_token)]
    store.clock.advance(11 * HOUR + 59 * MINUTE)
    await expectAlive(service, await refreshed(service, keptNext.refresh_token))
    store.clock.advance(2 * MINUTE)
    expect(await errorOf(await refresh(service, leftNext.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
  })
})

describe('a session', () => {
  it('that is refreshed just within its idle limit lives to its absolute one, and every token ends there', async () => {
    const { service, store } = await startClients('memory', ({ policy }) => {
      policy.lifetimes.absolute = WEEK
    })
    let tokens = await signedIn(service)
    const end = Number(claimsOf(tokens.id_token).auth_time) + WEEK
    const step = 11 * HOUR + 55 * MINUTE
    for (let at = step; at < WEEK; at += step) {
      store.clock.advance(step)
      tokens = await refreshed(service, tokens.refresh_token)
      for (const token of [tokens.access_token, tokens.id_token]) expect(Number(claimsOf(token).exp)).toBeLessThanOrEqual(end)
    }
    store.clock.advance(WEEK - Math.floor(WEEK / step) * step - 1)
    tokens = await refreshed(service, tokens.refresh_token)
    expect([tokens.expires_in, claimsOf(tokens.access_token).exp, claimsOf(tokens.id_token).exp]).toEqual([1, end, end])
    store.clock.advance(1)
    expect(await errorOf(await refresh(service, tokens.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
  })

  it('for a resource with a limit of its own ends there', async () => {
    const { service, store } = await startClients('memory', ({ policy }) => {
      policy.resources[API] = { requires: ['app:demo:user'], absolute_cap: 2 * HOUR }
    })
    const first = await signedIn(service, { resource: API })
    store.clock.advance(90 * MINUTE)
    const second = await refreshed(service, first.refresh_token)
    expect(second.expires_in).toBe(30 * MINUTE)
    store.clock.advance(30 * MINUTE)
    expect((await refresh(service, second.refresh_token)).status).toBe(400)
  })

  it('that reaches a limit which the policy has brought nearer ends, and the audit says why', async () => {
    const { service, store } = await startClients('memory')
    const { refresh_token, access_token } = await signedIn(service)
    store.clock.advance(50 * MINUTE)
    const shorter = startService(
      redeployed(store, ({ policy }) => {
        policy.lifetimes.absolute = 40 * MINUTE
      }),
    )
    expect(await errorOf(await refresh(shorter, refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    expect(auditedBesideRefusals(shorter)).toMatchObject([{ event: 'session.ended', subject: ADA, reason: 'absolute_limit', by: 'system' }])
    expect((await userinfo(service, access_token)).status).toBe(401)
    expect((await refresh(service, refresh_token)).status).toBe(400)
  })

  it('keeps the authentication methods of its sign-in at every refresh', async () => {
    const { service, store } = await startClients('memory')
    let { refresh_token } = await signedIn(service)
    const { state } = store.adapters()
    const [session] = (await state.list('ses.')).entries
    const value = JSON.parse(new TextDecoder().decode(session?.value))
    await state.put(session?.key ?? '', utf8(JSON.stringify({ ...value, amr: ['pwd', 'otp'] })), HOUR)
    for (let n = 0; n < 3; n++) {
      const tokens = await refreshed(service, refresh_token)
      expect([claimsOf(tokens.id_token).amr, claimsOf(tokens.access_token).amr]).toEqual([
        ['pwd', 'otp'],
        ['pwd', 'otp'],
      ])
      refresh_token = tokens.refresh_token
    }
  })

  it('has no refresh token where offline_access was not granted', async () => {
    const { service } = await startClients('memory')
    expect(await signedIn(service, { scope: 'openid email' })).not.toHaveProperty('refresh_token')
  })
})

describe('RFC 6749 6: scope at a refresh', () => {
  it('may be fewer, for the token of this answer only', async () => {
    const { service } = await startClients('memory')
    const first = await signedIn(service)
    const fewer = await refreshed(service, first.refresh_token, { scope: 'email openid' })
    expect(fewer.scope).toBe('openid email')
    expect(claimsOf(fewer.access_token).scope).toBe('openid email')
    expect(claimsOf(fewer.id_token)).not.toHaveProperty('name')
    expect(await (await userinfo(service, fewer.access_token)).json()).not.toHaveProperty('name')
    const all = await refreshed(service, fewer.refresh_token)
    expect(all.scope).toBe(first.scope)
    expect(claimsOf(all.id_token)).toHaveProperty('name')
  })

  it('without openid leaves out the ID token, and userinfo refuses the access token', async () => {
    const { service } = await startClients('memory')
    const { refresh_token } = await signedIn(service)
    const fewer = await refreshed(service, refresh_token, { scope: 'offline_access' })
    expect(fewer).not.toHaveProperty('id_token')
    expect((await userinfo(service, fewer.access_token)).status).toBe(403)
    expect(await refreshed(service, fewer.refresh_token)).toHaveProperty('id_token')
  })

  it.each([
    ['that was not granted', 'openid profile'],
    ['that nobody knows', 'openid admin'],
    ['in another case', 'OPENID'],
    ['that is only spaces', '  '],
    ['that every object has', 'constructor'],
  ])('%s is refused, and spends nothing', async (_what, scope) => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await signedIn(service, { scope: 'openid offline_access' })
    await expectNothingChanged(store, () => refresh(service, refresh_token, { scope }), 'invalid_scope')
    expect(service.audit.events.at(-1)).toMatchObject({ event: 'token.refused', subject: ADA, client: 'demo' })
    expect((await refresh(service, refresh_token)).status).toBe(200)
  })
})

describe('RFC 8707 2.2: resource at a refresh', () => {
  it('is the one of the session, said or not', async () => {
    const { service } = await startClients('memory')
    const first = await signedIn(service, { resource: API })
    const second = await refreshed(service, first.refresh_token, { resource: API })
    const third = await refreshed(service, second.refresh_token)
    for (const tokens of [second, third]) expect(claimsOf(tokens.access_token).aud).toBe(API)
  })

  it.each([
    ['another one', API, 'https://other.acme.example'],
    ['one that is not declared', API, 'https://nowhere.acme.example'],
    ['one where the session has none', undefined, API],
    ['no URI', API, 'api'],
  ])('that is %s is refused, and spends nothing', async (_what, granted, resource) => {
    const { service, store } = await startClients('memory', ({ policy }) => {
      policy.resources['https://other.acme.example'] = { requires: ['app:demo:user'] }
    })
    const { refresh_token } = await signedIn(service, { resource: granted })
    await expectNothingChanged(store, () => refresh(service, refresh_token, { resource }), 'invalid_target')
    expect((await refresh(service, refresh_token)).status).toBe(200)
  })
})

describe('what changed since the last refresh', () => {
  it('in the groups of the person stands in the new tokens', async () => {
    const { service, store } = await startClients('memory')
    const first = await at(service, 'native', { scope: 'openid offline_access' })
    expect(claimsOf(first.access_token).groups).toContain('app:console:operator')
    const moved = startService(
      redeployed(store, ({ service }) => {
        for (const person of service.directory.people) person.groups = ['finance@acme.example']
      }),
    )
    const { access_token, id_token } = await refreshed(moved, first.refresh_token, { client_id: 'native' })
    for (const token of [access_token, id_token]) expect(claimsOf(token).groups).toEqual(['app:demo:user', 'emp:all'])
    expect(await (await userinfo(moved, access_token)).json()).toMatchObject({ groups: ['app:demo:user', 'emp:all'] })
  })

  it.each<[string, (documents: TestStore['documents']) => void]>([
    [
      'the client asks for a group that the person lacks',
      ({ policy }) => Object.assign(policy.clients.demo ?? {}, { requires: ['app:none'] }),
    ],
    [
      'the resource asks for a group that the person lacks',
      ({ policy }) => Object.assign(policy.resources[API] ?? {}, { requires: ['app:none'] }),
    ],
    [
      'the person has left the group',
      ({ service }) => {
        for (const person of service.directory.people) person.groups = []
      },
    ],
    ['the resource is gone', ({ policy }) => void delete policy.resources[API]],
  ])('where %s: refused, the session stands, and a policy that admits them again finds it', async (_what, edit) => {
    const { service, store } = await startClients('memory')
    const tokens = await signedIn(service, { resource: API })
    const strict = startService(redeployed(store, edit))
    await expectNothingChanged(store, () => refresh(strict, tokens.refresh_token), 'invalid_grant')
    await expectAlive(service, tokens)
    expect((await refresh(service, tokens.refresh_token)).status).toBe(200)
  })

  it('is audited when the person is not admitted any more', async () => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await signedIn(service)
    const strict = startService(redeployed(store, ({ policy }) => Object.assign(policy.clients.demo ?? {}, { requires: ['app:none'] })))
    await refresh(strict, refresh_token)
    expect(strict.audit.events).toMatchObject([{ event: 'token.refused', subject: ADA, client: 'demo' }])
  })

  it('where the client is gone: it is nobody, and the session stands', async () => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await signedIn(service)
    const strict = startService(redeployed(store, ({ policy }) => void delete policy.clients.demo))
    await expectNothingChanged(store, () => refresh(strict, refresh_token), 'invalid_client', 401)
    expect((await refresh(service, refresh_token)).status).toBe(200)
  })

  it.each<[string, (documents: TestStore['documents']) => void]>([
    [
      'has suspended',
      ({ service }) => {
        for (const person of service.directory.people) person.suspended = person.email === ADA
      },
    ],
    ['no longer has', ({ service }) => void service.directory.people.splice(0, 1)],
  ])('where the directory %s the person: that session ends, and nobody else’s', async (_what, edit) => {
    const { service, store } = await startClients('memory')
    const [tokens, elsewhere, grace] = [await signedIn(service), await at(service, 'native'), await at(service, 'demo', { person: GRACE })]
    const disowned = startService(redeployed(store, edit))
    expect(await errorOf(await refresh(disowned, tokens.refresh_token), 400)).toMatchObject({ error: 'invalid_grant' })
    const sid = claimsOf(tokens.id_token).sid
    expect(auditedBesideRefusals(disowned)).toMatchObject([
      { event: 'session.ended', subject: ADA, session: sid, reason: 'account_removed', by: 'system' },
    ])
    expect((await userinfo(service, tokens.access_token)).status).toBe(401)
    expect((await refresh(service, tokens.refresh_token)).status).toBe(400)
    await expectAlive(service, elsewhere)
    expect((await refresh(disowned, grace.refresh_token)).status).toBe(200)
  })

  it('can not be asked while the directory is away: 503, and nothing ends', async () => {
    const { service, store } = await startClients('memory')
    const tokens = await signedIn(service)
    const { issuer } = service.services
    const { directory } = issuer
    issuer.directory = { resolve: () => Promise.reject(new PortError('Unavailable', 'the directory is away')) }
    await expectNothingChanged(store, () => refresh(service, tokens.refresh_token), 'temporarily_unavailable', 503)
    expect((await refresh(service, tokens.refresh_token)).headers.get('retry-after')).toMatch(/^[1-9][0-9]*$/)
    issuer.directory = directory
    await expectAlive(service, tokens)
    expect((await refresh(service, tokens.refresh_token)).status).toBe(200)
  })
})

describe('RFC 6749 5.2: a refresh is refused', () => {
  it.each<[string, (tokens: Tokens) => string]>([
    ['a word', () => 'garbage'],
    ['an access token', ({ access_token }) => access_token],
    ['an ID token', ({ id_token }) => id_token],
    ['a refresh token cut short', ({ refresh_token }) => refresh_token.slice(0, -1)],
    ['a refresh token and a letter', ({ refresh_token }) => `${refresh_token}A`],
    ['a refresh token in upper case', ({ refresh_token }) => refresh_token.toUpperCase()],
    ['a refresh token without its prefix', ({ refresh_token }) => refresh_token.slice(4)],
    ['a session id', ({ id_token }) => String(claimsOf(id_token).sid)],
  ])('of %s, and nothing ends', async (_what, presented) => {
    const { service, store } = await startClients('memory')
    const tokens = await signedIn(service)
    await expectNothingChanged(store, () => refresh(service, presented(tokens)), 'invalid_grant')
  })

  it('of a token of another instance', async () => {
    const [here, elsewhere] = [await startClients('memory'), await startClients('memory')]
    const { refresh_token } = await signedIn(elsewhere.service)
    await expectNothingChanged(here.store, () => refresh(here.service, refresh_token), 'invalid_grant')
  })

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['another public client', { client_id: 'native' }, {}],
    ['another client that proved itself', { client_id: 'backend' }, basic('backend')],
  ])('to %s, and the token stays good for its own', async (_who, changes, headers) => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await signedIn(service)
    await expectNothingChanged(store, () => refresh(service, refresh_token, changes, headers), 'invalid_grant')
    expect((await refresh(service, refresh_token)).status).toBe(200)
  })

  it.each<[string, Record<string, string>]>([
    ['without its secret', {}],
    ['with another’s', { authorization: `Basic ${btoa('backend:secret of gateway')}` }],
    ['as somebody else', { authorization: `Basic ${btoa('backend:wrong')}` }],
  ])('to a confidential client %s, and the token stays good', async (_how, headers) => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await at(service, 'backend')
    const ask = () =>
      post(
        service,
        '/token',
        { grant_type: 'refresh_token', refresh_token, ...(headers.authorization ? {} : { client_id: 'backend' }) },
        headers,
      )
    await expectNothingChanged(store, ask, 'invalid_client', 401)
    expect((await refresh(service, refresh_token, { client_id: 'backend' }, basic('backend'))).status).toBe(200)
  })

  it('without a token, and with two', async () => {
    const { service, store } = await startClients('memory')
    const { refresh_token } = await signedIn(service)
    const body = `grant_type=refresh_token&client_id=demo`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const more of ['', '&refresh_token=', `&refresh_token=${refresh_token}&refresh_token=${refresh_token}`]) {
      await expectNothingChanged(store, () => service.fetch('/token', { method: 'POST', body: body + more, headers }), 'invalid_request')
    }
  })
})
