import { type Bytes, fromUtf8 } from '../../crypto/bytes.ts'
import { toPortError } from '../../ports/error.ts'
import { awsUnavailable, isAwsError, type S3Client } from '../aws/aws.ts'
import { readCapped } from '../aws/read-capped.ts'

/** An object to write: where, and the headers that say how S3 is to encrypt it. */
export interface Target {
  client: S3Client
  key: string
  encryption: Readonly<Record<string, string>>
}

/** Runs calls of S3; whatever they fail with is a PortError, `Unavailable` unless it was one. @param doing such as `reading an object` */
export async function reach<T>(doing: string, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls()
  } catch (error) {
    throw isAwsError(error) ? awsUnavailable(error, 'the S3 bucket') : toPortError(error, doing)
  }
}

/** Replaces an object in one request. The ETag. @throws AwsError, PortError as S3Client */
export async function putWhole({ client, key, encryption }: Target, body: Bytes, condition: Record<string, string> = {}): Promise<string> {
  return await etagOfEmpty(await client.send({ method: 'PUT', key, headers: { ...encryption, ...condition }, body }))
}

/** The ETag of an answer whose body says nothing. */
export async function etagOfEmpty(answer: Response): Promise<string> {
  await answer.body?.cancel() // an unread one holds a connection
  return etagOf(answer)
}

/** The ETag of an answer, without its quotes. */
export function etagOf(answer: Response): string {
  const etag = unquoted(answer.headers.get('etag') ?? '')
  if (!isEtag(etag)) throw new Error('S3 answered without an ETag')
  return etag
}

export function unquoted(etag: string): string {
  return etag.replace(/^"(.*)"$/, '$1')
}

/** What S3 gives as an ETag. */
export function isEtag(text: string): boolean {
  return /^[A-Za-z0-9-]+$/.test(text)
}

/** bytes: a listing's page has at most 1,000 keys of at most 1,024 bytes, each three characters at most when encoded, and what XML says of each */
const TEXT_LIMIT = 8 * 1024 * 1024

/** The XML of an answer. */
export async function textOf(answer: Response): Promise<string> {
  const bytes = await readCapped(answer, TEXT_LIMIT)
  if (bytes === null) throw new Error('S3 answered more than a page holds')
  const text = fromUtf8(bytes)
  if (text === null) throw new Error('S3 answered what is no UTF-8')
  return text
}
