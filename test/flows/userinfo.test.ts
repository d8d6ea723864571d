import { SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { encodeBase64url } from '../../src/crypto/base64url.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import { keys, type PersonId, personId } from '../../src/ports/keys.ts'
import type { State } from '../../src/ports/state.ts'
import { markSessionEnded } from '../../src/records/session.ts'
import { errorOf } from './answers.ts'
import { claimsOf, contents, redeployed, signedIn, startService, type TestStore, testStore } from './harness.ts'

const store = testStore('memory')
const service = startService(store)
const { access_token, id_token, refresh_token } = await signedIn(service)
const published = await (await service.fetch('/keys')).json<{ keys: { kid: string; alg: string }[] }>()
const publicKey = published.keys.find(({ alg }) => alg === 'ES256')
const kid = publicKey?.kid ?? ''
const [header = '', payload = '', signature = ''] = access_token.split('.')

function bearer(token: string, scheme = 'Bearer'): RequestInit {
  return { headers: { authorization: `${scheme} ${token}` } }
}

function form(body: string, headers: Record<string, string> = {}): RequestInit {
  return { method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers } }
}

function encoded(value: unknown): string {
  return encodeBase64url(utf8(JSON.stringify(value)))
}

describe('OIDC Core 5.3.1, RFC 6750 2: userinfo is answered', () => {
  it.each<[string, RequestInit]>([
    ['by GET, with the token in the header', bearer(access_token)],
    ['by GET, with the scheme in another case', bearer(access_token, 'bearer')],
    ['by POST, with the token in the header', { ...bearer(access_token), method: 'POST' }],
    ['by POST of JSON, with the token in the header', { ...bearer(access_token), method: 'POST', body: '{}' }],
    ['by POST, with the token in the form', form(`access_token=${access_token}`)],
  ])('%s', async (_what, init) => {
    const before = await contents(store)
    const answer = await service.fetch('/userinfo', init)
    expect(answer.status).toBe(200)
    expect(Object.fromEntries(answer.headers)).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' })
    expect(await answer.json()).toMatchObject({ sub: 'ada@acme.example', email: 'ada@acme.example', groups: ['app:demo:user'] })
    expect(await contents(store)).toEqual(before)
  })

  it('to HEAD, without its body', async () => {
    const answer = await service.fetch('/userinfo', { ...bearer(access_token), method: 'HEAD' })
    expect([answer.status, await answer.text()]).toEqual([200, ''])
  })
})

describe('RFC 6750 3.1: who presents no token is told the scheme, and nothing of a token', () => {
  it.each<[string, string, RequestInit]>([
    ['no token', '/userinfo', {}],
    ['a token in the query, where logs would keep it', `/userinfo?access_token=${access_token}`, {}],
    ['a token in the query of a POST', `/userinfo?access_token=${access_token}`, form('')],
    ['an empty token in the form', '/userinfo', form('access_token=')],
    [
      'a token in a form that says it is none',
      '/userinfo',
      { method: 'POST', body: `access_token=${access_token}`, headers: { 'content-type': 'text/plain' } },
    ],
    ['another scheme', '/userinfo', bearer(access_token, 'Basic')],
    ['the scheme alone', '/userinfo', { headers: { authorization: 'Bearer' } }],
    ['two words after the scheme', '/userinfo', bearer(`${access_token} x`)],
    ['a cookie', '/userinfo', { headers: { cookie: `access_token=${access_token}` } }],
  ])('%s', async (_what, path, init) => {
    const answer = await service.fetch(path, init)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    await errorOf(answer, 401)
  })
})

describe('RFC 6750 2: one token, one way', () => {
  it.each<[string, RequestInit]>([
    ['in the header and in the form', form(`access_token=${access_token}`, { authorization: `Bearer ${access_token}` })],
    ['twice in the form', form(`access_token=${access_token}&access_token=${access_token}`)],
  ])('%s is a bad request', async (_what, init) => {
    expect(await errorOf(await service.fetch('/userinfo', init), 400)).toMatchObject({ error: 'invalid_request' })
  })

  it('a form over 16 KiB is too large', async () => {
    const answer = await service.fetch('/userinfo', form(`access_token=${access_token}&${'a'.repeat(17_000)}`))
    expect(await errorOf(answer, 413)).toMatchObject({ error: 'invalid_request' })
  })
})

const renamed = redeployed(store, ({ service }) => {
  service.issuer = 'http://127.0.0.1:8787'
})

async function accessTokenOf(elsewhere: TestStore): Promise<string> {
  return (await signedIn(startService(elsewhere))).access_token
}

const ENDED = { ms: store.clock.now(), ttl: 600 }

