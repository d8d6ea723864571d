import { describe, expect, it } from 'vitest'
import { type Line, movingClock, random, recordingLog } from '../../test/crash/keyring-builders.ts'
import { memorySecrets, secretsMemory } from '../adapters/memory/secrets.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { encodeBase64 } from '../crypto/base64url.ts'
import { utf8 } from '../crypto/bytes.ts'
import { PortError } from '../ports/error.ts'
import { keys, secretAddress } from '../ports/keys.ts'
import { acceptStateSecret, guardStateSecret } from './state-secret.ts'
import { stateSecretGate } from './state-secret-gate.ts'

const REFUSED = { code: 'Unavailable', retryAfter: 10 }

/** An instance that was started once, and one isolate's gate; reads of its stores are counted. */
async function started() {
  const [clock, store, memory] = [movingClock(), createMemoryStore(), secretsMemory()]
  const [secrets, state] = [memorySecrets({ clock, memory }), memoryState({ store, clock, module: 'oidc' })]
  const parts = { secrets, state, random, create: true }
  await guardStateSecret(parts)
  let asked = 0
  let isDown = false
  const get: typeof state.get = (...args) => {
    asked++
    return isDown ? Promise.reject(new PortError('Unavailable', 'away')) : state.get(...args)
  }
  const lines: Line[] = []
  const gate = stateSecretGate({ ...parts, state: { ...state, get }, clock, log: recordingLog(lines) })
  return {
    ...{ clock, state, secrets, parts, gate, lines },
    asked: () => asked,
    down: (is: boolean) => {
      isDown = is
    },
    overwrite: (byte: number) => secrets.put(secretAddress.stateSecret, utf8(encodeBase64(new Uint8Array(32).fill(byte)))),
  }
}

async function pass(gate: { pass(): Promise<void> | void }): Promise<void> {
  await gate.pass()
}

describe('the gate of the state secret', () => {
  it('asks once in the life of an isolate, and after that not even for a turn', async () => {
    const { gate, clock, asked } = await started()
    await pass(gate)
    for (let hour = 0; hour < 48; hour++) {
      expect(gate.pass()).toBeUndefined()
      clock.move(3_600)
    }
    expect(asked()).toBe(1)
  })

  it('refuses with another secret, and asks again every ten seconds, no more often', async () => {
    const { gate, clock, asked, overwrite, lines } = await started()
    await overwrite(5)
    for (let second = 0; second < 30; second++) {
      await expect(pass(gate)).rejects.toMatchObject(REFUSED)
      clock.move(1)
    }
    expect(asked()).toBe(3)
    expect(lines.filter(({ event }) => event === 'state_secret.changed')).toHaveLength(3)
  })

  it('lets go on within ten seconds of the right secret being back', async () => {
    const { gate, clock, overwrite, secrets } = await started()
    const right = (await secrets.get(secretAddress.stateSecret)).value
    await overwrite(5)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
    await secrets.put(secretAddress.stateSecret, right)
    clock.move(10)
    await pass(gate)
  })

  it('lets go on within ten seconds of the present secret being accepted', async () => {
    const { gate, clock, overwrite, parts } = await started()
    await overwrite(5)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
    expect(await acceptStateSecret(parts)).toBe('changed')
    clock.move(10)
    await pass(gate)
    expect(await guardStateSecret(parts)).toBe('same')
  })

  it('goes by what the cron or /readyz found in the same isolate, though it was right when it was first asked', async () => {
    const { gate, overwrite } = await started()
    await pass(gate)
    await overwrite(5)
    expect(await gate.guard()).toBe('changed')
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
  })

  it('refuses nobody for a fingerprint of another implementation', async () => {
    const { gate, state } = await started()
    await state.put(keys.stateSecretFingerprint, utf8('theirs'), 600)
    await pass(gate)
    expect(gate.pass()).toBeUndefined()
  })

  it('refuses nobody while the store can not say, asks once a minute then, and refuses when it can', async () => {
    const { gate, clock, asked, down, overwrite, lines } = await started()
    await overwrite(5)
    down(true)
    for (let second = 0; second < 60; second++) {
      await pass(gate)
      clock.move(1)
    }
    expect(asked()).toBe(1)
    expect(lines).toContainEqual(expect.objectContaining({ event: 'state_secret.unread' }))
    down(false)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
  })

  it('once it was found changed stays so while the store can not say', async () => {
    const { gate, clock, down, overwrite } = await started()
    await overwrite(5)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
    down(true)
    clock.move(10)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
  })

  it('asks again when the clock has stepped back', async () => {
    const { gate, clock, asked, overwrite } = await started()
    await overwrite(5)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
    clock.move(-3_600)
    await expect(pass(gate)).rejects.toMatchObject(REFUSED)
    expect(asked()).toBe(2)
  })
})

describe('accepting the present state secret', () => {
  it('changes nothing where it is the one, or the fingerprint is of another implementation', async () => {
    const { parts, state } = await started()
    const before = await state.get(keys.stateSecretFingerprint)
    expect(await acceptStateSecret(parts)).toBe('same')
    expect(await state.get(keys.stateSecretFingerprint)).toEqual(before)
    await state.put(keys.stateSecretFingerprint, utf8('theirs'), 600)
    expect(await acceptStateSecret(parts)).toBe('foreign')
  })

  it('by several at once is done once', async () => {
    const { parts, overwrite } = await started()
    await overwrite(5)
    const found = await Promise.all(Array.from({ length: 5 }, () => acceptStateSecret(parts)))
    expect(found.filter((one) => one === 'changed')).toHaveLength(1)
    expect(await guardStateSecret(parts)).toBe('same')
  })

  it('keeps a fingerprint where none was', async () => {
    const { parts, state } = await started()
    await state.delete(keys.stateSecretFingerprint)
    expect(await acceptStateSecret(parts)).toBe('same')
    expect(await state.get(keys.stateSecretFingerprint)).not.toBeNull()
  })
})
