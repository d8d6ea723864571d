import { describe, expect, it } from 'vitest'
import { memorySecrets } from '../adapters/memory/secrets.ts'
import { fromUtf8, utf8 } from '../crypto/bytes.ts'
import { cachedSecrets } from './cached-secrets.ts'
import { PortError } from './error.ts'
import type { Secrets } from './secrets.ts'

const PATH = 'internal/oidc/state-secret'

/** A store whose clock is the cache's, which counts what it is asked and can be down. */
function arrange() {
  let now = Date.UTC(2026, 9, 10)
  const clock = { now: () => now }
  const store = memorySecrets({ clock })
  const asked: string[] = []
  const state = { down: false }
  const counting: Secrets = {
    ...store,
    async get(path, options) {
      asked.push(options?.previous ? `${path} and previous` : path)
      if (state.down) throw new PortError('Unavailable', 'the store is down')
      return await store.get(path, options)
    },
  }
  const pass = (seconds: number) => {
    now += seconds * 1_000
  }
  return { store, asked, state, secrets: cachedSecrets(counting, clock), pass }
}

async function read(secrets: Secrets, path = PATH): Promise<string | null> {
  return fromUtf8((await secrets.get(path)).value)
}

describe('cached secrets', () => {
  it('ask the store for a path once a minute', async () => {
    const { store, asked, secrets, pass } = arrange()
    await store.put(PATH, utf8('old'))
    expect(await read(secrets)).toBe('old')
    await store.put(PATH, utf8('new'))
    pass(59)
    expect(await read(secrets)).toBe('old')
    expect(asked).toHaveLength(1)
    pass(1)
    expect(await read(secrets)).toBe('new')
    expect(asked).toHaveLength(2)
  })

  it('hold absence for five seconds', async () => {
    const { store, asked, secrets, pass } = arrange()
    await expect(read(secrets)).rejects.toMatchObject({ code: 'NotFound' })
    await store.put(PATH, utf8('seeded'))
    pass(4)
    await expect(read(secrets)).rejects.toMatchObject({ code: 'NotFound' })
    expect(asked).toHaveLength(1)
    pass(1)
    expect(await read(secrets)).toBe('seeded')
  })

  it('know the two addresses of a client as one', async () => {
    const { store, asked, secrets } = arrange()
    await store.put('external/oidc/rp', utf8('one'))
    expect(await read(secrets, 'external/oidc/rp')).toBe('one')
    expect(await read(secrets, 'credentials/oidc-client/rp/secret')).toBe('one')
    expect(asked).toEqual(['external/oidc/rp'])
    await secrets.put('credentials/oidc-client/rp/secret', utf8('two'))
    expect(await read(secrets, 'external/oidc/rp')).toBe('two')
  })

  it('read the value before this one only when asked, and then along for every reader', async () => {
    const { store, asked, secrets, pass } = arrange()
    await store.put(PATH, utf8('first'))
    await store.put(PATH, utf8('second'))
    expect(await secrets.get(PATH)).not.toHaveProperty('previous')
    expect((await secrets.get(PATH, { previous: true })).previous).toEqual(utf8('first'))
    expect(await secrets.get(PATH)).not.toHaveProperty('previous')
    pass(60)
    expect(await secrets.get(PATH)).not.toHaveProperty('previous')
    expect((await secrets.get(PATH, { previous: true })).previous).toEqual(utf8('first'))
    expect(asked).toEqual([PATH, `${PATH} and previous`, `${PATH} and previous`])
  })

  it('answer copies', async () => {
    const { store, secrets } = arrange()
    await store.put(PATH, utf8('first'))
    await store.put(PATH, utf8('second'))
    for (let time = 0; time < 2; time++) {
      const secret = await secrets.get(PATH, { previous: true })
      secret.value.fill(0)
      secret.previous?.fill(0)
    }
    expect(await secrets.get(PATH, { previous: true })).toMatchObject({ value: utf8('second'), previous: utf8('first') })
  })

  it('show a write through them to the next reader, also one that was refused', async () => {
    const { store, secrets } = arrange()
    const version = await secrets.put(PATH, utf8('one'))
    expect(await read(secrets)).toBe('one')
    const next = await secrets.putIfVersion(PATH, utf8('two'), version)
    expect(await read(secrets)).toBe('two')

    await store.put(PATH, utf8('from elsewhere'))
    await expect(secrets.putIfVersion(PATH, utf8('three'), next)).rejects.toMatchObject({ code: 'Conflict' })
    expect(await read(secrets)).toBe('from elsewhere')

    await secrets.delete(PATH)
    await expect(read(secrets)).rejects.toMatchObject({ code: 'NotFound' })
    await secrets.putIfVersion(PATH, utf8('again'), null)
    expect(await read(secrets)).toBe('again')
  })

  it('do not keep what a read found when a write overtook it', async () => {
    const clock = { now: () => 0 }
    const store = memorySecrets({ clock })
    await store.put(PATH, utf8('old'))
    const held = Promise.withResolvers<void>()
    const slow: Secrets = {
      ...store,
      async get(path) {
        const secret = await store.get(path)
        await held.promise
        return secret
      },
    }
    const secrets = cachedSecrets(slow, clock)
    const reading = read(secrets)
    await secrets.put(PATH, utf8('new'))
    held.resolve()
    expect(await reading).toBe('old')
    expect(await read(secrets)).toBe('new')
  })

  it('let a read that began later stand over one that ends after it', async () => {
    let now = 0
    const clock = { now: () => now }
    const store = memorySecrets({ clock })
    await store.put(PATH, utf8('old'))
    const held = Promise.withResolvers<void>()
    const waits = [held.promise, Promise.resolve()]
    const uneven: Secrets = {
      ...store,
      async get(path) {
        const secret = await store.get(path)
        await waits.shift()
        return secret
      },
    }
    const secrets = cachedSecrets(uneven, clock)
    const early = read(secrets)
    now = 1_000
    await store.put(PATH, utf8('new'))
    expect(await read(secrets)).toBe('new')
    held.resolve()
    expect(await early).toBe('old')
    expect(await read(secrets)).toBe('new')
  })

  it('cover a store that is down until the value is five minutes old, asking it every five seconds', async () => {
    const { store, asked, state, secrets, pass } = arrange()
    await store.put(PATH, utf8('kept'))
    expect(await read(secrets)).toBe('kept')
    state.down = true
    pass(60)
    expect(await read(secrets)).toBe('kept')
    pass(4)
    expect(await read(secrets)).toBe('kept')
    expect(asked).toHaveLength(2)
    pass(1)
    expect(await read(secrets)).toBe('kept')
    expect(asked).toHaveLength(3)
    pass(234)
    expect(await read(secrets)).toBe('kept')
    pass(1)
    await expect(read(secrets)).rejects.toMatchObject({ code: 'Unavailable' })
    state.down = false
    expect(await read(secrets)).toBe('kept')
  })

  it('take a value for old, not new, when the clock is set back', async () => {
    const { store, secrets, pass } = arrange()
    await store.put(PATH, utf8('old'))
    expect(await read(secrets)).toBe('old')
    await store.put(PATH, utf8('new'))
    pass(-3_600)
    expect(await read(secrets)).toBe('new')
  })

  it('keep what is read after the clock was set back, and not only what was read before', async () => {
    const { store, asked, secrets, pass } = arrange()
    await store.put(PATH, utf8('kept'))
    await read(secrets)
    pass(-3_600)
    await read(secrets)
    await read(secrets)
    expect(asked).toHaveLength(2)
  })

  it('use no value after the store has said it is gone', async () => {
    const { store, state, secrets, pass } = arrange()
    await store.put(PATH, utf8('revoked soon'))
    expect(await read(secrets)).toBe('revoked soon')
    await store.delete(PATH)
    pass(60)
    await expect(read(secrets)).rejects.toMatchObject({ code: 'NotFound' })
    state.down = true
    pass(5)
    await expect(read(secrets)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('cover nothing that was never read, and no reader of a value before this one with none', async () => {
    const { store, state, secrets } = arrange()
    await store.put(PATH, utf8('first'))
    await read(secrets)
    state.down = true
    await expect(secrets.get('internal/oidc/other')).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(secrets.get(PATH, { previous: true })).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('ask again for who takes no older answer, once in so many seconds however many do', async () => {
    const { store, asked, secrets, pass } = arrange()
    const young = async () => fromUtf8((await secrets.get(PATH, { maxAge: 5 })).value)
    await store.put(PATH, utf8('old'))
    expect(await read(secrets)).toBe('old')
    await store.put(PATH, utf8('new'))
    pass(4)
    expect(await young()).toBe('old')
    pass(1)
    expect([await young(), await young(), await read(secrets)]).toEqual(['new', 'new', 'new'])
    expect(asked).toHaveLength(2)
    await secrets.get(PATH, { maxAge: 0 })
    expect(asked).toHaveLength(3)
  })

  it('do not ask a store that is down by each who takes no older answer', async () => {
    const { store, asked, state, secrets, pass } = arrange()
    await store.put(PATH, utf8('old'))
    await read(secrets)
    state.down = true
    pass(5)
    for (let n = 0; n < 3; n++) expect(fromUtf8((await secrets.get(PATH, { maxAge: 5 })).value)).toBe('old')
    expect(asked).toHaveLength(2)
  })

  it('keep 512 paths, and forget the one read longest ago', async () => {
    const { store, asked, secrets } = arrange()
    for (let n = 0; n <= 512; n++) {
      await store.put(`internal/oidc/s${n}`, utf8(String(n)))
      await secrets.get(`internal/oidc/s${n}`)
    }
    asked.length = 0
    await secrets.get('internal/oidc/s512')
    await secrets.get('internal/oidc/s1')
    expect(asked).toEqual([])
    await secrets.get('internal/oidc/s0')
    expect(asked).toEqual(['internal/oidc/s0'])
  })

  it('refuse what is no path', async () => {
    const { secrets } = arrange()
    await expect(secrets.get('a/../b')).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(secrets.put('a/../b', utf8('x'))).rejects.toMatchObject({ code: 'Unsupported' })
  })
})
