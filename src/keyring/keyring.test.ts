import * as fc from 'fast-check'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { claims, isolate, random, START, sealer, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import { localSealer } from '../adapters/local/sealer.ts'
import { signingAlg } from '../config/values.ts'
import { encodeBase64, encodeBase64url } from '../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Sealer } from '../ports/sealer.ts'
import { generateKeyPair, importPrivateKey } from './key-pair.ts'
import { slotKid } from './slot.ts'

const FIRST_KID = await slotKid({ instance: 'acme', alg: 'ES256', period: 0, counter: 0 })
const ANOTHER = await generateKeyPair('ES256')

describe('a token', () => {
  it.each(signingAlg.options)('of ring %s verifies against the key set, with kid, alg and typ in its header', async (alg) => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock, settings: settings({ default: alg }) })

    const token = await keyring.sign(alg, 'at+jwt', claims(clock))

    const { keys: published } = await keyring.keySet()
    const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet({ keys: published }), {
      currentDate: new Date(clock.now()),
    })
    expect(protectedHeader).toEqual({ alg, typ: 'at+jwt', kid: published[0]?.kid })
    expect(payload).toEqual(claims(clock))
  })

  it('without iat or exp, or that outlives the longest token, is not signed', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    const { sub, iat, exp } = claims(clock)
    await expect(keyring.sign('ES256', 'JWT', { sub, exp })).rejects.toThrow(TypeError)
    await expect(keyring.sign('ES256', 'JWT', { sub, iat })).rejects.toThrow(TypeError)
    await expect(keyring.sign('ES256', 'JWT', { sub, iat, exp: exp + 1 })).rejects.toThrow(TypeError)
  })

  it('of a ring that is not configured is not signed', async () => {
    const { state, clock } = watchedState()
    await expect(isolate({ state, clock }).sign('RS256', 'JWT', claims(clock))).rejects.toMatchObject({ code: 'Unsupported' })
  })
})

describe('the first key of a ring', () => {
  it('stands in its slot with its private half sealed, active at once', async () => {
    const { state, clock } = watchedState()
    await isolate({ state, clock }).sign('ES256', 'JWT', claims(clock))

    const record = await recordAt(state, keys.signingKey('ES256', FIRST_KID))
    expect(record).toEqual({
      id: FIRST_KID,
      jwk: { kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String), kid: FIRST_KID, alg: 'ES256', use: 'sig' },
      alg: 'ES256',
      seenAt: '2027-01-15T08:00:00Z',
      activateAt: '2027-01-15T08:00:00Z',
      wrapped: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      context: { instance: 'acme', purpose: 'sign' },
    })
  })

  it('of every configured ring is published before anything is signed with it, the default first', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock, settings: settings({ default: 'EdDSA', rings: ['ES256', 'EdDSA', 'ES384'] }) })
    const { keys: published } = await keyring.keySet()
    expect(published.map(({ alg }) => alg)).toEqual(['EdDSA', 'ES256', 'ES384'])
    expect(keyring.algs).toEqual(['EdDSA', 'ES256', 'ES384'])
    expect(published.flatMap((jwk) => Object.keys(jwk)).sort()).not.toContain('d')
  })

  it('is not made by a verification', async () => {
    const { state, clock } = watchedState()
    const token = await isolate({ ...watchedState(), clock }).sign('ES256', 'JWT', claims(clock))
    expect(await isolate({ state, clock }).verify(token, { typ: ['JWT'] })).toBeNull()
    expect((await state.list('keyring.')).entries).toEqual([])
  })

  it('is not generated where the store has one, also by an isolate that held the ring as empty', async () => {
    const { state, clock } = watchedState()
    const early = isolate({ state, clock, generate: noGenerating })
    const stranger = await isolate({ ...watchedState(clock), instance: 'other' }).sign('ES256', 'JWT', claims(clock))
    expect(await early.verify(stranger, { typ: ['JWT'] })).toBeNull()
    await isolate({ state, clock }).sign('ES256', 'JWT', claims(clock))

    const late = isolate({ state, clock, generate: noGenerating })
    expect(decodeProtectedHeader(await early.sign('ES256', 'JWT', claims(clock))).kid).toBe(FIRST_KID)
    expect(decodeProtectedHeader(await late.sign('ES256', 'JWT', claims(clock))).kid).toBe(FIRST_KID)
  })

  it('of a ring whose keys were all retired is of the running period', async () => {
    const { state, clock } = watchedState()
    await state.put(keys.retiredSigningKey('ES256', FIRST_KID), utf8('1'), 60)
    const { kid } = decodeProtectedHeader(await isolate({ state, clock }).sign('ES256', 'JWT', claims(clock)))
    expect(kid).toBe(await slotKid({ instance: 'acme', alg: 'ES256', period: START - (START % 86_400), counter: 0 }))
  })

  it('is not kept when the sealer that sealed it can not open it', async () => {
    const { state, clock } = watchedState()
    const sealsOnly: Sealer = { ...sealer, open: () => Promise.reject(new PortError('Unsupported', 'no')) }
    await expect(isolate({ state, clock, sealer: sealsOnly }).sign('ES256', 'JWT', claims(clock))).rejects.toMatchObject({
      code: 'Unavailable',
    })
    expect((await state.list('keyring.')).entries).toEqual([])
  })

  it('is not made over a record in its slot that can not be read', async () => {
    const { state, clock } = watchedState()
    const key = keys.signingKey('ES256', FIRST_KID)
    await state.put(key, utf8('{"id":'), 600)
    const keyring = isolate({ state, clock })

    const refusal = { code: 'Unavailable', message: expect.stringContaining(FIRST_KID) }
    await expect(keyring.sign('ES256', 'JWT', claims(clock))).rejects.toMatchObject(refusal)
    await expect(keyring.keySet()).rejects.toMatchObject(refusal)
    expect(fromUtf8((await state.get(key))?.value ?? utf8(''))).toBe('{"id":')
    expect(keyring.lines).toContainEqual(expect.objectContaining({ level: 'warn', event: 'record.unreadable' }))
  })
})

