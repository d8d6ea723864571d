import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { everySecond, unreliableObjects } from '../../../test/conformance/unreliable-objects.ts'
import { encodeBase64url } from '../../crypto/base64url.ts'
import { utf8 } from '../../crypto/bytes.ts'
import { localSealer } from '../local/sealer.ts'
import { type SealedSecretsNamespace, sealedSecrets } from './secrets.ts'

const random = { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) }
const [OLD = '', NEW = '', LOST = ''] = [1, 2, 3].map((byte) => encodeBase64url(new Uint8Array(32).fill(byte)))
const PATH = 'internal/oidc/clients/a'

/** Secrets of an instance of its own, by whoever has these keys. */
function arrange(namespace: SealedSecretsNamespace = env.SEALED_SECRETS) {
  const instance = crypto.randomUUID()
  const open = (sealKey: string, previous?: string, through = namespace) =>
    sealedSecrets({
      ...{ namespace: through, instance, random, clock: { now: () => 1_791_600_000_123 } },
      sealer: localSealer({ sealKey, previous, random }),
    })
  const stub = env.SEALED_SECRETS.getByName(`sluis-${instance}/secrets`)
  return { before: open(OLD), changing: open(NEW, OLD), after: open(NEW), open, stub }
}

describe('secrets sealed anew', () => {
  it('open without the earlier key, the one before each too, at the version and time they were written', async () => {
    const { before, changing, after } = arrange()
    await before.put(PATH, utf8('first'))
    await before.put(PATH, utf8('second'))
    await before.put('external/oidc/b', utf8('third'))
    const written = await before.get(PATH, { previous: true })
    expect(await changing.stale()).toBe(2)

    expect(await changing.reseal()).toEqual({ resealed: 3, left: 0, unopenable: [] })
    expect(await changing.stale()).toBe(0)
    expect(await after.get(PATH, { previous: true })).toEqual(written)
    expect((await after.get('external/oidc/b')).value).toEqual(utf8('third'))
    await expect(before.get(PATH)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(await changing.reseal()).toEqual({ resealed: 0, left: 0, unopenable: [] })
  })

  it('are only what an earlier key sealed: of a secret with two values the older', async () => {
    const { before, changing, after } = arrange()
    await before.put(PATH, utf8('first'))
    await changing.put(PATH, utf8('second'))
    expect(await changing.reseal()).toEqual({ resealed: 1, left: 0, unopenable: [] })
    expect(await after.get(PATH, { previous: true })).toMatchObject({ value: utf8('second'), previous: utf8('first') })
  })

  it('are all of them, over more than one call carries', async () => {
    const { before, changing, after } = arrange()
    const paths = Array.from({ length: 120 }, (_, n) => `internal/oidc/clients/c${n}`)
    await Promise.all(paths.map((path) => before.put(path, utf8(path))))
    expect(await changing.reseal()).toEqual({ resealed: 120, left: 0, unopenable: [] })
    for (const path of [paths[0], paths[77], paths[119]]) expect((await after.get(path ?? '')).value).toEqual(utf8(path ?? ''))
  })

  it('are not those that do not open: they are named, and stay as they are', async () => {
    const { before, changing, open, stub } = arrange()
    const lost = open(LOST)
    await before.put('internal/oidc/clients/a', utf8('a'))
    await lost.put('internal/oidc/clients/b', utf8('b'))
    await before.put('internal/oidc/clients/c', utf8('c'))
    await runInDurableObject(stub, (_, { storage }) =>
      storage.sql.exec("UPDATE secret SET sealed = (SELECT sealed FROM secret WHERE path LIKE '%/a') WHERE path LIKE '%/c'").toArray(),
    )
    const unopenable = ['internal/oidc/clients/b', 'internal/oidc/clients/c']
    expect(await changing.reseal()).toEqual({ resealed: 1, left: 0, unopenable })
    expect((await lost.get('internal/oidc/clients/b')).value).toEqual(utf8('b'))
    expect((await changing.get('internal/oidc/clients/a')).value).toEqual(utf8('a'))
  })

  it('keep what was written meanwhile: a version names one value', async () => {
    const { before, changing, open } = arrange()
    await before.put(PATH, utf8('first'))
    const objects = unreliableObjects({ delay: () => Promise.resolve(), loses: () => false, evicts: false })
    const meanwhile: SealedSecretsNamespace = {
      getByName(name) {
        const object = objects.getByName(name)
        return {
          ...object,
          async reseal(seals) {
            await before.put(PATH, utf8('second'))
            await object.reseal(seals)
          },
        }
      },
    }
    expect(await open(NEW, OLD, meanwhile).reseal()).toEqual({ resealed: 1, left: 1, unopenable: [] })
    expect(await changing.get(PATH, { previous: true })).toMatchObject({ value: utf8('second'), previous: utf8('first') })
    expect(await changing.reseal()).toEqual({ resealed: 1, left: 0, unopenable: [] })
  })

  it('by two at once, over a network that loses answers, are whole', async () => {
    const { before, open, after } = arrange()
    const lossy = unreliableObjects({ delay: () => Promise.resolve(), loses: everySecond(), evicts: false })
    const paths = Array.from({ length: 60 }, (_, n) => `internal/oidc/clients/c${n}`)
    await Promise.all(paths.map((path) => before.put(path, utf8(path))))
    await Promise.all([open(NEW, OLD).reseal(), open(NEW, OLD, lossy).reseal()])
    expect(await after.stale()).toBe(0)
    for (const path of paths) expect((await after.get(path)).value).toEqual(utf8(path))
  })
})
