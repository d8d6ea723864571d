import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { type Received, Refusal } from './call.ts'

/** What a request of S3 asks, by its method, path and query (path style). */
export interface S3Request {
  operation: string
  bucket: string
  /** Decoded; empty for the bucket itself. */
  key: string
  query: ReadonlyMap<string, string>
}

// Parameters that only say how, not what.
const plain = new Set([
  'x-id',
  'prefix',
  'list-type',
  'continuation-token',
  'start-after',
  'max-keys',
  'encoding-type',
  'fetch-owner',
  'uploads',
  'uploadId',
  'partNumber',
  'delimiter',
])

/** @throws Refusal NotImplemented: a subresource or header that S3 would heed and this does not */
export function s3Request(request: Received): S3Request {
  const [, rawBucket = '', ...rest] = request.path.split('/')
  const bucket = decode(rawBucket)
  const key = decode(rest.join('/'))
  const query = new Map(request.query)
  return { operation: operationOf(request.method, bucket, key, query), bucket, key, query }
}

/** The operation, or `unknown` for what none is made of. */
export function s3Operation(request: Received): string {
  try {
    return s3Request(request).operation
  } catch {
    return 'unknown'
  }
}

export function checkHeeded(request: Received, query: ReadonlyMap<string, string>): void {
  const unheeded = [
    ...[...query.keys()].filter((name) => !plain.has(name)),
    ...['range', 'x-amz-copy-source', 'x-amz-acl', 'x-amz-tagging', 'x-amz-trailer'].filter((name) => request.headers[name] !== undefined),
  ]
  if (unheeded.length > 0) throw notImplemented(unheeded.join(', '))
}

function operationOf(method: string, bucket: string, key: string, query: ReadonlyMap<string, string>): string {
  if (bucket === '') throw notImplemented('a request without a bucket')
  if (key === '') {
    if (method === 'PUT') return 'CreateBucket'
    if (method === 'HEAD') return 'HeadBucket'
    if (method === 'GET' && query.get('list-type') === '2') return 'ListObjectsV2'
    throw notImplemented(`${method} of a bucket`)
  }
  if (method === 'GET') return 'GetObject'
  if (method === 'HEAD') return 'HeadObject'
  if (method === 'PUT') return query.has('uploadId') ? 'UploadPart' : 'PutObject'
  if (method === 'DELETE') return query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'
  if (method === 'POST' && query.has('uploads')) return 'CreateMultipartUpload'
  if (method === 'POST' && query.has('uploadId')) return 'CompleteMultipartUpload'
  throw notImplemented(`${method} of an object`)
}

/** The checksums a body was sent with. @throws Refusal BadDigest, InvalidDigest */
export function checkDigests({ headers, body }: Received): void {
  const md5 = headers['content-md5']
  if (md5 !== undefined && Buffer.from(md5, 'base64').length !== 16) {
    throw new Refusal('InvalidDigest', 'The Content-MD5 you specified was invalid.')
  }
  const sent: [string | undefined, string][] = [
    [md5, createHash('md5').update(body).digest('base64')],
    [headers['x-amz-checksum-sha256'], createHash('sha256').update(body).digest('base64')],
    [headers['x-amz-checksum-sha1'], createHash('sha1').update(body).digest('base64')],
    [headers['x-amz-checksum-crc32'], crc32Of(body)],
  ]
  if (sent.some(([claimed, actual]) => claimed !== undefined && claimed !== actual)) {
    throw new Refusal('BadDigest', 'The digest you specified did not match what we received.')
  }
}

function crc32Of(body: Buffer): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return sum.toString('base64')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Refusal('InvalidURI', "Couldn't parse the specified URI.")
  }
}

function notImplemented(what: string): Refusal {
  return new Refusal('NotImplemented', `The emulator does not heed this: ${what}`, 501)
}