describe('the key set', () => {
  it('may not be kept while a key is young that signed unpublished, then for five minutes', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    expect(await keyring.keySet()).toMatchObject({ maxAge: 0 })
    clock.move(899)
    expect(await keyring.keySet()).toMatchObject({ maxAge: 0 })
    clock.move(1)
    expect(await keyring.keySet()).toMatchObject({ maxAge: 300 })
  })

  it('may be kept for a third of the time a key is published before it signs', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock, settings: settings({ prepublish: 600 }) })
    await keyring.keySet()
    clock.move(900)
    expect(await keyring.keySet()).toMatchObject({ maxAge: 200 })
  })

  it('may be kept although a key waits in it: that one is published before it signs', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    await keyring.keySet()
    clock.move(1_000)
    await adopt(state, 'next', { seenAt: clock.seconds(), activateAt: clock.seconds() + 900 })
    clock.move(60)
    const { keys: published, maxAge } = await keyring.keySet()
    expect(published.map(({ kid }) => kid)).toEqual(['next', FIRST_KID])
    expect(maxAge).toBe(300)
  })

  it('holds keys of rings that are no longer configured', async () => {
    const { state, clock } = watchedState()
    const before = isolate({ state, clock, settings: settings({ rings: ['ES256', 'EdDSA'] }) })
    await before.keySet()
    const token = await before.sign('EdDSA', 'JWT', claims(clock))

    const after = isolate({ state, clock })
    expect((await after.keySet()).keys.map(({ alg }) => alg)).toEqual(['ES256', 'EdDSA'])
    expect(await after.verify(token, { typ: ['JWT'] })).not.toBeNull()
  })
})

describe('a warm isolate', () => {
  it('signs, publishes and verifies without the store and the sealer', async () => {
    const { state, clock, calls } = watchedState()
    const opening = countingSealer()
    const keyring = isolate({ state, clock, sealer: opening })
    await keyring.keySet()
    const token = await keyring.sign('ES256', 'JWT', claims(clock))

    const [stored, unsealed] = [calls(), opening.opened()]
    await keyring.sign('ES256', 'JWT', claims(clock))
    await keyring.keySet()
    await keyring.verify(token, { typ: ['JWT'] })
    expect([calls(), opening.opened()]).toEqual([stored, unsealed])
  })

  it('knows of a change after a minute', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    await keyring.keySet()
    await adopt(state, 'next', { seenAt: START, activateAt: START + 900 })
    clock.move(59)
    expect((await keyring.keySet()).keys).toHaveLength(1)
    clock.move(1)
    expect((await keyring.keySet()).keys).toHaveLength(2)
  })

  it('reads again when the clock has stepped back', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    await keyring.keySet()
    await adopt(state, 'next', { seenAt: START, activateAt: START + 900 })
    clock.move(-3_600)
    expect((await keyring.keySet()).keys).toHaveLength(2)
  })

  it('opens a key once, however often its record is read', async () => {
    const { state, clock } = watchedState()
    const opening = countingSealer()
    await isolate({ state, clock }).keySet()
    const keyring = isolate({ state, clock, sealer: opening })
    for (let minute = 0; minute < 3; minute++) {
      await keyring.sign('ES256', 'JWT', claims(clock))
      clock.move(61)
    }
    expect(opening.opened()).toBe(1)
  })
})

