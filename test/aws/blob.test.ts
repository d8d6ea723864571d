import { GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { s3Client } from '../../src/adapters/aws/s3-client.ts'
import { s3Blob } from '../../src/adapters/s3/blob.ts'
import { utf8 } from '../../src/crypto/bytes.ts'
import type { Fetch } from '../../src/ports/platform.ts'
import { type AwsEmulator, startAwsEmulator } from '../aws-emulator/emulator.ts'
import { clock, random } from '../conformance/arrange.ts'
import { runBlobSuite } from '../conformance/blob-suite.ts'

const PART = 8 * 1024 * 1024 // bytes, as src/adapters/s3 cuts
const ALIAS = 'alias/objects'

let emulator: AwsEmulator
let buckets = 0

beforeAll(async () => {
  emulator = await startAwsEmulator({ keyAliases: [ALIAS] })
})
beforeEach(() => {
  emulator.faults.clear()
  emulator.requests.reset()
})
afterAll(() => emulator.stop())

interface Arranged {
  /** The network of an adapter; each has its own. */
  network?: () => Fetch
  sseKmsKeyId?: string
  prefix?: string
}

/** A bucket of its own, and adapters over it. */
function arrange({ network = () => fetch, sseKmsKeyId, prefix = 'acme' }: Arranged = {}) {
  const bucket = `bucket-${++buckets}`
  emulator.createBuckets([bucket])
  const { url: endpoint, region, credentials } = emulator
  const parts = { bucket, endpoint, region, credentials: credentials[0], clock, random, pause: async () => undefined }
  return { bucket, open: (through = network()) => s3Blob({ client: s3Client({ ...parts, fetch: through }), prefix, sseKmsKeyId }) }
}

/** Does something else the first time a call of a method, an address and a body comes. */
function firstTime(instead: (request: () => Promise<Response>) => Promise<Response>): Fetch {
  const seen = new Set<string>()
  return async (input, init) => {
    const call = [init?.method, input, new Headers(init?.headers).get('x-amz-content-sha256')].join(' ')
    const request = () => fetch(input, init)
    if (seen.delete(call)) return await request() // so that the same call, made again later, loses its first answer too
    seen.add(call)
    return await instead(request)
  }
}

/** Every call is carried out, and its answer lost, before its repetition is answered. */
function forgetful(): Fetch {
  return firstTime(async (request) => {
    await (await request()).body?.cancel()
    throw new TypeError('the connection was lost')
  })
}

function slowing(): Fetch {
  return firstTime(async () => new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 }))
}

runBlobSuite('s3', async () => arrange())
runBlobSuite('s3, every answer lost once', async () => arrange({ network: forgetful }))
runBlobSuite('s3, every call slowed down once', async () => arrange({ network: slowing }))
runBlobSuite('s3, under a KMS key', async () => arrange({ sseKmsKeyId: ALIAS }))

function streamOf(...sizes: number[]): ReadableStream<Uint8Array> {
  const rest = [...sizes]
  return new ReadableStream({
    pull(controller) {
      const size = rest.shift()
      if (size === undefined) controller.close()
      else controller.enqueue(new Uint8Array(size).fill(rest.length))
    },
  })
}

/** How often S3 carried each operation out. */
function counted(): Record<string, number> {
  return Object.fromEntries(Object.entries(emulator.requests.counts).map(([name, times]) => [name.replace('s3.', ''), times]))
}

