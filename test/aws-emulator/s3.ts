import { randomBytes } from 'node:crypto'
import { ACCOUNT, type Answer, type Call, type Received, Refusal } from './call.ts'
import type { Authorize } from './iam.ts'
import type { Kms } from './kms.ts'
import { addPart, beginUpload, joinParts, uploadOf } from './s3-multipart.ts'
import {
  type Bucket,
  checkConditions,
  etagOf,
  listKeys,
  newBucket,
  noSuchKey,
  preconditionFailed,
  type StoredObject,
  unquoted,
} from './s3-objects.ts'
import { checkDigests, checkHeeded, s3Request } from './s3-request.ts'
import { document } from './s3-xml.ts'

export interface S3 {
  call(call: Call): Promise<Answer>
  /** A bucket that stands is left alone. */
  createBucket(name: string): void
}

/** S3, path style: objects with conditional writes, listings, multipart uploads, encryption named and echoed. */
export function s3(options: { region: string; kms: Kms }): S3 {
  const buckets = new Map<string, Bucket>()

  function bucketOf(name: string): Bucket {
    const bucket = buckets.get(name)
    if (bucket === undefined) throw new Refusal('NoSuchBucket', 'The specified bucket does not exist', 404, { BucketName: name })
    return bucket
  }

  async function call({ request, authorize, now }: Call): Promise<Answer> {
    const { operation, bucket: name, key, query } = s3Request(request)
    checkHeeded(request, query)
    checkDigests(request)
    const may = (action: string) => authorize(`s3:${action}`, `arn:aws:s3:::${name}${key === '' ? '' : `/${key}`}`)
    if (operation === 'CreateBucket') {
      may('CreateBucket')
      if (buckets.has(name)) throw new Refusal('BucketAlreadyOwnedByYou', 'The bucket is yours already.', 409, { BucketName: name })
      buckets.set(name, newBucket())
      return empty(200, { location: `/${name}` })
    }
    const bucket = bucketOf(name)
    if (key !== '') checkKey(key)
    const conditions = { ifMatch: request.headers['if-match'], ifNoneMatch: request.headers['if-none-match'] }

    switch (operation) {
      case 'HeadBucket':
        may('ListBucket')
        return empty(200, { 'x-amz-bucket-region': options.region })
      case 'ListObjectsV2':
        authorize('s3:ListBucket', `arn:aws:s3:::${name}`, { 's3:prefix': [query.get('prefix') ?? ''] })
        return list(name, bucket, query)
      case 'GetObject':
      case 'HeadObject':
        may('GetObject')
        return read(present(bucket, key, name, authorize), conditions)
      case 'PutObject': {
        may('PutObject')
        const headers = stored(request)
        checkConditions(bucket.objects.get(key), conditions)
        const etag = etagOf(request.body, headers)
        bucket.objects.set(key, { body: request.body, etag, modified: now, headers })
        return empty(200, { etag: `"${etag}"`, ...encryption(headers) })
      }
      case 'DeleteObject':
        may('DeleteObject')
        if (conditions.ifMatch !== undefined) checkConditions(bucket.objects.get(key), conditions)
        bucket.objects.delete(key)
        return empty(204)
      case 'CreateMultipartUpload': {
        may('PutObject')
        const headers = stored(request)
        const UploadId = beginUpload(bucket, key, headers)
        return xml(document('InitiateMultipartUploadResult', { Bucket: name, Key: key, UploadId }), encryption(headers))
      }
      case 'UploadPart': {
        may('PutObject')
        const upload = uploadOf(bucket, key, query.get('uploadId'))
        const etag = addPart(upload, query.get('partNumber'), request.body)
        return empty(200, { etag: `"${etag}"`, ...encryption(upload.headers) })
      }
      case 'CompleteMultipartUpload': {
        may('PutObject')
        const upload = uploadOf(bucket, key, query.get('uploadId'))
        const { body, etag } = joinParts(upload, request.body.toString())
        checkConditions(bucket.objects.get(key), conditions)
        bucket.objects.set(key, { body, etag, modified: now, headers: upload.headers })
        bucket.uploads.delete(query.get('uploadId') ?? '')
        return xml(
          document('CompleteMultipartUploadResult', { Location: request.path, Bucket: name, Key: key, ETag: `"${etag}"` }),
          encryption(upload.headers),
        )
      }
      default: {
        may('AbortMultipartUpload')
        uploadOf(bucket, key, query.get('uploadId'))
        bucket.uploads.delete(query.get('uploadId') ?? '')
        return empty(204)
      }
    }
  }

  /** What is kept of a write's headers. Without a word about encryption S3 encrypts with its own key. @throws Refusal KMS.NotFoundException */
  function stored({ headers }: Received): Record<string, string> {
    const kept = Object.entries(headers).filter((entry): entry is [string, string] =>
      /^(?:content-(?:type|encoding|language|disposition)|cache-control|x-amz-meta-.*)$/.test(entry[0]),
    )
    const wanted = headers['x-amz-server-side-encryption'] ?? 'AES256'
    if (wanted !== 'AES256' && wanted !== 'aws:kms') throw new Refusal('InvalidEncryptionAlgorithmError', `no such encryption: ${wanted}`)
    return { ...Object.fromEntries(kept), 'x-amz-server-side-encryption': wanted, ...(wanted === 'aws:kms' ? kmsKey(headers) : {}) }
  }

  function kmsKey(headers: Received['headers']): Record<string, string> {
    const name = 'x-amz-server-side-encryption-aws-kms-key-id'
    const asked = headers[name]
    if (asked === undefined) return { [name]: `arn:aws:kms:${options.region}:${ACCOUNT}:alias/aws/s3` }
    try {
      return { [name]: options.kms.find(asked).arn }
    } catch (error) {
      throw error instanceof Refusal ? new Refusal('KMS.NotFoundException', error.message) : error
    }
  }

  return {
    call,
    createBucket(name) {
      if (!buckets.has(name)) buckets.set(name, newBucket())
    },
  }
}

