import { expect } from 'vitest'
import type { Bytes } from '../../src/ports/platform.ts'
import { SECRET_VALUE_LIMIT, type Secrets } from '../../src/ports/secrets.ts'
import { bytes, race, text } from './arrange.ts'
import { type Case, runCases, type Skips } from './cases.ts'

export interface SecretsUnderTest {
  /** A fresh adapter over this subject's store, which is empty at first: racers are separate adapters. */
  open(): Secrets
}

/**
 * What every Secrets adapter holds (seed: storage-layout, "Another Secrets store"). Every address used is one that
 * layout v5 has a parameter for, and what stands under `external/` is a document of it.
 */
export function runSecretsSuite(name: string, factory: () => Promise<SecretsUnderTest>, options: { skip?: Skips } = {}): void {
  runCases(`Secrets: ${name}`, secretsCases, factory, options.skip)
}

const PATH = 'internal/oidc/suite/one'
const RACERS = 16

const badPaths = ['', '/a', 'a/', 'a//b', 'a/../b', 'a/./b', 'a b', 'a?b', 'a*', 'a~b', 'é', '.', '..', 'a\n', 'internal/oidc/']

function clientDocument(secret: string): Bytes {
  return bytes(`{"client-id":"rp","client-secret":"${secret}","schema":"oidc/v1"}`)
}

