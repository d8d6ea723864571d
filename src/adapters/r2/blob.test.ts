import { env } from 'cloudflare:workers'
import { describe, expect, it } from 'vitest'
import { utf8 } from '../../crypto/bytes.ts'
import { r2Blob } from './blob.ts'
import { PART_SIZE } from './upload.ts'

type Method = (...args: unknown[]) => unknown

/** The bucket, with some of its methods answered otherwise; each is given the real one. */
function bucketWith(methods: Record<string, (real: Method) => Method>): R2Bucket {
  return new Proxy(env.BLOBS, {
    get(bucket, name) {
      const real: unknown = Reflect.get(bucket, name)
      if (typeof real !== 'function') return real
      const bound: Method = (...args) => Reflect.apply(real, bucket, args)
      return methods[String(name)]?.(bound) ?? bound
    },
  })
}

function arrange(methods: Record<string, (real: Method) => Method> = {}) {
  const prefix = crypto.randomUUID()
  return { prefix, real: r2Blob({ bucket: env.BLOBS, prefix }), blob: r2Blob({ bucket: bucketWith(methods), prefix }) }
}

/** `parts` whole parts and `rest` bytes, then an error when it is to break. Tells whether its reader let go of it. */
function source(parts: number, rest: number, breaks = false) {
  const chunks = [...Array<number>(parts).fill(PART_SIZE), ...(rest > 0 ? [rest] : [])]
  const state = { cancelled: false }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const size = chunks.shift()
        if (size !== undefined) controller.enqueue(new Uint8Array(size).fill(parts))
        else if (breaks) controller.error(new Error('the source broke'))
        else controller.close()
      },
      cancel() {
        state.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { state, stream }
}

const down = () => () => Promise.reject(new Error('internal error (10001)'))

