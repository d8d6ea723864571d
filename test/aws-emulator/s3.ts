import { ACCOUNT, type Answer, type Call, type Received, Refusal } from './call.ts'
import type { Authorize } from './iam.ts'
import type { Kms } from './kms.ts'
import { list } from './s3-list.ts'
import { addPart, beginUpload, joinParts, uploadOf } from './s3-multipart.ts'
import {
  type Bucket,
  checkConditions,
  etagOf,
  newBucket,
  noSuchKey,
  preconditionFailed,
  type StoredObject,
  unquoted,
} from './s3-objects.ts'
import { checkDigests, checkHeeded, s3Request } from './s3-request.ts'
import { document, xmlAnswer } from './s3-xml.ts'

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
        return xmlAnswer(document('InitiateMultipartUploadResult', { Bucket: name, Key: key, UploadId }), encryption(headers))
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
        return xmlAnswer(
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

function encryption(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-amz-server-side-encryption')))
}

function empty(status: number, headers: Record<string, string> = {}): Answer {
  return { status, headers, body: '' }
}

export function s3Refusal(refusal: Refusal): Answer {
  const body = document('Error', { Code: refusal.type, Message: refusal.message, ...refusal.fields, RequestId: 'EMULATOR' }, false)
  return { status: refusal.status, headers: { 'content-type': 'application/xml' }, body }
}
