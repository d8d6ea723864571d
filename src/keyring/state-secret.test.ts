import { describe, expect, it } from 'vitest'
import { memorySecrets, secretsMemory } from '../adapters/memory/secrets.ts'
import { memoryState } from '../adapters/memory/state.ts'
import { createMemoryStore } from '../adapters/memory/store.ts'
import { encodeBase64 } from '../crypto/base64url.ts'
import { fromUtf8, hex, utf8 } from '../crypto/bytes.ts'
import { hmacSha256 } from '../crypto/digest.ts'
import { PortError } from '../ports/error.ts'
import { keys, secretAddress } from '../ports/keys.ts'
import { guardStateSecret, type StateSecretParts, stateSecret } from './state-secret.ts'

const SECRET = new Uint8Array(32).fill(5)
const YEAR = 365 * 86_400

/** An instance's stores, and the parts of as many starts as are asked for. */
function instance(create = true) {
  let now = Date.UTC(2026, 10, 30)
  const clock = { now: () => now }
  const memory = secretsMemory()
  const store = createMemoryStore()
  let drawn = 0
  const start = (): StateSecretParts => ({
    secrets: memorySecrets({ clock, memory }),
    state: memoryState({ store, clock, module: 'oidc' }),
    random: { bytes: (length) => new Uint8Array(length).fill(++drawn) },
    create,
  })
  const advance = (seconds: number) => {
    now += seconds * 1000
  }
  return { ...start(), start, advance }
}

async function fingerprintOf(secret: Uint8Array<ArrayBuffer>): Promise<string> {
  return `v1:${hex(await hmacSha256(secret, utf8('sluis state secret v1')))}`
}

describe('the state secret', () => {
  it('is made by the first start that finds none, 32 bytes in base64, and the same from then on', async () => {
    const { start, secrets } = instance()
    const made = await stateSecret(start())
    expect(made).toHaveLength(32)
    expect(fromUtf8((await secrets.get(secretAddress.stateSecret)).value)).toBe(encodeBase64(made))
    expect(await stateSecret(start())).toEqual(made)
  })

  it('of starts that come at once is one', async () => {
    const { start } = instance()
    const made = await Promise.all(Array.from({ length: 10 }, () => stateSecret(start())))
    expect(new Set(made.map(hex)).size).toBe(1)
  })

  it('of a start that lost is the one that won, which it reads', async () => {
    const { start, secrets } = instance()
    const lost = start()
    let reads = 0
    const late = {
      ...lost.secrets,
      get: (path: string) => (++reads === 1 ? Promise.reject(new PortError('NotFound', 'none yet')) : secrets.get(path)),
    }
    const won = await stateSecret(start())
    expect(await stateSecret({ ...lost, secrets: late })).toEqual(won)
  })

  it('that somebody seeded with a line break is read without it', async () => {
    const { start, secrets } = instance(false)
    await secrets.put(secretAddress.stateSecret, utf8(`${encodeBase64(SECRET)}\n`))
    expect(await stateSecret(start())).toEqual(SECRET)
  })

  it('is never made where an operator seeds it', async () => {
    const { start, secrets } = instance(false)
    await expect(stateSecret(start())).rejects.toMatchObject({ code: 'NotFound' })
    expect(await secrets.list('')).toEqual([])
  })

  it.each([
    ['empty', utf8('')],
    ['too short', utf8(encodeBase64(SECRET.slice(1)))],
    ['too long', utf8(encodeBase64(new Uint8Array(33)))],
    ['hex', utf8(hex(SECRET))],
    ['no base64', utf8('%'.repeat(44))],
    ['no text', new Uint8Array([0xff])],
  ])('that is %s is unavailable, and no other is made in its place', async (_what, value) => {
    const { start, secrets } = instance()
    await secrets.put(secretAddress.stateSecret, value)
    await expect(stateSecret(start())).rejects.toMatchObject({ code: 'Unavailable' })
    expect((await secrets.get(secretAddress.stateSecret)).value).toEqual(value)
  })

  it('is not made while the store can not say whether there is one', async () => {
    const { start, secrets } = instance()
    const away = { ...secrets, get: () => Promise.reject(new PortError('Unavailable', 'away')) }
    await expect(stateSecret({ ...start(), secrets: away })).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await secrets.list('')).toEqual([])
  })
})

describe('the fingerprint of the state secret', () => {
  it('is kept by the first start, as an HMAC under it, for a year', async () => {
    const { start, state, advance } = instance()
    expect(await guardStateSecret(start())).toBe('same')
    const entry = await state.get(keys.stateSecretFingerprint)
    expect(entry && fromUtf8(entry.value)).toBe(await fingerprintOf(await stateSecret(start())))
    advance(YEAR - 1)
    expect(await state.get(keys.stateSecretFingerprint)).not.toBeNull()
    advance(1)
    expect(await state.get(keys.stateSecretFingerprint)).toBeNull()
  })

  it('says the secret is the same for as long as it is', async () => {
    const { start } = instance()
    const said = await Promise.all(Array.from({ length: 10 }, () => guardStateSecret(start())))
    expect(new Set([...said, await guardStateSecret(start())])).toEqual(new Set(['same']))
  })

  it('says so when it is another, and stays what it was', async () => {
    const { start, secrets, state } = instance()
    await guardStateSecret(start())
    const before = await state.get(keys.stateSecretFingerprint)
    await secrets.put(secretAddress.stateSecret, utf8(encodeBase64(SECRET)))
    expect(await guardStateSecret(start())).toBe('changed')
    expect(await guardStateSecret(start())).toBe('changed')
    expect(await state.get(keys.stateSecretFingerprint)).toEqual(before)
  })

  it('says so too to a start that lost to one with another secret', async () => {
    const { start, secrets, state } = instance()
    await secrets.put(secretAddress.stateSecret, utf8(encodeBase64(SECRET)))
    const parts = start()
    let reads = 0
    const late = { ...parts.state, get: (key: string) => (++reads === 1 ? Promise.resolve(null) : state.get(key)) }
    await state.create(keys.stateSecretFingerprint, utf8(await fingerprintOf(new Uint8Array(32))), 600)
    expect(await guardStateSecret({ ...parts, state: late })).toBe('changed')
  })

  it.each([
    ['of another implementation', utf8('6f1ed002ab5595859014ebf0951522d9')],
    ['that is no text', new Uint8Array([0xff])],
    ['that is empty', new Uint8Array(0)],
  ])('%s is left as it is', async (_what, foreign) => {
    const { start, state } = instance()
    await state.put(keys.stateSecretFingerprint, foreign, 600)
    const before = await state.get(keys.stateSecretFingerprint)
    expect(await guardStateSecret(start())).toBe('foreign')
    expect(await state.get(keys.stateSecretFingerprint)).toEqual(before)
  })
})
