import { createHash, randomBytes } from 'node:crypto'
import { Refusal } from './call.ts'

export interface StoredObject {
  body: Buffer
  /** Without quotes. */
  etag: string
  /** unix ms */
  modified: number
  /** content-type, x-amz-meta-..., and how it is encrypted: what a read answers with. */
  headers: Record<string, string>
}

/** The preconditions of a write, from its headers. */
export interface Conditions {
  ifMatch?: string | undefined
  ifNoneMatch?: string | undefined
}

export interface Bucket {
  objects: Map<string, StoredObject>
  uploads: Map<string, Upload>
}

export interface Upload {
  key: string
  headers: Record<string, string>
  parts: Map<number, { etag: string; body: Buffer }>
}

export function newBucket(): Bucket {
  return { objects: new Map(), uploads: new Map() }
}

/** An object's entity tag: the MD5 of its bytes, but with a KMS key it says nothing of them. */
export function etagOf(body: Buffer, headers: Readonly<Record<string, string>>): string {
  if (headers['x-amz-server-side-encryption'] === 'aws:kms') return randomBytes(16).toString('hex')
  return createHash('md5').update(body).digest('hex')
}

/**
 * Conditional writes (S3, "Conditional requests"): If-None-Match takes only `*`; If-Match of an object that is not there is 404.
 *
 * @throws Refusal PreconditionFailed, NoSuchKey, NotImplemented
 */
export function checkConditions(standing: StoredObject | undefined, { ifMatch, ifNoneMatch }: Conditions): void {
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') throw new Refusal('NotImplemented', 'If-None-Match of a write takes only *', 501)
  if (ifNoneMatch !== undefined && standing !== undefined) throw preconditionFailed('If-None-Match')
  if (ifMatch === undefined) return
  if (standing === undefined) throw noSuchKey()
  if (ifMatch !== '*' && unquoted(ifMatch) !== standing.etag) throw preconditionFailed('If-Match')
}

export function preconditionFailed(condition: string): Refusal {
  return new Refusal('PreconditionFailed', 'At least one of the pre-conditions you specified did not hold', 412, { Condition: condition })
}

export function noSuchKey(): Refusal {
  return new Refusal('NoSuchKey', 'The specified key does not exist.', 404)
}

export function unquoted(etag: string): string {
  return etag.replace(/^"(.*)"$/, '$1')
}

export interface ListInput {
  prefix: string
  after: string
  maxKeys: number
}

/** The keys after one key, in the order of their UTF-8 bytes. */
export function listKeys(bucket: Bucket, { prefix, after, maxKeys }: ListInput): { keys: string[]; truncated: boolean } {
  const keys = [...bucket.objects.keys()]
    .filter((key) => key.startsWith(prefix) && Buffer.compare(Buffer.from(key), Buffer.from(after)) > 0)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  return { keys: keys.slice(0, maxKeys), truncated: keys.length > maxKeys }
}
