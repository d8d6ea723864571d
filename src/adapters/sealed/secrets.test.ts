import { evictDurableObject, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { race } from '../../../test/conformance/arrange.ts'
import { everySecond, someDelay, unreliableObjects } from '../../../test/conformance/unreliable-objects.ts'
import { encodeBase64url } from '../../crypto/base64url.ts'
import { fromUtf8, utf8 } from '../../crypto/bytes.ts'
import { localSealer } from '../local/sealer.ts'
import { type SealedSecretsNamespace, type SealedSecretsObject, sealedSecrets } from './secrets.ts'

const PATH = 'internal/oidc/state-secret'
const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const never = { delay: () => Promise.resolve(), loses: () => false, evicts: false }

/** An instance of its own, and adapters over it: by default the binding as it is, one key, and a clock that stands. */
function arrange() {
  const instance = crypto.randomUUID()
  const sealKey = newKey()
  const stub = env.SEALED_SECRETS.getByName(`sluis-${instance}/secrets`)
  return {
    sealKey,
    stub,
    open({ namespace = env.SEALED_SECRETS, key = sealKey, previous, of = instance }: OpenOptions = {}) {
      const sealer = localSealer({ sealKey: key, previous, random })
      return sealedSecrets({ namespace, instance: of, sealer, clock: { now: () => 1_791_600_000_123 }, random })
    },
    sql: (query: string, ...bindings: unknown[]) =>
      runInDurableObject(stub, (_, { storage }) => storage.sql.exec(query, ...bindings).toArray()),
  }
}

interface OpenOptions {
  namespace?: SealedSecretsNamespace
  key?: string
  previous?: string
  of?: string
}

function newKey(): string {
  return encodeBase64url(random.bytes(32))
}

describe('sealed secrets at rest', () => {
  it('hold a value and the one before it sealed, and no third', async () => {
    const { open, sql } = arrange()
    for (const value of ['plain-first', 'plain-second', 'plain-third']) await open().put(PATH, utf8(value))
    const [row, ...others] = await sql('SELECT * FROM secret')
    expect(others).toEqual([])
    expect(row).toMatchObject({ path: PATH, modified: 1_791_600_000_123 })
    const columns = Object.values(row ?? {})
    const kept = columns.map((column) => (column instanceof ArrayBuffer ? new TextDecoder('latin1').decode(column) : String(column))).join()
    expect(kept).not.toContain('plain')
    expect(columns.filter((column) => column instanceof ArrayBuffer)).toHaveLength(2)
  })

  it('survive the eviction of their object', async () => {
    const { open, stub } = arrange()
    const version = await open().put(PATH, utf8('kept'))
    await evictDurableObject(stub)
    expect(await open().get(PATH)).toMatchObject({ value: utf8('kept'), version })
  })

  it("are an instance's own", async () => {
    const { open } = arrange()
    await open().put(PATH, utf8('ours'))
    await expect(open({ of: crypto.randomUUID() }).get(PATH)).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('do not open at another path, nor swapped with another', async () => {
    const { open, sql } = arrange()
    await open().put('internal/oidc/a', utf8('a'))
    await open().put('internal/oidc/b', utf8('b'))
    await sql(`UPDATE secret SET path = CASE path WHEN 'internal/oidc/a' THEN 'internal/oidc/moved' ELSE path END`)
    await expect(open().get('internal/oidc/moved')).rejects.toMatchObject({
      code: 'Unavailable',
      message: expect.stringContaining('does not open'),
    })
    await sql(`UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE path = 'internal/oidc/moved') WHERE path = 'internal/oidc/b'`)
    await expect(open().get('internal/oidc/b')).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('do not open as another version than they were written as: an older value put back is seen', async () => {
    const { open, sql } = arrange()
    await open().put(PATH, utf8('leaked and replaced'))
    await open().put(PATH, utf8('new'))
    await sql('UPDATE secret SET sealed = previous_sealed')
    await expect(open().get(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('do not open in another instance under the same key', async () => {
    const { open, sql, sealKey } = arrange()
    const other = arrange()
    await open().put(PATH, utf8('ours'))
    await other.open({ key: sealKey }).put(PATH, utf8('theirs'))
    const [row] = await sql('SELECT sealed, version FROM secret')
    await other.sql('UPDATE secret SET sealed = ?, version = ?', row?.sealed, row?.version)
    await expect(other.open({ key: sealKey }).get(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('are Unavailable, with what to look for, when their key is gone or a byte has changed', async () => {
    const { open, sql } = arrange()
    await open().put(PATH, utf8('locked away'))
    const withoutKey = open({ key: newKey() }).get(PATH)
    await expect(withoutKey).rejects.toMatchObject({ code: 'Unavailable', cause: expect.objectContaining({ code: 'Unsupported' }) })
    await expect(open({ key: newKey() }).get(PATH)).rejects.toThrow(`the secret at ${PATH} does not open`)

    await sql(`UPDATE secret SET sealed = x'01'`)
    await expect(open().get(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('open under the previous key, and a value before this one is Unavailable when only its key is gone', async () => {
    const { open, sealKey } = arrange()
    await open().put(PATH, utf8('first'))
    const next = newKey()
    expect(fromUtf8((await open({ key: next, previous: sealKey }).get(PATH)).value)).toBe('first')

    await open({ key: next }).put(PATH, utf8('second'))
    expect(fromUtf8((await open({ key: next }).get(PATH)).value)).toBe('second')
    await expect(open({ key: next }).get(PATH, { previous: true })).rejects.toMatchObject({ code: 'Unavailable' })
  })
})

describe('sealed secrets behind a network that loses answers', () => {
  it('take a write whose answer was lost as the one write it was', async () => {
    const { open, sql } = arrange()
    await open().put(PATH, utf8('first'))
    const version = await open({ namespace: losing() }).put(PATH, utf8('second'))
    expect(await open().get(PATH, { previous: true })).toMatchObject({ value: utf8('second'), version, previous: utf8('first') })

    const next = await open({ namespace: losing() }).putIfVersion(PATH, utf8('third'), version)
    expect(await open().get(PATH, { previous: true })).toMatchObject({ value: utf8('third'), version: next, previous: utf8('second') })

    const created = await open({ namespace: losing() }).putIfVersion('internal/oidc/new', utf8('new'), null)
    expect((await open().get('internal/oidc/new')).version).toBe(created)
    expect(await sql('SELECT count(*) AS n FROM secret')).toEqual([{ n: 2 }])
  })

  it('take a write as landed that another has succeeded before it was repeated', async () => {
    const { open } = arrange()
    const first = await open().put(PATH, utf8('first'))
    const overtaken = () => {
      const lose = everySecond()
      return meanwhile(async () => {
        if (!lose()) return false
        await open().put(PATH, utf8('by another'))
        return true
      })
    }
    await open({ namespace: overtaken() }).put(PATH, utf8('second'))
    expect(await open().get(PATH, { previous: true })).toMatchObject({ value: utf8('by another'), previous: utf8('second') })

    const { version } = await open().get(PATH)
    await open({ namespace: overtaken() }).putIfVersion(PATH, utf8('third'), version)
    expect(await open().get(PATH, { previous: true })).toMatchObject({ value: utf8('by another'), previous: utf8('third') })
    await expect(open().putIfVersion(PATH, utf8('stale'), first)).rejects.toMatchObject({ code: 'Conflict' })
  })

  it('are Unavailable after two lost answers, and the write may be there', async () => {
    const { open } = arrange()
    const cut = open({ namespace: unreliableObjects({ ...never, loses: () => true }) })
    await expect(cut.put(PATH, utf8('x'))).rejects.toMatchObject({ code: 'Unavailable', cause: expect.any(Error) })
    expect(fromUtf8((await open().get(PATH)).value)).toBe('x')
    await expect(cut.get(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(cut.putIfVersion(PATH, utf8('y'), null)).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(cut.list('')).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(cut.delete(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
  })

  it('let one of sixteen writers win, whatever is delayed, lost or evicted on the way', async () => {
    for (let round = 0; round < 3; round++) {
      const { open } = arrange()
      const racer = () => open({ namespace: unreliableObjects({ delay: someDelay, loses: everySecond(), evicts: true }) })
      const first = await race(16, (n) => racer().putIfVersion(PATH, utf8(`create ${n}`), null))
      expect(first.won).toHaveLength(1)
      expect(first.lost).toEqual(Array(15).fill('Conflict'))

      const version = first.won[0]?.value ?? null
      const second = await race(16, (n) => racer().putIfVersion(PATH, utf8(`update ${n}`), version))
      expect(second.won).toHaveLength(1)
      expect(second.lost).toEqual(Array(15).fill('Conflict'))
      const [update] = second.won
      const [create] = first.won
      expect(await open().get(PATH, { previous: true })).toMatchObject({
        value: utf8(`update ${update?.n}`),
        version: update?.value,
        previous: utf8(`create ${create?.n}`),
      })
    }
  })

  it('ask an overloaded object once', async () => {
    const { open } = arrange()
    let calls = 0
    const overloaded = () => {
      calls += 1
      return Promise.reject(Object.assign(new Error('Durable Object is overloaded.'), { overloaded: true, retryable: true }))
    }
    const object: SealedSecretsObject = {
      read: overloaded,
      put: overloaded,
      putIfVersion: overloaded,
      remove: overloaded,
      list: overloaded,
      stale: overloaded,
      countStale: overloaded,
      reseal: overloaded,
    }
    const secrets = open({ namespace: { getByName: () => object } })
    await expect(secrets.get(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(secrets.put(PATH, utf8('x'))).rejects.toMatchObject({ code: 'Unavailable' })
    await expect(secrets.putIfVersion(PATH, utf8('x'), null)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(calls).toBe(3)
  })

  it('send nothing for what they refuse', async () => {
    const { open } = arrange()
    const secrets = open({ namespace: { getByName: () => expect.unreachable('nothing is to be sent') } })
    await expect(secrets.put('a b', utf8('x'))).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(secrets.get('../a')).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(secrets.delete('a//b')).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(secrets.list('/')).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(secrets.putIfVersion(PATH, new Uint8Array(6_136), null)).rejects.toMatchObject({ code: 'TooLarge' })
  })
})

/** The first call's answer is lost after it was applied and its object is gone; what follows arrives. */
function losing(): SealedSecretsNamespace {
  return unreliableObjects({ ...never, loses: everySecond(), evicts: true })
}

/** Asks after every write was applied whether its answer is to be lost, which may take its time. */
function meanwhile(lost: () => Promise<boolean>): SealedSecretsNamespace {
  return {
    getByName(name) {
      const stub = env.SEALED_SECRETS.getByName(name)
      const then = async <T>(call: Promise<T>): Promise<T> => {
        const answer = await call
        if (await lost()) throw new Error('Network connection lost.')
        return answer
      }
      return {
        read: (path, withPrevious) => stub.read(path, withPrevious),
        put: (write) => then(stub.put(write)),
        putIfVersion: (write, expected) => then(stub.putIfVersion(write, expected)),
        remove: (path) => stub.remove(path),
        list: (prefix) => stub.list(prefix),
        stale: (header, after, limit) => stub.stale(header, after, limit),
        countStale: (header) => stub.countStale(header),
        reseal: (seals) => then(stub.reseal(seals)),
      }
    },
  }
}