describe('a stream to s3', () => {
  test('is one put below a part, and parts from a whole one on', async () => {
    for (const [sizes, requests] of [
      [[PART - 1], { PutObject: 1 }],
      [[PART], { CreateMultipartUpload: 1, UploadPart: 1, CompleteMultipartUpload: 1 }],
      [[PART, PART, 1], { CreateMultipartUpload: 1, UploadPart: 3, CompleteMultipartUpload: 1 }],
    ] as const) {
      const { open } = arrange()
      emulator.requests.reset()
      await open().writeStream('a', streamOf(...sizes))
      expect(counted()).toEqual(requests)
    }
  })

  test('leaves no upload behind when a part is refused', async () => {
    const { open } = arrange()
    emulator.faults.set({ next: [{ service: 's3', operation: 'UploadPart', after: 1, fault: { type: 'AccessDenied', status: 403 } }] })
    await expect(open().writeStream('a', streamOf(PART, PART))).rejects.toMatchObject({ code: 'Unavailable' })
    expect(counted()).toMatchObject({ AbortMultipartUpload: 1 })
    await expect(open().read('a')).rejects.toMatchObject({ code: 'NotFound' })
  })
})

test('a conditional write whose answer was lost, and that another replaced since, is Conflict', async () => {
  const { open } = arrange()
  const version = await open().write('a', utf8('before'))
  const losing: Fetch = firstTime(async (request) => {
    await (await request()).body?.cancel()
    await open().write('a', utf8('theirs'))
    throw new TypeError('the connection was lost')
  })
  await expect(open(losing).writeIfVersion('a', utf8('ours'), version)).rejects.toMatchObject({ code: 'Conflict' })
  expect((await open().read('a')).body).toEqual(utf8('theirs'))
})

test('a bucket that is not there is Unavailable, and says so', async () => {
  const { url: endpoint, region, credentials } = emulator
  const client = s3Client({ bucket: 'nowhere', endpoint, region, credentials: credentials[0], fetch, clock, random })
  const blob = s3Blob({ client })
  for (const call of [() => blob.read('a'), () => blob.write('a', utf8('x')), () => blob.list(''), () => blob.delete('a')])
    await expect(call()).rejects.toMatchObject({ code: 'Unavailable', message: 'the S3 bucket does not exist' })
})

describe("beside the AWS SDK's client", () => {
  const NAMES = ['plain', 'google/cache/C01 + é & <b>.json', "a//b:c@d*e%20'(f)!~", '\u{1f600}', 'con\u0001trol']

  function sdk(): S3Client {
    const { url: endpoint, region, credentials } = emulator
    const { accessKeyId, secretAccessKey } = credentials[0]
    return new S3Client({ endpoint, region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true })
  }

  test('what we wrote is read by it: bytes, version, encryption, names', async () => {
    const { bucket, open } = arrange()
    const client = sdk()
    for (const name of NAMES) {
      const version = await open().write(name, utf8(`of ${name}`))
      const read = await client.send(new GetObjectCommand({ Bucket: bucket, Key: `acme/${name}` }))
      expect(await read.Body?.transformToString(), name).toBe(`of ${name}`)
      expect({ etag: read.ETag, encryption: read.ServerSideEncryption }).toEqual({ etag: `"${version}"`, encryption: 'AES256' })
    }
    const listed = await client.send(new ListObjectsV2Command({ Bucket: bucket, EncodingType: 'url' }))
    expect(listed.Contents).toHaveLength(NAMES.length)
    client.destroy()
  })

  test('a stream under a KMS key is an object under that key', async () => {
    const { bucket, open } = arrange({ sseKmsKeyId: ALIAS })
    const version = await open().writeStream('big', streamOf(PART, 3))
    const client = sdk()
    const head = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: 'acme/big' }))
    expect(head).toMatchObject({ ContentLength: PART + 3, ETag: `"${version}"`, ServerSideEncryption: 'aws:kms' })
    client.destroy()
  })

  test('what it wrote is read, listed and replaced by us', async () => {
    const { bucket, open } = arrange()
    const client = sdk()
    for (const name of NAMES) await client.send(new PutObjectCommand({ Bucket: bucket, Key: `acme/${name}`, Body: `of ${name}` }))
    expect((await open().list('')).toSorted()).toEqual(NAMES.toSorted())
    for (const name of NAMES) {
      const { body, version } = await open().read(name)
      expect(body, name).toEqual(utf8(`of ${name}`))
      await open().writeIfVersion(name, utf8('ours'), version)
    }
    client.destroy()
  })
})