/** A token of a sign-in of its own, after something has happened to its records. */
async function ownToken(happens: (state: State, of: { person: PersonId; sid: string; jti: string }) => Promise<void>): Promise<string> {
  const { access_token } = await signedIn(service)
  const { sub, sid, jti } = claimsOf(access_token)
  await happens(store.adapters().state, { person: personId(String(sub)), sid: String(sid), jti: String(jti) })
  return access_token
}

describe('RFC 6750 3.1: a token that is not live is refused with invalid_token', () => {
  it.each<[string, () => string | Promise<string>]>([
    ['garbage', () => 'garbage'],
    ['three dots', () => '...'],
    ['a refresh token', () => refresh_token],
    ['an ID token: RFC 9068 4, its typ is another', () => id_token],
    [
      'a token of ours that says the same and is no access token',
      () => service.services.issuer.keyring.sign('ES256', 'JWT', claimsOf(access_token)),
    ],
    ['a token without its signature', () => `${header}.${payload}.`],
    ['a token with another’s signature', async () => `${header}.${payload}.${(await accessTokenOf(store)).split('.')[2]}`],
    ['a token with a claim changed', () => `${header}.${encoded({ ...claimsOf(access_token), sub: 'grace@acme.example' })}.${signature}`],
    ['RFC 8725 3.1: alg none', () => `${encoded({ alg: 'none', typ: 'at+jwt' })}.${payload}.`],
    ['RFC 8725 3.1: alg none under our kid', () => `${encoded({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`],
    [
      'RFC 8725 3.1: HS256 with our public key as its secret',
      () => {
        const secret = utf8(JSON.stringify(publicKey))
        return new SignJWT(claimsOf(access_token)).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid }).sign(secret)
      },
    ],
    [
      'RFC 8725 3.10: a kid that is a path',
      () => `${encoded({ alg: 'ES256', typ: 'at+jwt', kid: '../../rec.maintenance' })}.${payload}.${signature}`,
    ],
    ['a token of an issuer that has our name and other keys', () => accessTokenOf(testStore('memory'))],
    ['a token of an issuer that has our keys and another name', () => accessTokenOf(renamed)],
    ['a token whose session has ended', () => ownToken((state, { person, sid }) => markSessionEnded(state, person, sid, ENDED))],
    ['a token whose session is gone', () => ownToken((state, { person, sid }) => state.delete(keys.session(person, sid)))],
    ['a token that was revoked', () => ownToken((state, { jti }) => state.delete(keys.token(jti)))],
    [
      'a token whose record can not be read',
      () => ownToken(async (state, { jti }) => void (await state.put(keys.token(jti), utf8('{'), 600))),
    ],
  ])('%s', async (_what, tokenOf) => {
    const answer = await service.fetch('/userinfo', bearer(await tokenOf()))
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="invalid_token", error_description="[^"]+"$/)
    expect(await errorOf(answer, 401)).toMatchObject({ error: 'invalid_token' })
  })

  it('at the second it expires, and not before', async () => {
    const own = testStore('memory')
    const at = startService(own)
    const { access_token } = await signedIn(at)
    own.clock.advance(3_599)
    expect((await at.fetch('/userinfo', bearer(access_token))).status).toBe(200)
    own.clock.advance(1)
    expect(await errorOf(await at.fetch('/userinfo', bearer(access_token)), 401)).toMatchObject({ error: 'invalid_token' })
  })

  it('that has expired, also when its record still stands', async () => {
    const own = testStore('memory')
    const at = startService(own)
    const { access_token } = await signedIn(at)
    const { state } = own.adapters()
    const key = keys.token(String(claimsOf(access_token).jti))
    await state.put(key, (await state.get(key))?.value ?? utf8(''), 86_400)
    own.clock.advance(3_600)
    expect(await errorOf(await at.fetch('/userinfo', bearer(access_token)), 401)).toMatchObject({ error: 'invalid_token' })
  })

  it('the token that the others were made from is live all the while', async () => {
    expect((await service.fetch('/userinfo', bearer(access_token))).status).toBe(200)
  })
})

it('RFC 6750 3.1: a token without scope openid is refused with insufficient_scope, and the scope that would do', async () => {
  const { access_token } = await signedIn(service, { scope: 'profile email' })
  const answer = await service.fetch('/userinfo', bearer(access_token))
  expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="insufficient_scope", error_description="[^"]+", scope="openid"$/)
  expect(await errorOf(answer, 403)).toMatchObject({ error: 'insufficient_scope' })
  expect(service.audit.events.at(-1)).toMatchObject({ event: 'userinfo.refused', subject: 'ada@acme.example', client: 'demo' })
})
