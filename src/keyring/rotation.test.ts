import { createLocalJWKSet, decodeProtectedHeader, type JWK, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, type MovingClock, random, START, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import { localSealer } from '../adapters/local/sealer.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { keys } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import { slotKid } from './slot.ts'

const DAY = 86_400 // s
const TICK = 300 // s
const PREPUBLISH = 900 // s
const OVERLAP = 3_600 + 300 // s: the longest token, and what clocks may differ by

const kidAt = (seconds: number, counter = 0) =>
  slotKid({ instance: 'acme', alg: 'ES256', period: Math.floor(seconds / DAY) * DAY, counter })
const FIRST = await slotKid({ instance: 'acme', alg: 'ES256', period: 0, counter: 0 })

async function kidsIn(state: State, prefix: string): Promise<string[]> {
  return (await state.list(prefix)).entries.map(({ key }) => key.slice(prefix.length))
}

/** A relying party that fetches the key set when what it has is older than it may be, and never for a kid it does not know. */
function relyingParty(keySet: () => Promise<{ keys: JWK[]; maxAge: number }>, clock: MovingClock) {
  let held: { keys: JWK[]; until: number } | null = null
  return {
    async verify(token: string) {
      if (held === null || clock.seconds() >= held.until) {
        const { keys, maxAge } = await keySet()
        held = { keys, until: clock.seconds() + maxAge }
      }
      await jwtVerify(token, createLocalJWKSet({ keys: held.keys }), { currentDate: new Date(clock.now()) })
    },
  }
}

describe('a ring that is rotated', () => {
  it('signs with a new key every day, and no relying party ever meets a token it cannot verify', async () => {
    const { state, clock } = watchedState()
    const [signing, publishing, ticking] = [isolate({ state, clock }), isolate({ state, clock }), isolate({ state, clock })]
    const party = relyingParty(() => publishing.keySet(), clock)
    const issued: { token: string; exp: number }[] = []
    const signers = new Set<string | undefined>()

    for (let at = 0; at < 3 * DAY; at += TICK) {
      await ticking.rotate()
      const of = claims(clock)
      const token = await signing.sign('ES256', 'JWT', of)
      signers.add(decodeProtectedHeader(token).kid)
      issued.push({ token, exp: of.exp })
      for (const { token, exp } of issued.filter(({ exp }) => exp > clock.seconds())) {
        await party.verify(token)
        expect(await publishing.verify(token, { typ: ['JWT'] }), `${exp - clock.seconds()} s before it expires`).not.toBeNull()
      }
      clock.move(TICK)
    }
    expect(signers.size).toBe(3)
    // Of all it had, the ring holds the active one and at most its neighbours; the rest left a tombstone.
    const [standing, retired] = [await kidsIn(state, keys.signingKeys('ES256')), await kidsIn(state, keys.retiredSigningKeys('ES256'))]
    expect(standing.length).toBeLessThanOrEqual(2)
    expect(retired).toContain(FIRST)
    expect(standing.filter((kid) => retired.includes(kid))).toEqual([])
  })

  it('publishes the next key before it signs, signs with it from then on, and retires the last one an overlap later', async () => {
    const { state, clock } = watchedState()
    const keyring = isolate({ state, clock })
    const signer = async () => decodeProtectedHeader(await keyring.sign('ES256', 'JWT', claims(clock))).kid
    const published = async () => (await keyring.keySet()).keys.map(({ kid }) => kid)
    expect(await signer()).toBe(FIRST)

    clock.move(DAY - 1)
    await keyring.rotate()
    expect(await published()).toEqual([FIRST])
    clock.move(1)
    await keyring.rotate()
    const next = await kidAt(clock.seconds())
    expect([await published(), await signer()]).toEqual([[next, FIRST], FIRST])

    clock.move(PREPUBLISH - 1)
    expect(await signer()).toBe(FIRST)
    clock.move(1)
    expect(await signer()).toBe(next)

    clock.move(OVERLAP)
    await keyring.rotate()
    expect(await published()).toEqual([next, FIRST])
    clock.move(1)
    await keyring.rotate()
    expect(await published()).toEqual([next])
    expect(await kidsIn(state, keys.signingKeys('ES256'))).toEqual([next])
    expect(await kidsIn(state, keys.retiredSigningKeys('ES256'))).toEqual([FIRST])
  })

  it('gets one key when twenty isolates rotate at once', async () => {
    const { state, clock } = watchedState()
    await isolate({ state, clock }).keySet()
    clock.move(DAY)
    await Promise.all(Array.from({ length: 20 }, () => isolate({ state, clock }).rotate()))
    expect(await kidsIn(state, keys.signingKeys('ES256'))).toHaveLength(2)
  })

  it('takes a key of another implementation for one of its own: it is succeeded, and retired in time', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'theirs', { seenAt: START - DAY, activateAt: START - DAY })
    const keyring = isolate({ state, clock })
    await keyring.rotate()
    expect((await keyring.keySet()).keys.map(({ kid }) => kid)).toEqual([await kidAt(START), 'theirs'])
    clock.move(PREPUBLISH + OVERLAP + 1)
    await keyring.rotate()
    expect(await kidsIn(state, keys.retiredSigningKeys('ES256'))).toEqual(['theirs'])
  })

  it('does again what was cut short between a tombstone and its key', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'old', { seenAt: START - DAY, activateAt: START - DAY })
    await adopt(state, 'new', { seenAt: START - DAY / 2, activateAt: START - DAY / 2 })
    await state.put(keys.retiredSigningKey('ES256', 'old'), new Uint8Array([0x31]), 3_600)
    await isolate({ state, clock }).rotate()
    expect(await kidsIn(state, keys.signingKeys('ES256'))).toEqual(['new'])
  })

  it('keeps the older keys while the one that should sign can not be opened', async () => {
    const { state, clock } = watchedState()
    const another = localSealer({ sealKey: encodeBase64url(new Uint8Array(32).fill(1)), random })
    await adopt(state, 'old', { seenAt: START - DAY, activateAt: START - DAY })
    await adopt(state, 'new', { seenAt: START - DAY / 2, activateAt: START - DAY / 2, sealer: another })
    const keyring = isolate({ state, clock })
    await keyring.rotate()
    expect(await kidsIn(state, keys.signingKeys('ES256'))).toEqual(['new', 'old'])
    expect(keyring.lines).toContainEqual(expect.objectContaining({ event: 'keyring.key_cannot_sign', kid: 'new' }))
  })

  it('writes nothing once its tick must stop', async () => {
    const { state, clock } = watchedState()
    await isolate({ state, clock }).keySet()
    clock.move(DAY)
    const stop = () => {
      throw new Error('the lease is lost')
    }
    await expect(isolate({ state, clock }).rotate(stop)).rejects.toThrow('the lease is lost')
    expect(await kidsIn(state, keys.signingKeys('ES256'))).toEqual([FIRST])
  })

  it('says once an hour that a key signs for longer than it should', async () => {
    const { state, clock } = watchedState()
    await adopt(state, 'old', { seenAt: START - 3 * DAY, activateAt: START - 3 * DAY })
    // Every attempt at a successor finds its slot taken by what nobody can read.
    for (let day = 0; day < 2; day++) await state.put(keys.signingKey('ES256', await kidAt(START + day * DAY)), new Uint8Array([0x7b]), DAY)
    const keyring = isolate({ state, clock })
    for (let tick = 0; tick < 24; tick++) {
      await keyring.rotate()
      clock.move(TICK)
    }
    expect(keyring.lines.filter(({ event }) => event === 'keyring.stale')).toHaveLength(2)
  })
})

it('each ring has a schedule of its own', async () => {
  const { state, clock } = watchedState()
  const keyring = isolate({ state, clock, settings: settings({ rings: ['ES256', 'ES384'] }) })
  await keyring.sign('ES256', 'JWT', claims(clock))
  clock.move(DAY / 2)
  await keyring.sign('ES384', 'JWT', claims(clock))
  clock.move(DAY / 2)
  await keyring.rotate()
  expect((await kidsIn(state, keys.signingKeys('ES256'))).length).toBe(2)
  expect((await kidsIn(state, keys.signingKeys('ES384'))).length).toBe(1)
})
