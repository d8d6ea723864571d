import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { isolate, random, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import type { Client } from '../config/policy.ts'
import { signingAlg } from '../config/values.ts'
import { logoutToken } from './logout-token.ts'

const url = 'https://id.acme.example'
const client: Client = { kind: 'public', redirects: [], signed_out: [], requires: ['emp:all'], device: false }
const ended = { client_id: 'payroll', subject: 'ada@acme.example', sid: 's1' }

function arranged() {
  const { state, clock } = watchedState()
  const keyring = isolate({ state, clock, settings: settings({ rings: [...signingAlg.options] }) })
  return { parts: { url, keyring, clock, random }, keyring, clock }
}

/** What a relying party does with a logout token (Back-Channel Logout 1.0 section 2.6), for its own id and the algorithm of its ID tokens. */
async function validated(token: string, { keyring, clock }: ReturnType<typeof arranged>, alg: string) {
  const { payload } = await jwtVerify(token, createLocalJWKSet({ keys: (await keyring.keySet()).keys }), {
    typ: 'logout+jwt',
    algorithms: [alg],
    issuer: url,
    audience: 'payroll',
    requiredClaims: ['iat', 'exp', 'jti', 'events'],
    currentDate: new Date(clock.now()),
  })
  const { sub, sid, events } = payload
  expect(sub !== undefined || sid !== undefined).toBe(true)
  expect(events).toHaveProperty(['http://schemas.openid.net/event/backchannel-logout'])
  expect(payload).not.toHaveProperty('nonce')
  return payload
}

describe('a logout token', () => {
  it('is what a relying party validates, and says no more than it must', async () => {
    const at = arranged()
    const payload = await validated(await logoutToken(ended, client, at.parts), at, 'ES256')
    const iat = at.clock.seconds()
    expect(payload).toEqual({
      iss: url,
      sub: 'ada@acme.example',
      aud: 'payroll',
      iat,
      exp: iat + 120,
      jti: expect.stringMatching(/^[\w-]{22}$/),
      sid: 's1',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
  })

  it.each(signingAlg.options)('is signed with the algorithm the client pins, %s', async (alg) => {
    const at = arranged()
    await validated(await logoutToken(ended, { ...client, signing_alg: alg }, at.parts), at, alg)
  })

  it('is refused two minutes later', async () => {
    const at = arranged()
    const token = await logoutToken(ended, client, at.parts)
    at.clock.move(121)
    await expect(validated(token, at, 'ES256')).rejects.toMatchObject({ code: 'ERR_JWT_EXPIRED' })
  })

  it('has a jti of its own at every attempt', async () => {
    const { parts } = arranged()
    const tokens = await Promise.all([1, 2, 3].map(() => logoutToken(ended, client, parts)))
    expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(3)
  })
})