describe('the r2 blob', () => {
  it('keeps names under its prefix, so that instances share a bucket', async () => {
    const prefix = crypto.randomUUID()
    const one = r2Blob({ bucket: env.BLOBS, prefix: `/${prefix}/one/` })
    const other = r2Blob({ bucket: env.BLOBS, prefix: `${prefix}/other` })
    const all = r2Blob({ bucket: env.BLOBS })
    await one.write('github/reports/acme', utf8('one'))
    await other.write('github/reports/acme', utf8('other'))
    expect((await one.read('github/reports/acme')).body).toEqual(utf8('one'))
    expect(await one.list('')).toEqual(['github/reports/acme'])
    expect(await all.list(prefix)).toEqual([`${prefix}/one/github/reports/acme`, `${prefix}/other/github/reports/acme`])
  })

  it('lists every page', async () => {
    const pages: unknown[] = []
    const { blob, real } = arrange({
      list: (list) => (options) => {
        pages.push(options)
        return list({ ...(options as R2ListOptions), limit: 2 })
      },
    })
    for (const name of ['e', 'c', 'a', 'd', 'b']) await real.write(name, utf8(name))
    expect(await blob.list('')).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(pages).toHaveLength(3)
  })

  it('has the etag as version: identical bytes keep it', async () => {
    const { real } = arrange()
    const first = await real.write('a', utf8('same'))
    expect(await real.write('a', utf8('same'))).toBe(first)
    expect(await real.write('a', utf8('other'))).not.toBe(first)
  })

  it('asks nothing of R2 with a version that is no etag, and still tells Conflict from NotFound', async () => {
    const { blob, real } = arrange({ put: () => () => expect.unreachable('nothing is to be put') })
    await real.write('a', utf8('x'))
    await expect(blob.writeIfVersion('a', utf8('y'), '*')).rejects.toMatchObject({ code: 'Conflict' })
    await expect(blob.writeIfVersion('b', utf8('y'), '*')).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('refuses a key over 1,024 bytes, the prefix and every byte of a letter counted', async () => {
    const { prefix, real } = arrange()
    const room = 1_024 - prefix.length - 1
    await real.write('a'.repeat(room), utf8('fits'))
    await expect(real.write('a'.repeat(room + 1), utf8('x'))).rejects.toMatchObject({ code: 'Unsupported' })
    await expect(real.read('é'.repeat(room / 2 + 1))).rejects.toMatchObject({ code: 'Unsupported' })
  })

  it('is Unavailable with the cause when R2 is', async () => {
    const { blob } = arrange({ get: down, put: down, head: down, delete: down, list: down, createMultipartUpload: down })
    const calls = [
      () => blob.read('a'),
      () => blob.write('a', utf8('x')),
      () => blob.writeIfVersion('a', utf8('x'), '0'),
      () => blob.writeIfVersion('a', utf8('x'), '*'),
      () => blob.delete('a'),
      () => blob.list(''),
      () => blob.readStream('a'),
      () => blob.writeStream('a', source(0, 1).stream),
      () => blob.writeStream('a', source(2, 0).stream),
    ]
    for (const call of calls) {
      await expect(call()).rejects.toMatchObject({
        code: 'Unavailable',
        cause: expect.objectContaining({ message: 'internal error (10001)' }),
      })
    }
  })
})

describe('a stream written to r2', () => {
  it('goes in one request below a part, and in parts from a whole one on', async () => {
    for (const [parts, rest, uploads] of [
      [0, 0, 0],
      [0, PART_SIZE - 1, 0],
      [1, 0, 1],
      [1, 1, 2],
      [2, 0, 2],
    ] as const) {
      const sizes: number[] = []
      const { blob, real } = arrange({ createMultipartUpload: watchParts({ sizes }) })
      const version = await blob.writeStream('big', source(parts, rest).stream)
      expect(sizes, `${parts} parts and ${rest}`).toHaveLength(uploads)
      const { body, version: read } = await real.read('big')
      expect(read).toBe(version)
      expect(body).toHaveLength(parts * PART_SIZE + rest)
    }
  })

  it('is aborted when a part fails: what stood before stands, and the source is let go', async () => {
    const seen = { sizes: [], aborted: 0 }
    const { blob, real } = arrange({ createMultipartUpload: watchParts(seen, { failAt: 2 }) })
    const version = await real.write('big', utf8('before'))
    const { state, stream } = source(3, 5)
    await expect(blob.writeStream('big', stream)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(seen.aborted).toBe(1)
    expect(state.cancelled).toBe(true)
    expect(await real.read('big')).toEqual({ body: utf8('before'), version })
  })

  it('is aborted when its source breaks', async () => {
    const seen = { sizes: [], aborted: 0 }
    const { blob, real } = arrange({ createMultipartUpload: watchParts(seen) })
    await expect(blob.writeStream('big', source(2, 5, true).stream)).rejects.toMatchObject({
      code: 'Unavailable',
      cause: expect.objectContaining({ message: 'the source broke' }),
    })
    expect(seen.aborted).toBe(1)
    await expect(real.read('big')).rejects.toMatchObject({ code: 'NotFound' })
  })

  it('lets its source go when no upload can be begun', async () => {
    const { blob } = arrange({ createMultipartUpload: down })
    const { state, stream } = source(2, 0)
    await expect(blob.writeStream('big', stream)).rejects.toMatchObject({ code: 'Unavailable' })
    expect(state.cancelled).toBe(true)
  })
})

/** Notes the size of each part and every abort; the part `failAt` fails. */
function watchParts(seen: { sizes: number[]; aborted?: number }, { failAt = 0 } = {}): (real: Method) => Method {
  return (create) =>
    async (...args) => {
      const upload = (await create(...args)) as R2MultipartUpload
      return {
        uploadPart(number: number, part: Uint8Array) {
          if (number === failAt) return Promise.reject(new Error('internal error (10001)'))
          seen.sizes.push(part.length)
          return upload.uploadPart(number, part)
        },
        complete: (parts: R2UploadedPart[]) => upload.complete(parts),
        abort() {
          seen.aborted = (seen.aborted ?? 0) + 1
          return upload.abort()
        },
      }
    }
}
