import { expect } from 'vitest'
import type { Blob } from '../../src/ports/blob.ts'
import type { Bytes } from '../../src/ports/platform.ts'
import { bytes, patterned, race, text } from './arrange.ts'
import { type Case, runCases, type Skips } from './cases.ts'

export interface BlobUnderTest {
  /** A fresh adapter over this subject's store, which is empty at first: racers are separate adapters. */
  open(): Blob
}

/** What every Blob adapter holds. Names are those in use: reports, the directory's cache, backups. */
export function runBlobSuite(name: string, factory: () => Promise<BlobUnderTest>, options: { skip?: Skips } = {}): void {
  runCases(`Blob: ${name}`, blobCases, factory, options.skip)
}

const NAME = 'github/reports/acme'
const RACERS = 16
/** bytes: two parts of 8 MiB and a short one, whatever an adapter's parts are */
const LARGE = 17 * 1024 * 1024 + 3

export const blobCases: readonly Case<BlobUnderTest>[] = [
  {
    id: 'blob/round-trip',
    rule: 'an object that was never written is NotFound; a body and its version are read back; another body has another version',
    async holds({ open }) {
      for (const name of [NAME, 'google/cache/C01ipl6j0', 'backup/acme/20261010T020000Z-3fa9c1.tar.gz.age']) {
        await expect(open().read(name)).rejects.toMatchObject({ code: 'NotFound' })
        const body = Uint8Array.from({ length: 256 }, (_, byte) => byte)
        const first = await open().write(name, body)
        expect(await open().read(name)).toEqual({ body, version: first })

        const second = await open().write(name, bytes('replaced'))
        expect(second).not.toBe(first)
        expect(await open().read(name)).toEqual({ body: bytes('replaced'), version: second })
      }
    },
  },
  {
    id: 'blob/empty-body',
    rule: 'an object may be empty',
    async holds({ open }) {
      const version = await open().write(NAME, new Uint8Array(0))
      expect(await open().read(NAME)).toEqual({ body: new Uint8Array(0), version })
    },
  },
  {
    id: 'blob/write-if-version',
    rule: 'a write over the version read lands; over another it is Conflict and changes nothing; over nothing NotFound',
    async holds({ open }) {
      const first = await open().write(NAME, bytes('first'))
      const second = await open().writeIfVersion(NAME, bytes('second'), first)
      expect(await open().read(NAME)).toEqual({ body: bytes('second'), version: second })

      for (const version of [first, 'no version of ours', '', '*', '"', `"${second}"`]) {
        await expect(open().writeIfVersion(NAME, bytes('third'), version), version).rejects.toMatchObject({ code: 'Conflict' })
        await expect(open().writeIfVersion('github/reports/absent', bytes('x'), version), version).rejects.toMatchObject({
          code: 'NotFound',
        })
      }
      await expect(open().read('github/reports/absent')).rejects.toMatchObject({ code: 'NotFound' })
      expect(await open().read(NAME)).toEqual({ body: bytes('second'), version: second })

      await open().delete(NAME)
      await expect(open().writeIfVersion(NAME, bytes('fourth'), second)).rejects.toMatchObject({ code: 'NotFound' })
    },
  },
  {
    id: 'blob/write-if-version-race',
    rule: `of ${RACERS} writers over one version exactly one lands, and the others are Conflict`,
    async holds({ open }) {
      const version = await open().write(NAME, bytes('start'))
      const { won, lost } = await race(RACERS, (n) => open().writeIfVersion(NAME, bytes(`racer ${n}`), version))
      expect(won).toHaveLength(1)
      expect(lost).toEqual(Array(RACERS - 1).fill('Conflict'))
      expect(await open().read(NAME)).toEqual({ body: bytes(`racer ${won[0]?.n}`), version: won[0]?.value })
    },
  },
  {
    id: 'blob/list-delete',
    rule: 'a listing has the full names under any string, sorted; deleting twice is success',
    async holds({ open }) {
      const blob = open()
      expect(await blob.list('')).toEqual([])
      for (const name of ['slack/reports/T01', 'github/reports/b', 'github/repos', 'github/reports/a', 'github/reports/a/deep']) {
        await blob.write(name, bytes(name))
      }
      expect(await open().list('github/rep')).toEqual(['github/reports/a', 'github/reports/a/deep', 'github/reports/b', 'github/repos'])
      expect(await open().list('github/reports/a')).toEqual(['github/reports/a', 'github/reports/a/deep'])
      expect(await open().list('github/reports/')).toEqual(['github/reports/a', 'github/reports/a/deep', 'github/reports/b'])
      expect(await open().list('nothing')).toEqual([])

      await open().delete('github/reports/a')
      await open().delete('github/reports/a')
      await expect(open().read('github/reports/a')).rejects.toMatchObject({ code: 'NotFound' })
      expect(await open().list('')).toEqual(['github/reports/a/deep', 'github/reports/b', 'github/repos', 'slack/reports/T01'])
    },
  },
  {
    id: 'blob/list-order',
    rule: 'names are sorted by their UTF-8 bytes',
    async holds({ open }) {
      // U+FF5E sorts before U+1F600 by bytes and after it by UTF-16 units.
      const names = ['order/A', 'order/Z', 'order/a', 'order/é', 'order/\u{ff5e}', 'order/\u{1f600}']
      const blob = open()
      for (const name of names.toReversed()) await blob.write(name, bytes(name))
      expect(await open().list('order/')).toEqual(names)
      expect(text((await open().read('order/\u{1f600}')).body)).toBe('order/\u{1f600}')
    },
  },
  {
    id: 'blob/refuses-no-name',
    rule: 'an object without a name is Unsupported in every operation',
    async holds({ open }) {
      const operations: [string, () => Promise<unknown>][] = [
        ['read', () => open().read('')],
        ['write', () => open().write('', bytes('x'))],
        ['writeIfVersion', () => open().writeIfVersion('', bytes('x'), '1')],
        ['delete', () => open().delete('')],
        ['readStream', () => open().readStream('')],
        ['writeStream', () => open().writeStream('', streamOf(bytes('x')))],
      ]
      for (const [operation, call] of operations) await expect(call(), operation).rejects.toMatchObject({ code: 'Unsupported' })
      expect(await open().list('')).toEqual([])
    },
  },
  {
    id: 'blob/returns-a-copy',
    rule: 'what a caller does to its buffers changes no object',
    async holds({ open }) {
      const blob = open()
      const given = bytes('first')
      await blob.write(NAME, given)
      given.fill(0)
      const answered = await blob.read(NAME)
      answered.body.fill(0)
      expect(text((await blob.read(NAME)).body)).toBe('first')
    },
  },
  {
    id: 'blob/stream-round-trip',
    rule: 'a stream of any chunks is written whole, has a version that conditions take, and reads back as a stream or at once',
    async holds({ open }) {
      await expect(open().readStream(NAME)).rejects.toMatchObject({ code: 'NotFound' })
      const written = await open().writeStream(NAME, streamOf(bytes('one '), new Uint8Array(0), bytes('two')))
      expect(await open().read(NAME)).toEqual({ body: bytes('one two'), version: written })

      const { body, version } = await open().readStream(NAME)
      expect(version).toBe(written)
      expect(text(await collect(body))).toBe('one two')

      const next = await open().writeIfVersion(NAME, bytes('three'), written)
      expect(next).not.toBe(written)
      await expect(open().writeIfVersion(NAME, bytes('four'), written)).rejects.toMatchObject({ code: 'Conflict' })
    },
  },
  {
    id: 'blob/stream-empty',
    rule: 'a stream of nothing is an empty object',
    async holds({ open }) {
      const version = await open().writeStream(NAME, streamOf())
      expect(await open().read(NAME)).toEqual({ body: new Uint8Array(0), version })
    },
  },
  {
    id: 'blob/stream-large',
    rule: 'a stream larger than a part is written byte for byte, and its version is the one a condition takes',
    async holds({ open }) {
      const whole = patterned(LARGE)
      const version = await open().writeStream(NAME, streamOf(...chunksOf(whole, 1_000_003)))
      const { body } = await open().readStream(NAME)
      expect(equal(await collect(body), whole)).toBe(true)
      await open().writeIfVersion(NAME, bytes('small again'), version)
      expect(text((await open().read(NAME)).body)).toBe('small again')
    },
  },
  {
    id: 'blob/stream-broken',
    rule: 'a stream that fails is refused and leaves what stood before: nothing, or the object as it was',
    async holds({ open }) {
      await expect(open().writeStream(NAME, breakingAfter(bytes('half')))).rejects.toMatchObject({ code: 'Unavailable' })
      await expect(open().read(NAME)).rejects.toMatchObject({ code: 'NotFound' })

      const version = await open().write(NAME, bytes('whole'))
      const chunks = chunksOf(patterned(LARGE), 1024 * 1024)
      await expect(open().writeStream(NAME, breakingAfter(...chunks))).rejects.toMatchObject({ code: 'Unavailable' })
      expect(await open().read(NAME)).toEqual({ body: bytes('whole'), version })
      expect(await open().list('')).toEqual([NAME])
    },
  },
]

function chunksOf(whole: Bytes, size: number): Bytes[] {
  const chunks: Bytes[] = []
  for (let at = 0; at < whole.length; at += size) chunks.push(whole.slice(at, at + size))
  return chunks
}

function streamOf(...chunks: Bytes[]): ReadableStream<Uint8Array> {
  const rest = [...chunks]
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.shift()
      if (chunk) controller.enqueue(chunk)
      else controller.close()
    },
  })
}

function breakingAfter(...chunks: Bytes[]): ReadableStream<Uint8Array> {
  const rest = [...chunks]
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      const chunk = rest.shift()
      if (chunk) controller.enqueue(chunk)
      else controller.error(new Error('the source broke'))
    },
  })
}

async function collect(stream: ReadableStream<Uint8Array>): Promise<Bytes> {
  const chunks: Bytes[] = []
  for await (const chunk of stream) chunks.push(new Uint8Array(chunk))
  const whole = new Uint8Array(chunks.reduce((length, chunk) => length + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** Not toEqual: of megabytes it would say for minutes how they differ. */
function equal(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