describe('a store that fails', () => {
  it('leaves a cold isolate without keys, and makes none', async () => {
    const { state, clock, down } = watchedState()
    down(true)
    const keyring = isolate({ state, clock, generate: noGenerating })
    await expect(keyring.sign('ES256', 'JWT', claims(clock))).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(keyring.keySet()).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('leaves a warm isolate signing and publishing what it holds, and is asked again after ten seconds', async () => {
    const { state, clock, down, calls } = watchedState()
    const keyring = isolate({ state, clock })
    await keyring.keySet()
    clock.move(60)
    down(true)

    const token = await keyring.sign('ES256', 'JWT', claims(clock))
    expect(keyring.lines).toContainEqual(expect.objectContaining({ event: 'keyring.store_unreadable' }))
    const asked = calls()
    expect((await keyring.keySet()).keys).toHaveLength(1)
    expect(await keyring.verify(token, { typ: ['JWT'] })).not.toBeNull()
    expect(calls()).toBe(asked)

    down(false)
    await adopt(state, 'next', { seenAt: clock.seconds(), activateAt: clock.seconds() + 900 })
    clock.move(10)
    expect((await keyring.keySet()).keys).toHaveLength(2)
  })

  it('is no reason to call a token not ours', async () => {
    const { state, clock, down } = watchedState()
    const keyring = isolate({ state, clock })
    const other = isolate({ ...watchedState(clock), instance: 'other' })
    const token = await other.sign('ES256', 'JWT', claims(clock))
    await keyring.keySet()
    down(true)
    await expect(keyring.verify(token, { typ: ['JWT'] })).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(keyring.verify(token, { typ: ['JWT'] })).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

describe('a verification', () => {
  it('takes a token of ours whatever its age, and gives its header and claims', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    const token = await keyring.sign('ES256', 'JWT', claims(clock))
    const signed = claims(clock)
    clock.move(7 * 86_400)
    expect(await keyring.verify(token, { typ: ['at+jwt', 'JWT'] })).toEqual({
      header: { alg: 'ES256', kid: FIRST_KID, typ: 'JWT' },
      payload: signed,
    })
  })

  it('takes a token at once that another isolate signed with a newer key', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    await keyring.keySet()
    await adopt(state, 'next', { seenAt: START - 899, activateAt: START + 1 })
    clock.move(1)
    const token = await isolate({ state, clock }).sign('ES256', 'JWT', claims(clock))
    expect(decodeProtectedHeader(token).kid).toBe('next')
    expect(await keyring.verify(token, { typ: ['JWT'] })).not.toBeNull()
  })

  it('reads the store for unknown kids once in ten seconds at most', async () => {
    const { state, clock, calls } = watchedState()
    const keyring = isolate({ state, clock })
    const other = isolate({ ...watchedState(clock), instance: 'other' })
    const token = await other.sign('ES256', 'JWT', claims(clock))
    await keyring.keySet()
    await keyring.verify(token, { typ: ['JWT'] })

    const before = calls()
    for (let second = 0; second < 10; second++) {
      expect(await keyring.verify(token, { typ: ['JWT'] })).toBeNull()
      clock.move(1)
    }
    expect(calls()).toBe(before)
    await keyring.verify(token, { typ: ['JWT'] })
    expect(calls()).toBeGreaterThan(before)
  })

  it('refuses another type, another signature, another algorithm and none at all', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock, settings: settings({ rings: ['ES256', 'ES384'] }) })
    const token = await keyring.sign('ES256', 'JWT', claims(clock))
    const [header = '', payload = '', signature = ''] = token.split('.')
    const withHeader = (fields: Record<string, unknown>) =>
      `${part({ alg: 'ES256', kid: FIRST_KID, typ: 'JWT', ...fields })}.${payload}.${signature}`
    const { keys: published } = await keyring.keySet()
    const publicKeyAsSecret = utf8(JSON.stringify(published[0]))
    const confused = new SignJWT(claims(clock)).setProtectedHeader({ alg: 'HS256', kid: FIRST_KID, typ: 'JWT' }).sign(publicKeyAsSecret)

    const refused = [
      [token, ['at+jwt']],
      [`${header}.${part({ ...claims(clock), sub: 'eve@acme.example' })}.${signature}`, ['JWT']],
      [`${header}.${payload}.${'A'.repeat(86)}`, ['JWT']],
      [`${header}.${payload}.`, ['JWT']],
      [`${header}.${payload}`, ['JWT']],
      [`${token}.`, ['JWT']],
      [`${part({ alg: 'none', typ: 'JWT' })}.${payload}.`, ['JWT']],
      [`${part({ alg: 'none', kid: FIRST_KID, typ: 'JWT' })}.${payload}.`, ['JWT']],
      [withHeader({ alg: 'ES384' }), ['JWT']],
      [withHeader({ kid: undefined }), ['JWT']],
      [withHeader({ typ: undefined }), ['JWT']],
      [withHeader({ crit: ['exp'], exp: 1 }), ['JWT']],
      [withHeader({ crit: ['b64'], b64: false }), ['JWT']],
      [await confused, ['JWT']],
      ['', ['JWT']],
      ['...', ['JWT']],
    ] as const
    for (const [presented, typ] of refused) expect(await keyring.verify(presented, { typ }), presented).toBeNull()
    expect(await keyring.verify(token, { typ: ['JWT'] })).not.toBeNull()
  })

  it('refuses what our key signed that is no set of claims', async () => {
    const { state, clock } = watchedState()
    const pair = await adopt(state, 'mine', { seenAt: START, activateAt: START })
    const signer = await importPrivateKey('ES256', pair.pkcs8, pair.publicKey)
    const keyring = isolate({ state, clock })
    for (const payload of ['[]', 'null', '"sub"', '{', '\xff']) {
      const input = `${part({ alg: 'ES256', kid: 'mine', typ: 'JWT' })}.${encodeBase64url(utf8(payload))}`
      const signature = signer && (await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, signer, utf8(input)))
      expect(
        await keyring.verify(`${input}.${encodeBase64url(new Uint8Array(signature ?? new ArrayBuffer()))}`, { typ: ['JWT'] }),
      ).toBeNull()
    }
  })

  it('never throws on what is no token', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    const token = await keyring.sign('ES256', 'JWT', claims(clock))
    const damaged = fc
      .tuple(fc.nat(token.length), fc.nat(8), fc.string({ unit: 'binary', maxLength: 8 }))
      .map(([at, cut, put]) => token.slice(0, at) + put + token.slice(at + cut))
    const nearHeader = fc
      .record({ alg: fc.constantFrom('ES256', 'RS256', 'EdDSA', 'none'), kid: fc.constantFrom(FIRST_KID, 'x'), typ: fc.constant('JWT') })
      .chain((header) => fc.string({ unit: 'binary' }).map((rest) => `${part(header)}.${rest}`))
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: 'binary' }), damaged, nearHeader), async (text) => {
        const verified = await keyring.verify(text, { typ: ['JWT'] })
        if (verified !== null) expect(verified.payload).toEqual(claims(clock))
      }),
      { numRuns: 500 },
    )
  })
})

