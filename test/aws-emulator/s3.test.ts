import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type PutObjectCommandInput,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'

const Bucket = 'bucket'
let emulator: AwsEmulator
let client: S3Client
beforeAll(async () => {
  emulator = await startAwsEmulator({ buckets: [Bucket], keyAliases: ['alias/a'] })
  const credentials = emulator.credentials[0]
  client = new S3Client({ endpoint: emulator.url, region: emulator.region, credentials, maxAttempts: 1, forcePathStyle: true })
})
afterAll(() => emulator.stop())

const put = (Key: string, Body: string | Buffer, input: Partial<PutObjectCommandInput> = {}) =>
  client.send(new PutObjectCommand({ Bucket, Key, Body, ...input }))
const read = async (Key: string) => (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()
const refused = (name: string, httpStatusCode: number) => ({ name, $metadata: { httpStatusCode } })

describe('objects', () => {
  it('come back under any key, with what was said of them', async () => {
    const key = 'a b/+*é(1)//x&"<>'
    await put(key, 'hello', { ContentType: 'text/plain', Metadata: { who: 'ada' } })
    expect(await read(key)).toBe('hello')
    const head = await client.send(new HeadObjectCommand({ Bucket, Key: key }))
    expect(head).toMatchObject({ ContentType: 'text/plain', ContentLength: 5, Metadata: { who: 'ada' }, ServerSideEncryption: 'AES256' })
    await client.send(new DeleteObjectCommand({ Bucket, Key: key }))
    await client.send(new DeleteObjectCommand({ Bucket, Key: key }))
    await expect(read(key)).rejects.toMatchObject(refused('NoSuchKey', 404))
  })

  it('are written on conditions', async () => {
    const first = await put('c', '1', { IfNoneMatch: '*' })
    await expect(put('c', '2', { IfNoneMatch: '*' })).rejects.toMatchObject(refused('PreconditionFailed', 412))
    const second = await put('c', '2', { IfMatch: first.ETag })
    await expect(put('c', '3', { IfMatch: first.ETag })).rejects.toMatchObject(refused('PreconditionFailed', 412))
    await expect(put('none', '1', { IfMatch: second.ETag })).rejects.toMatchObject(refused('NoSuchKey', 404))
    expect(await read('c')).toBe('2')
  })

  it('encrypted with a KMS key have an entity tag that says nothing of their bytes', async () => {
    const input = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'alias/a' } as const
    const [one, two] = [await put('k', 'x', input), await put('k', 'x', input)]
    expect(one.SSEKMSKeyId).toBe(emulator.createKey('alias/a'))
    expect(one.ETag).not.toBe(two.ETag)
    expect((await put('p', 'x')).ETag).toBe((await put('p', 'x')).ETag)
    await expect(put('k', 'x', { ...input, SSEKMSKeyId: 'alias/none' })).rejects.toMatchObject(refused('KMS.NotFoundException', 400))
  })

  it('sent with the digest of other bytes are refused', async () => {
    await expect(put('digest', 'x', { ContentMD5: 'AAAAAAAAAAAAAAAAAAAAAA==' })).rejects.toMatchObject(refused('BadDigest', 400))
    await expect(put('digest', 'x', { ChecksumCRC32: 'AAAAAA==' })).rejects.toMatchObject(refused('BadDigest', 400))
    await expect(read('digest')).rejects.toMatchObject(refused('NoSuchKey', 404))
  })
})

describe('buckets', () => {
  it('are made once, and missed', async () => {
    await client.send(new CreateBucketCommand({ Bucket: 'made' }))
    await client.send(new HeadBucketCommand({ Bucket: 'made' }))
    await expect(client.send(new CreateBucketCommand({ Bucket: 'made' }))).rejects.toMatchObject(refused('BucketAlreadyOwnedByYou', 409))
    await expect(client.send(new HeadBucketCommand({ Bucket: 'none' }))).rejects.toMatchObject({ $metadata: { httpStatusCode: 404 } })
    await expect(client.send(new GetObjectCommand({ Bucket: 'none', Key: 'k' }))).rejects.toMatchObject(refused('NoSuchBucket', 404))
  })

  it('are listed below a prefix, in pages, in the order of bytes', async () => {
    const keys = ['l/B', 'l/a b', 'l/a+b', 'l/\uffee', 'l/\u{1f600}']
    for (const key of [...keys].reverse()) await put(key, 'x')
    await put('m/other', 'x')
    const listed: (string | undefined)[] = []
    let ContinuationToken: string | undefined
    do {
      const page = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'l/', MaxKeys: 2, ContinuationToken }))
      listed.push(...(page.Contents ?? []).map(({ Key }) => Key))
      ContinuationToken = page.NextContinuationToken
    } while (ContinuationToken !== undefined)
    expect(listed).toEqual(keys)
    const encoded = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'l/a', EncodingType: 'url' }))
    expect(encoded.Contents?.map(({ Key }) => Key)).toEqual(['l/a+b', 'l/a%2Bb'])
    const bad = new ListObjectsV2Command({ Bucket, ContinuationToken: 'nonsense' })
    await expect(client.send(bad)).rejects.toMatchObject(refused('InvalidArgument', 400))
  })
})

describe('an upload in parts', () => {
  const MIB = 1024 * 1024
  const begin = async (Key: string) => (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId
  const part = async (Key: string, UploadId: string | undefined, PartNumber: number, size: number) => {
    const Body = Buffer.alloc(size, PartNumber)
    return { PartNumber, ETag: (await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }))).ETag }
  }
  const complete = (
    Key: string,
    UploadId: string | undefined,
    Parts: { PartNumber: number; ETag: string | undefined }[],
    IfMatch?: string,
  ) => client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts }, IfMatch }))

  it('is one object once completed, its entity tag that of its parts', async () => {
    const id = await begin('parts')
    const parts = [await part('parts', id, 1, 5 * MIB), await part('parts', id, 2, 10)]
    await expect(read('parts')).rejects.toMatchObject(refused('NoSuchKey', 404))
    expect((await complete('parts', id, parts)).ETag).toMatch(/^"[0-9a-f]{32}-2"$/)
    expect((await client.send(new HeadObjectCommand({ Bucket, Key: 'parts' }))).ContentLength).toBe(5 * MIB + 10)
    await expect(complete('parts', id, parts)).rejects.toMatchObject(refused('NoSuchUpload', 404))
  })

  it('is refused with a small part before the last, parts out of order, or another part than was sent', async () => {
    const id = await begin('refused')
    const parts = [await part('refused', id, 1, 10), await part('refused', id, 2, 10)]
    await expect(complete('refused', id, parts)).rejects.toMatchObject(refused('EntityTooSmall', 400))
    await expect(complete('refused', id, parts.toReversed())).rejects.toMatchObject(refused('InvalidPartOrder', 400))
    await expect(complete('refused', id, [{ PartNumber: 1, ETag: '"0"' }])).rejects.toMatchObject(refused('InvalidPart', 400))
  })

  it('is completed on conditions, and gone when aborted', async () => {
    const { ETag } = await put('conditional', '1')
    await put('conditional', '2')
    const id = await begin('conditional')
    const parts = [await part('conditional', id, 1, 10)]
    await expect(complete('conditional', id, parts, ETag)).rejects.toMatchObject(refused('PreconditionFailed', 412))
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key: 'conditional', UploadId: id }))
    await expect(complete('conditional', id, parts)).rejects.toMatchObject(refused('NoSuchUpload', 404))
    expect(await read('conditional')).toBe('2')
  })
})
