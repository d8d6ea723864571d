import * as fc from 'fast-check'
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, START, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { utf8 } from '../crypto/bytes.ts'
import { importPrivateKey } from './key-pair.ts'
import { slotKid } from './slot.ts'

const FIRST_KID = await slotKid({ instance: 'acme', alg: 'ES256', period: 0, counter: 0 })

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
      [await confused, ['JWT']],
      ['', ['JWT']],
      ['...', ['JWT']],
    ] as const
    for (const [presented, typ] of refused) expect(await keyring.verify(presented, { typ }), presented).toBeNull()
    expect(await keyring.verify(token, { typ: ['JWT'] })).not.toBeNull()
  })

  it.each([
    ['a list', {}, '[]'],
    ['nothing', {}, 'null'],
    ['a text', {}, '"sub"'],
    ['half of a set of claims', {}, '{"sub":'],
    ['an extension that must be understood', { crit: ['urn:x'], 'urn:x': 1 }, '{}'],
  ])('refuses %s, though our key signed it', async (_, header, payload) => {
    const { state, clock } = watchedState()
    const pair = await adopt(state, 'mine', { seenAt: START, activateAt: START })
    const signer = await importPrivateKey('ES256', pair.pkcs8, pair.publicKey)
    if (signer === null) throw new Error('no key')
    const input = `${part({ alg: 'ES256', kid: 'mine', typ: 'JWT', ...header })}.${encodeBase64url(utf8(payload))}`
    const signature = new Uint8Array(await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, signer, utf8(input)))
    expect(await isolate({ state, clock }).verify(`${input}.${encodeBase64url(signature)}`, { typ: ['JWT'] })).toBeNull()
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

function part(json: unknown): string {
  return encodeBase64url(utf8(JSON.stringify(json)))
}