describe('a ring found in the store', () => {
  it('signs with a key of another making, sealed under the context its record states', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'kA7-_random-by-go', {
      seenAt: '2027-01-15T07:00:00.123456789Z',
      activateAt: START - 3_600,
      context: { instance: 'acme', purpose: 'sluis-signing', alg: 'ES256', kid: 'kA7-_random-by-go' },
    })
    const keyring = isolate({ state, clock })
    const token = await keyring.sign('ES256', 'JWT', claims(clock))
    expect(decodeProtectedHeader(token).kid).toBe('kA7-_random-by-go')
    expect((await state.list('keyring.')).entries).toHaveLength(1)
  })

  it('publishes a key waiting for its activation and signs with it from then on, without being told', async () => {
    const { state, clock, calls } = watchedState()
    await adopt(state, 'old', { seenAt: START - 86_400, activateAt: START - 86_400 })
    await adopt(state, 'next', { seenAt: START - 880, activateAt: START + 20 })
    const keyring = isolate({ state, clock })
    const kid = async () => decodeProtectedHeader(await keyring.sign('ES256', 'JWT', claims(clock))).kid
    expect(await kid()).toBe('old')
    const before = calls()
    clock.move(20)
    expect(await kid()).toBe('next')
    expect(calls()).toBe(before)
  })

  it('drops a superseded key when the last token it signed has expired', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'old', { seenAt: START - 86_400, activateAt: START - 86_400 })
    await adopt(state, 'next', { seenAt: START - 899, activateAt: START + 1 })
    const keyring = isolate({ state, clock })
    const last = await keyring.sign('ES256', 'JWT', claims(clock))
    clock.move(1 + 3_600 + 300)
    expect(await keyring.verify(last, { typ: ['JWT'] })).not.toBeNull()
    clock.move(1)
    expect(await keyring.verify(last, { typ: ['JWT'] })).toBeNull()
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).toEqual(['next'])
  })

  it.each([
    ['holds no private half', { wrapped: undefined, context: undefined }],
    ['was sealed under another key', { sealer: localSealer({ sealKey: encodeBase64url(random.bytes(32)), random }) }],
    ['states another context than it was sealed under', { stated: { instance: 'other', purpose: 'sign' } }],
    ['holds no PKCS#8', { pkcs8: utf8('not a key') }],
    ['holds the private half of another key', { pkcs8: ANOTHER.pkcs8 }],
  ])('whose only key %s is published, signs nothing and gets no other', async (_, how) => {
    const { state, clock } = watchedState()
    const pair = await adopt(state, 'foreign', { seenAt: START, activateAt: START, ...how })
    const keyring = isolate({ state, clock, generate: noGenerating })

    const refusal = { code: 'Unavailable', message: expect.stringContaining('foreign') }
    await expect(keyring.sign('ES256', 'JWT', claims(clock))).rejects.toMatchObject(refusal)
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).toEqual(['foreign'])
    expect(keyring.lines).toContainEqual(expect.objectContaining({ event: 'keyring.key_cannot_sign', kid: 'foreign' }))

    const signer = await importPrivateKey('ES256', pair.pkcs8, pair.publicKey)
    const foreign = new SignJWT(claims(clock)).setProtectedHeader({ alg: 'ES256', kid: 'foreign', typ: 'JWT' })
    expect(await keyring.verify(await foreign.sign(signer ?? new Uint8Array()), { typ: ['JWT'] })).not.toBeNull()
  })

  it('signs with the key before when the newest can not sign here, for tokens that expire before that one leaves', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'ours', { seenAt: START - 86_400, activateAt: START - 86_400 })
    await adopt(state, 'foreign', { seenAt: START - 900, activateAt: START, wrapped: undefined, context: undefined })
    const keyring = isolate({ state, clock })
    clock.move(300)
    expect(decodeProtectedHeader(await keyring.sign('ES256', 'JWT', claims(clock))).kid).toBe('ours')
    clock.move(1)
    await expect(keyring.sign('ES256', 'JWT', claims(clock))).rejects.toMatchObject({ code: 'Unavailable' })
    const { iat, exp } = claims(clock)
    expect(decodeProtectedHeader(await keyring.sign('ES256', 'JWT', { iat, exp: exp - 1 })).kid).toBe('ours')
  })

  it('goes on with the key it has opened while the sealer is down, and says so when it has none', async () => {
    const { state, clock } = watchedState()
    let isDown = false
    const failing: Sealer = {
      ...sealer,
      open: (...args) => (isDown ? Promise.reject(new PortError('Unavailable', 'the sealer is down')) : sealer.open(...args)),
    }
    await adopt(state, 'old', { seenAt: START - 86_400, activateAt: START - 86_400 })
    await adopt(state, 'next', { seenAt: START - 880, activateAt: START + 20 })
    const [warm, cold] = [isolate({ state, clock, sealer: failing }), isolate({ state, clock, sealer: failing })]
    await warm.sign('ES256', 'JWT', claims(clock))
    isDown = true
    clock.move(20)
    expect(decodeProtectedHeader(await warm.sign('ES256', 'JWT', claims(clock))).kid).toBe('old')
    await expect(cold.sign('ES256', 'JWT', claims(clock))).rejects.toThrow('the sealer is down')

    isDown = false
    expect(decodeProtectedHeader(await cold.sign('ES256', 'JWT', claims(clock))).kid).toBe('next')
  })

  it('with a record that can not be read is as if it were not there', async () => {
    const { state, clock } = watchedState()
    await state.put(keys.signingKey('ES256', 'damaged'), utf8('{}'), 600)
    const keyring = isolate({ state, clock })
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).toEqual([FIRST_KID])
    expect(keyring.lines).toContainEqual(expect.objectContaining({ level: 'warn', event: 'record.unreadable' }))
  })

  it('with a JWK that is no key publishes the others', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'ours', { seenAt: START, activateAt: START })
    const { publicKey } = await generateKeyPair('ES384')
    await write(state, 'no-key', { jwk: publicKey, seenAt: START, activateAt: START })
    const keyring = isolate({ state, clock })
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).toEqual(['ours'])
    expect(keyring.lines).toContainEqual(expect.objectContaining({ event: 'keyring.no_public_key', kid: 'no-key' }))
  })

  it('publishes of a record only what is the key', async () => {
    const { state, clock } = watchedState()
    const { publicKey } = await generateKeyPair('ES256')
    await write(state, 'k', { jwk: { ...publicKey, x5u: 'https://evil.example/', key_ops: ['verify'] }, seenAt: START, activateAt: START })
    const { keys: published } = await isolate({ state, clock }).keySet()
    expect(Object.keys(published[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  })
})

describe('two instances over stores of their own', () => {
  it('refuse the tokens of each other', async () => {
    const [one, two] = [watchedState(), watchedState()]
    const here = isolate({ ...one, instance: 'acme' })
    const there = isolate({ ...two, instance: 'acme' })
    await here.keySet()
    const token = await there.sign('ES256', 'JWT', claims(two.clock))
    expect(decodeProtectedHeader(token).kid).toBe(FIRST_KID)
    expect(decodeJwt(token)).toEqual(claims(two.clock))
    expect(await here.verify(token, { typ: ['JWT'] })).toBeNull()
  })
})

function noGenerating(): Promise<never> {
  return Promise.reject(new Error('a key was generated'))
}

function countingSealer(): Sealer & { opened(): number } {
  let opened = 0
  return {
    ...sealer,
    open(sealed, context) {
      opened++
      return sealer.open(sealed, context)
    },
    opened: () => opened,
  }
}

interface Adopted {
  seenAt: number | string
  activateAt: number | string
  sealer?: Sealer
  /** What it is sealed under, and (unless it states another) what its record says. */
  context?: Record<string, string> | undefined
  stated?: Record<string, string>
  pkcs8?: Uint8Array<ArrayBuffer>
  wrapped?: undefined
}

/** Writes an ES256 entry as another implementation would, and gives its pair. */
async function adopt(state: ReturnType<typeof watchedState>['state'], kid: string, how: Adopted) {
  const pair = await generateKeyPair('ES256')
  const { sealer: by = sealer, pkcs8 = pair.pkcs8, seenAt, activateAt } = how
  const context = { instance: 'acme', purpose: 'sign', ...how.context }
  const wrapped = encodeBase64(await by.seal(pkcs8, context))
  const sealed = 'wrapped' in how ? {} : { wrapped, context: how.stated ?? context }
  await write(state, kid, { jwk: pair.publicKey, seenAt, activateAt, ...sealed })
  return pair
}

async function write(state: ReturnType<typeof watchedState>['state'], id: string, record: Record<string, unknown>): Promise<void> {
  await state.put(keys.signingKey('ES256', id), utf8(JSON.stringify({ id, alg: 'ES256', ...record })), 2_592_000)
}

async function recordAt(state: ReturnType<typeof watchedState>['state'], key: string): Promise<unknown> {
  const entry = await state.get(key)
  return entry && JSON.parse(fromUtf8(entry.value) ?? '')
}

function part(json: unknown): string {
  return encodeBase64url(utf8(JSON.stringify(json)))
}
