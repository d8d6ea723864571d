import { decodeProtectedHeader, SignJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, START, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import { type VerifiableAlg, verifiableAlg } from '../config/public-key.ts'
import { signingAlg } from '../config/values.ts'
import { generateKeyPair, importPrivateKey } from './key-pair.ts'

/** A key of another issuer, as the service document names it, and who signs with it. */
async function foreign(alg: VerifiableAlg = 'ES256', until = START + 7_200, kid = 'theirs') {
  const pair = await generateKeyPair(signingAlg.options.find((one) => one === alg) ?? 'ES256')
  const signer = await importPrivateKey(alg, pair.pkcs8, pair.publicKey)
  if (signer === null) throw new Error('no key')
  const sign = (of: ReturnType<typeof claims>) => new SignJWT(of).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(signer)
  return { key: { kid, alg, until, jwk: pair.publicKey }, sign }
}

describe('a key of the service document that is only verified with', () => {
  it.each(verifiableAlg.options.filter((alg) => alg !== 'ES512'))('of %s is published and accepted, and signs nothing', async (alg) => {
    const { state, clock } = watchedState()
    const { key, sign } = await foreign(alg)
    const keyring = isolate({ state, clock, settings: settings({ verify_only: [key] }) })
    const published = (await keyring.keySet()).keys
    expect(published).toHaveLength(2)
    expect(published[1]).toMatchObject({ kid: 'theirs', alg, use: 'sig' })
    expect(await keyring.verify(await sign(claims(clock)), { typ: ['JWT'] })).toMatchObject({ header: { kid: 'theirs' } })
    expect(decodeProtectedHeader(await keyring.sign('ES256', 'JWT', claims(clock))).kid).not.toBe('theirs')
    expect((await state.list('keyring.')).entries).toHaveLength(1)
  })

  it('is published and accepted until its instant, and kept by nobody past it', async () => {
    const { state, clock } = watchedState()
    const { key, sign } = await foreign('ES256', START + 1_000)
    const keyring = isolate({ state, clock, settings: settings({ verify_only: [key] }) })
    await keyring.keySet()
    const token = await sign(claims(clock))
    clock.move(900)
    expect(await keyring.keySet()).toMatchObject({ keys: { length: 2 }, maxAge: 100 })
    clock.move(99)
    expect(await keyring.keySet()).toMatchObject({ keys: { length: 2 }, maxAge: 1 })
    expect(await keyring.verify(token, { typ: ['JWT'] })).not.toBeNull()
    clock.move(1)
    expect(await keyring.keySet()).toMatchObject({ keys: { length: 1 }, maxAge: 300 })
    expect(await keyring.verify(token, { typ: ['JWT'] })).toBeNull()
  })

  it('is asked of no store', async () => {
    const { state, clock, calls } = watchedState()
    const { key, sign } = await foreign()
    const keyring = isolate({ state, clock, settings: settings({ verify_only: [key] }) })
    await keyring.keySet()
    const before = calls()
    expect(await keyring.verify(await sign(claims(clock)), { typ: ['JWT'] })).not.toBeNull()
    expect(calls()).toBe(before)
  })

  it('gives way to a key of a ring that has its kid', async () => {
    const { state, clock } = watchedState()
    const { key, sign } = await foreign()
    const ours = await adopt(state, 'theirs', { seenAt: START, activateAt: START })
    const keyring = isolate({ state, clock, settings: settings({ verify_only: [key] }) })
    expect((await keyring.keySet()).keys).toEqual([expect.objectContaining({ kid: 'theirs', x: ours.publicKey.x })])
    expect(await keyring.verify(await sign(claims(clock)), { typ: ['JWT'] })).toBeNull()
  })

  it('that is no point of its curve is reported, and not published', async () => {
    const { state, clock } = watchedState()
    const { key } = await foreign()
    const jwk = { ...key.jwk, x: 'A'.repeat(43) }
    const keyring = isolate({ state, clock, settings: settings({ verify_only: [{ ...key, jwk }] }) })
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).not.toContain('theirs')
    expect(keyring.lines).toContainEqual(expect.objectContaining({ level: 'error', event: 'keyring.no_public_key', kid: 'theirs' }))
  })

  it('is published by the members that are the key, and no other of its document', async () => {
    const { state, clock } = watchedState()
    const { key } = await foreign()
    const jwk = { ...key.jwk, x5u: 'https://evil.example/' }
    const keyring = isolate({ state, clock, settings: settings({ verify_only: [{ ...key, jwk }] }) })
    expect((await keyring.keySet()).keys[1]).not.toHaveProperty('x5u')
  })
})
