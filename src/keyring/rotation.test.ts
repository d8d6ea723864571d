import { decodeProtectedHeader } from 'jose'
import { describe, expect, it } from 'vitest'
import { adopt, claims, isolate, random, START, settings, watchedState } from '../../test/crash/keyring-builders.ts'
import { localSealer } from '../adapters/local/sealer.ts'
import type { SigningAlg } from '../config/values.ts'
import { encodeBase64url } from '../crypto/base64url.ts'
import { keys } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import { generateKeyPair } from './key-pair.ts'
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

describe('a ring that is rotated', () => {
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

  it('makes no key for a tick that had to stop while it was drawn, and retires no further one', async () => {
    const { state, clock } = watchedState()
    await isolate({ state, clock }).keySet()
    clock.move(DAY)
    let lost = false
    const stop = () => {
      if (lost) throw new Error('the lease is lost')
    }
    const generate = (alg: SigningAlg) => {
      lost = true
      return generateKeyPair(alg)
    }
    await expect(isolate({ state, clock, generate }).rotate(stop)).rejects.toThrow('the lease is lost')
    expect(await kidsIn(state, keys.signingKeys('ES256'))).toEqual([FIRST])

    for (const [name, days] of [
      ['oldest', 3],
      ['older', 2],
      ['newest', 0],
    ] as const)
      await adopt(state, name, { seenAt: clock.seconds() - days * DAY, activateAt: clock.seconds() - days * DAY })
    lost = false
    const losing: State = {
      ...state,
      put: (...call) => {
        lost = true
        return state.put(...call)
      },
    }
    clock.move(OVERLAP + 1)
    await expect(isolate({ state: losing, clock }).rotate(stop)).rejects.toThrow('the lease is lost')
    expect(await kidsIn(state, keys.retiredSigningKeys('ES256'))).toHaveLength(1)
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

it('a first key that waits for its successor to be published is not said to have none', async () => {
  const { state, clock } = watchedState()
  const keyring = isolate({ state, clock, settings: settings({ rotate_every: 3_600, prepublish: 3_000 }) })
  clock.move(1_500) // so that an hour begins while it waits
  await keyring.keySet()
  for (let tick = 0; tick < 36; tick++) {
    await keyring.rotate()
    clock.move(TICK)
  }
  expect(keyring.lines.filter(({ event }) => event === 'keyring.stale')).toEqual([])
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