export const secretsCases: readonly Case<SecretsUnderTest>[] = [
  {
    id: 'secrets/get-absent',
    rule: 'a secret that was never written is NotFound',
    async holds({ open }) {
      await expect(open().get(PATH)).rejects.toMatchObject({ code: 'NotFound' })
    },
  },
  {
    id: 'secrets/put-get',
    rule: 'what was put is read back with the version the put answered',
    async holds({ open }) {
      const version = await open().put(PATH, bytes('hunter2'))
      const secret = await open().get(PATH)
      expect(text(secret.value)).toBe('hunter2')
      expect(secret.version).toBe(version)
    },
  },
  {
    id: 'secrets/modified',
    rule: 'modified is the unix millisecond of the newest write',
    async holds({ open }) {
      const before = Date.now()
      await open().put(PATH, bytes('first'))
      const { modified } = await open().get(PATH)
      // 5 s either way: the store may have a clock of its own
      expect(Math.abs(modified - before)).toBeLessThan(5_000)
      await open().put(PATH, bytes('second'))
      expect((await open().get(PATH)).modified).toBeGreaterThanOrEqual(modified)
    },
  },
  {
    id: 'secrets/version-changes',
    rule: 'the version changes with every write, one of identical bytes too',
    async holds({ open }) {
      const versions = [
        await open().put(PATH, bytes('same')),
        await open().put(PATH, bytes('same')),
        await open().put(PATH, bytes('other')),
      ]
      expect(new Set(versions).size).toBe(3)
      expect((await open().get(PATH)).version).toBe(versions[2])
    },
  },
  {
    id: 'secrets/previous',
    rule: 'the value before this one is answered when asked for, and only then',
    async holds({ open }) {
      await open().put(PATH, bytes('first'))
      expect(await open().get(PATH, { previous: true })).not.toHaveProperty('previous')

      const version = await open().put(PATH, bytes('second'))
      await open().putIfVersion(PATH, bytes('third'), version)
      expect(text((await open().get(PATH, { previous: true })).previous)).toBe('second')
      expect(await open().get(PATH)).not.toHaveProperty('previous')
    },
  },
  {
    id: 'secrets/previous-of-identical',
    rule: 'an identical rewrite is a write: the value before it is the same one',
    async holds({ open }) {
      await open().put(PATH, bytes('old'))
      await open().put(PATH, bytes('new'))
      await open().put(PATH, bytes('new'))
      expect(text((await open().get(PATH, { previous: true })).previous)).toBe('new')
    },
  },
  {
    id: 'secrets/previous-after-delete',
    rule: 'a secret written again after its deletion has no value before it',
    async holds({ open }) {
      await open().put(PATH, bytes('first'))
      await open().put(PATH, bytes('second'))
      await open().delete(PATH)
      await open().put(PATH, bytes('third'))
      expect(await open().get(PATH, { previous: true })).not.toHaveProperty('previous')
    },
  },
  {
    id: 'secrets/put-if-version',
    rule: 'a write over the version read lands; over another it is Conflict and changes nothing; over nothing NotFound',
    async holds({ open }) {
      const first = await open().put(PATH, bytes('first'))
      const second = await open().putIfVersion(PATH, bytes('second'), first)
      expect(await open().get(PATH)).toMatchObject({ value: bytes('second'), version: second })

      await expect(open().putIfVersion(PATH, bytes('third'), first)).rejects.toMatchObject({ code: 'Conflict' })
      await expect(open().putIfVersion(PATH, bytes('third'), 'no version of ours')).rejects.toMatchObject({ code: 'Conflict' })
      expect(await open().get(PATH)).toMatchObject({ value: bytes('second'), version: second })

      await expect(open().putIfVersion('internal/oidc/suite/absent', bytes('x'), '7')).rejects.toMatchObject({ code: 'NotFound' })
      await expect(open().get('internal/oidc/suite/absent')).rejects.toMatchObject({ code: 'NotFound' })
    },
  },
  {
    id: 'secrets/put-if-version-race',
    rule: `of ${RACERS} writers over one version exactly one lands, and the others are Conflict`,
    async holds({ open }) {
      const version = await open().put(PATH, bytes('start'))
      const { won, lost } = await race(RACERS, (n) => open().putIfVersion(PATH, bytes(`racer ${n}`), version))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Conflict'))
      expect(await open().get(PATH)).toMatchObject({ value: bytes(`racer ${won[0]?.n}`), version: won[0]?.value })
    },
  },
  {
    id: 'secrets/put-if-absent',
    rule: 'a write over absence lands once; the second is Conflict and changes nothing; after a deletion it lands again',
    async holds({ open }) {
      const version = await open().putIfVersion(PATH, bytes('first'), null)
      await expect(open().putIfVersion(PATH, bytes('second'), null)).rejects.toMatchObject({ code: 'Conflict' })
      expect(await open().get(PATH)).toMatchObject({ value: bytes('first'), version })

      await open().delete(PATH)
      await open().putIfVersion(PATH, bytes('third'), null)
      expect(text((await open().get(PATH)).value)).toBe('third')
    },
  },
  {
    id: 'secrets/put-if-absent-race',
    rule: `of ${RACERS} writers over absence exactly one lands, and the others are Conflict`,
    async holds({ open }) {
      const { won, lost } = await race(RACERS, (n) => open().putIfVersion(PATH, bytes(`racer ${n}`), null))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Conflict'))
      expect(await open().get(PATH)).toMatchObject({ value: bytes(`racer ${won[0]?.n}`), version: won[0]?.value })
    },
  },
  {
    id: 'secrets/delete',
    rule: 'a deleted secret is NotFound; deleting it again, or one that never was, is success',
    async holds({ open }) {
      const version = await open().put(PATH, bytes('gone soon'))
      await open().delete(PATH)
      await expect(open().get(PATH)).rejects.toMatchObject({ code: 'NotFound' })
      await expect(open().putIfVersion(PATH, bytes('x'), version)).rejects.toMatchObject({ code: 'NotFound' })
      await open().delete(PATH)
      await open().delete('internal/oidc/suite/never')
      expect(await open().list('')).toEqual([])
    },
  },
  {
    id: 'secrets/list-by-segment',
    rule: 'a listing names what stands below whole segments, every depth, sorted; an unknown prefix has nothing',
    async holds({ open }) {
      const root = 'internal/oidc/suite'
      const secrets = open()
      for (const name of ['b', 'a/two', 'ab/four', 'a/one', 'a-c/five', 'a/deep/three']) await secrets.put(`${root}/${name}`, bytes(name))
      const below = async (prefix: string) => (await open().list(prefix)).map((path) => path.slice(root.length + 1))

      expect(await below(`${root}/a`)).toEqual(['a/deep/three', 'a/one', 'a/two'])
      expect(await below(`${root}/a/`)).toEqual(['a/deep/three', 'a/one', 'a/two'])
      expect(await below(`${root}/a/deep`)).toEqual(['a/deep/three'])
      expect(await below(`${root}/a/one`)).toEqual([])
      expect(await below(`${root}/ab`)).toEqual(['ab/four'])
      expect(await below(`${root}/nope`)).toEqual([])
      expect(await below('')).toEqual(['a-c/five', 'a/deep/three', 'a/one', 'a/two', 'ab/four', 'b'])
    },
  },
  {
    id: 'secrets/export-prefix',
    rule: "documents for consumers stand under external/, apart from the service's own",
    async holds({ open }) {
      await open().put('external/oidc/rp', clientDocument('one'))
      await open().put('internal/oidc/rp', bytes('ours'))
      expect(text((await open().get('external/oidc/rp')).value)).toBe(text(clientDocument('one')))
      expect(text((await open().get('internal/oidc/rp')).value)).toBe('ours')
      expect(await open().list('external')).toEqual(['external/oidc/rp'])
      expect(await open().list('internal')).toEqual(['internal/oidc/rp'])
    },
  },
  {
    id: 'secrets/one-place',
    rule: "a generated client's two addresses are one place, listed under external/",
    async holds({ open }) {
      const first = await open().put('credentials/oidc-client/rp/secret', clientDocument('one'))
      expect(await open().get('external/oidc/rp')).toMatchObject({ value: clientDocument('one'), version: first })
      await expect(open().putIfVersion('external/oidc/rp', clientDocument('two'), null)).rejects.toMatchObject({ code: 'Conflict' })

      const second = await open().putIfVersion('external/oidc/rp', clientDocument('two'), first)
      expect(await open().get('credentials/oidc-client/rp/secret')).toMatchObject({ value: clientDocument('two'), version: second })
      expect(await open().list('')).toEqual(['external/oidc/rp'])

      await open().delete('credentials/oidc-client/rp/secret')
      await expect(open().get('external/oidc/rp')).rejects.toMatchObject({ code: 'NotFound' })
    },
  },
  {
    id: 'secrets/refuses-bad-paths',
    rule: 'a path outside the grammar is Unsupported in every operation',
    async holds({ open }) {
      for (const path of badPaths) {
        await expect(open().get(path), `get ${path}`).rejects.toMatchObject({ code: 'Unsupported' })
        await expect(open().put(path, bytes('x')), `put ${path}`).rejects.toMatchObject({ code: 'Unsupported' })
        await expect(open().putIfVersion(path, bytes('x'), null), `putIfVersion ${path}`).rejects.toMatchObject({ code: 'Unsupported' })
        await expect(open().delete(path), `delete ${path}`).rejects.toMatchObject({ code: 'Unsupported' })
      }
      for (const prefix of ['/', '/a', 'a//', 'a/../b', 'a b', 'é']) {
        await expect(open().list(prefix), `list ${prefix}`).rejects.toMatchObject({ code: 'Unsupported' })
      }
      expect(await open().list('')).toEqual([])
    },
  },
  {
    id: 'secrets/refuses-too-large',
    rule: `a value over ${SECRET_VALUE_LIMIT} bytes is TooLarge and changes nothing; exactly ${SECRET_VALUE_LIMIT} is kept`,
    async holds({ open }) {
      const exact = new Uint8Array(SECRET_VALUE_LIMIT).fill(0xfe)
      const over = new Uint8Array(SECRET_VALUE_LIMIT + 1)
      const version = await open().put(PATH, exact)
      await expect(open().put(PATH, over)).rejects.toMatchObject({ code: 'TooLarge' })
      await expect(open().putIfVersion(PATH, over, version)).rejects.toMatchObject({ code: 'TooLarge' })
      await expect(open().putIfVersion('internal/oidc/suite/new', over, null)).rejects.toMatchObject({ code: 'TooLarge' })
      expect(await open().get(PATH)).toMatchObject({ value: exact, version })
      expect(await open().list('')).toEqual([PATH])

      await open().putIfVersion('internal/oidc/suite/new', exact, null)
      expect((await open().get('internal/oidc/suite/new')).value).toEqual(exact)
    },
  },
  {
    id: 'secrets/binary-value',
    rule: 'a value is bytes: NUL, 0xff, line ends, trailing spaces and nothing at all are kept',
    async holds({ open }) {
      const every = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      for (const value of [every, new Uint8Array([0, 0xff, 13, 10, 32, 32]), bytes(' \r\n '), new Uint8Array(0)]) {
        await open().put(PATH, value)
        expect((await open().get(PATH)).value).toEqual(value)
      }
    },
  },
  {
    id: 'secrets/returns-a-copy',
    rule: 'what a caller does to its buffers changes no secret',
    async holds({ open }) {
      const secrets = open()
      const given = bytes('first')
      const putting = secrets.put(PATH, given)
      given.fill(0)
      const version = await putting
      const next = bytes('second')
      const replacing = secrets.putIfVersion(PATH, next, version)
      next.fill(0)
      await replacing

      const answered = await secrets.get(PATH, { previous: true })
      answered.value.fill(0)
      answered.previous?.fill(0)
      const again = await secrets.get(PATH, { previous: true })
      expect(text(again.value)).toBe('second')
      expect(text(again.previous)).toBe('first')
    },
  },
]