/** S3 keys are at most 1,024 bytes. */
function checkKey(key: string): void {
  if (Buffer.byteLength(key) > 1024) throw new Refusal('KeyTooLongError', 'Your key is too long', 400, { MaxSizeAllowed: 1024 })
}

/** Who may not list the bucket is not told that an object is missing. */
function present(bucket: Bucket, key: string, name: string, authorize: Authorize): StoredObject {
  const object = bucket.objects.get(key)
  if (object !== undefined) return object
  authorize('s3:ListBucket', `arn:aws:s3:::${name}`)
  throw noSuchKey()
}

function read(object: StoredObject, { ifMatch, ifNoneMatch }: { ifMatch?: string | undefined; ifNoneMatch?: string | undefined }): Answer {
  if (ifMatch !== undefined && ifMatch !== '*' && unquoted(ifMatch) !== object.etag) throw preconditionFailed('If-Match')
  const headers = { ...object.headers, etag: `"${object.etag}"`, 'last-modified': new Date(object.modified).toUTCString() }
  if (ifNoneMatch !== undefined && (ifNoneMatch === '*' || unquoted(ifNoneMatch) === object.etag)) return empty(304, headers)
  return { status: 200, headers: { 'content-type': 'binary/octet-stream', ...headers }, body: object.body }
}

function list(name: string, bucket: Bucket, query: ReadonlyMap<string, string>): Answer {
  if (query.has('delimiter')) throw new Refusal('NotImplemented', 'The emulator lists without a delimiter', 501)
  const maxKeys = Math.min(Number(query.get('max-keys') ?? 1000), 1000)
  if (!Number.isInteger(maxKeys) || maxKeys < 0) throw new Refusal('InvalidArgument', 'max-keys is not a number of keys')
  const token = query.get('continuation-token')
  const after = token === undefined ? (query.get('start-after') ?? '') : afterOf(token)
  const { keys, truncated } = listKeys(bucket, { prefix: query.get('prefix') ?? '', after, maxKeys })
  const spell = query.get('encoding-type') === 'url' ? urlEncoded : (text: string) => text
  const last = keys.at(-1)
  return xml(
    document('ListBucketResult', {
      Name: name,
      Prefix: spell(query.get('prefix') ?? ''),
      MaxKeys: maxKeys,
      KeyCount: keys.length,
      EncodingType: query.get('encoding-type'),
      ContinuationToken: token,
      IsTruncated: truncated && maxKeys > 0,
      NextContinuationToken: truncated && last !== undefined ? tokenAfter(last) : undefined,
      Contents: keys.map((key) => {
        const object = bucket.objects.get(key)
        return {
          Key: spell(key),
          LastModified: new Date(object?.modified ?? 0).toISOString(),
          ETag: `"${object?.etag}"`,
          Size: object?.body.length,
          StorageClass: 'STANDARD',
        }
      }),
    }),
  )
}

// Standard base64, whose + / = a client has to encode in a query.
function tokenAfter(key: string): string {
  return Buffer.concat([randomBytes(1), Buffer.from(key)]).toString('base64')
}

function afterOf(token: string): string {
  const bytes = Buffer.from(token, 'base64')
  if (bytes.length < 2 || bytes.toString('base64') !== token)
    throw new Refusal('InvalidArgument', 'The continuation token provided is incorrect')
  return bytes.subarray(1).toString()
}

/** encoding-type=url: as a form encodes, but slashes stay. */
function urlEncoded(key: string): string {
  return new URLSearchParams({ key }).toString().slice('key='.length).replaceAll('%2F', '/')
}

function encryption(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-server-side-encryption')))
}

function empty(status: number, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: '' }
}

function xml(body: string, headers: Record<string, string> = {}): Answer {
  return { status: 200, headers: { 'content-type': 'application/xml', ...headers }, body }
}

export function s3Refusal(refusal: Refusal): Answer {
  const body = document('Error', { Code: refusal.type, Message: refusal.message, ...refusal.fields, RequestId: 'EMULATOR' }, false)
  return { status: refusal.status, headers: { 'content-type': 'application/xml' }, body }
}
