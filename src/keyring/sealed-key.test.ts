import { decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, noGenerating, random, START, sealer, watchedState, writeEntry } from '../../test/crash/keyring-builders.ts'
import { localSealer } from '../adapters/local/sealer.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Sealer } from '../ports/sealer.ts'
import { generateKeyPair, importPrivateKey } from './key-pair.ts'
import { slotKid } from './slot.ts'

const FIRST_KID = await slotKid({ instance: 'acme', alg: 'ES256', period: 0, counter: 0 })
const ANOTHER = await generateKeyPair('ES256')

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
    await writeEntry(state, 'no-key', { jwk: publicKey, seenAt: START, activateAt: START })
    const keyring = isolate({ state, clock })
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).toEqual(['ours'])
    expect(keyring.lines).toContainEqual(expect.objectContaining({ event: 'keyring.no_public_key', kid: 'no-key' }))
  })

  it('publishes of a record only what is the key', async () => {
    const { state, clock } = watchedState()
    const { publicKey } = await generateKeyPair('ES256')
    await writeEntry(state, 'k', {
      jwk: { ...publicKey, x5u: 'https://evil.example/', key_ops: ['verify'] },
      seenAt: START,
      activateAt: START,
    })
    const { keys: published } = await isolate({ state, clock }).keySet()
    expect(Object.keys(published[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  })
})
