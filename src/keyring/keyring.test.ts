import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, noGenerating, START, sealer, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import { type SigningAlg, signingAlg } from '../config/values.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys } from '../ports/keys.ts'
import type { Sealer } from '../ports/sealer.ts'
import type { State } from '../ports/state.ts'
import { generateKeyPair } from './key-pair.ts'
import { slotKid } from './slot.ts'

const FIRST_KID = await slotKid({ instance: 'acme', alg: 'ES256', period: 0, counter: 0 })

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

  it('is made by the first request that needs its ring, which waits for it, and by none that needs another', async () => {
    const { state, clock } = watchedState()
    const made: string[] = []
    const generate = (alg: SigningAlg) => {
      made.push(alg)
      return generateKeyPair(alg)
    }
    const keyring = isolate({ state, clock, generate, settings: settings({ rings: ['ES256', 'RS256'] }) })
    await keyring.sign('ES256', 'JWT', claims(clock))
    expect(made).toEqual(['ES256'])
    const tokens = await Promise.all([1, 2].map(() => keyring.sign('RS256', 'JWT', claims(clock))))
    expect(new Set(tokens.map((token) => decodeProtectedHeader(token).kid)).size).toBe(1)
    expect((await state.list(keys.signingKeys('RS256'))).entries).toHaveLength(1)
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

  it('lets no late answer of the store undo what it learnt since', async () => {
    const { state, clock, calls } = watchedState()
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let isStalling = true
    const late: State['list'] = async (...args) => {
      const page = await state.list(...args)
      if (isStalling) await released
      return page
    }
    const keyring = isolate({ state: { ...state, list: late }, clock })
    const waiting = keyring.sign('ES256', 'JWT', claims(clock))
    await settled()
    isStalling = false
    await keyring.sign('ES256', 'JWT', claims(clock))

    const before = calls()
    release()
    expect(decodeProtectedHeader(await waiting).kid).toBe(FIRST_KID)
    expect(calls()).toBe(before)
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

/** Everything that waits for nothing but microtasks has come as far as it can. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
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

async function recordAt(state: State, key: string): Promise<unknown> {
  const entry = await state.get(key)
  return entry && JSON.parse(fromUtf8(entry.value) ?? '')
}
