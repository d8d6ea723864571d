import { type Bytes, utf8 } from '../../crypto/bytes.ts'
import { PortError } from '../../ports/error.ts'
import { AwsError, isAwsError } from '../aws/aws.ts'
import { etagOf, etagOfEmpty, isEtag, putWhole, type Target, textOf, unquoted } from './exchange.ts'
import { multipartEtag } from './multipart-etag.ts'
import { PART_SIZE, parts } from './parts.ts'
import { childText, parseXml } from './xml.ts'

/**
 * Writes a stream of unknown length, which S3 takes only in parts; one that fits a part is written whole. The object appears when its
 * last byte is there: a source or a part that fails leaves what stood before. The ETag.
 *
 * @throws AwsError, PortError as S3Client; whatever the source failed with
 */
export async function uploadStream(target: Target, body: ReadableStream<Uint8Array>): Promise<string> {
  const source = parts(body)
  try {
    const first = await source.next()
    if (first.done) return await putWhole(target, new Uint8Array(0))
    if (first.value.length < PART_SIZE) return await putWhole(target, first.value)
    return await uploadParts(target, first.value, source)
  } finally {
    await source.return()
  }
}

async function uploadParts(target: Target, first: Bytes, rest: AsyncIterable<Bytes>): Promise<string> {
  // An answer lost here leaves an upload nobody knows of: the bucket's lifecycle rule ends it.
  const uploadId = await begin(target)
  try {
    const etags = [await uploadPart(target, uploadId, 1, first)]
    for await (const part of rest) etags.push(await uploadPart(target, uploadId, etags.length + 1, part))
    return await complete(target, uploadId, etags)
  } catch (error) {
    // The parts are invisible already: an abort that fails leaves only them, until the bucket's lifecycle rule ends the upload.
    await abort(target, uploadId).catch(() => undefined)
    throw error
  }
}

async function begin({ client, key, encryption }: Target): Promise<string> {
  const answer = await client.send({ method: 'POST', key, query: { uploads: '' }, headers: encryption })
  const uploadId = childText(parseXml(await textOf(answer)), 'UploadId')
  if (!uploadId) throw new Error('S3 began an upload and did not name it')
  return uploadId
}

async function uploadPart({ client, key }: Target, uploadId: string, number: number, body: Bytes): Promise<string> {
  return await etagOfEmpty(await client.send({ method: 'PUT', key, query: { partNumber: String(number), uploadId }, body }))
}

async function abort({ client, key }: Target, uploadId: string): Promise<void> {
  const answer = await client.send({ method: 'DELETE', key, query: { uploadId } })
  await answer.body?.cancel()
}

async function complete(target: Target, uploadId: string, etags: readonly string[]): Promise<string> {
  const { client, key } = target
  const named = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`)
  const body = utf8(`<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${named.join('')}</CompleteMultipartUpload>`)
  const headers = { 'content-type': 'application/xml' }
  try {
    return etagOfCompleted(await textOf(await client.send({ method: 'POST', key, query: { uploadId }, headers, body })))
  } catch (error) {
    if (isAwsError(error, 'NoSuchUpload') && error.mayHaveLanded) return await completed(target, etags)
    throw error
  }
}

/** S3 begins its answer with 200 before it is done, and may end it with a refusal. */
function etagOfCompleted(xml: string): string {
  const root = parseXml(xml.trimStart()) // it sends spaces while it works
  if (root.name === 'Error') {
    const message = childText(root, 'Message') ?? ''
    throw new AwsError(childText(root, 'Code') ?? 'Unknown', message, { status: 200, mayHaveLanded: false })
  }
  const etag = unquoted(childText(root, 'ETag') ?? '')
  if (root.name !== 'CompleteMultipartUploadResult' || !isEtag(etag)) throw new Error('S3 completed an upload and gave it no ETag')
  return etag
}

/** The completion was carried out, its answer lost, and its repetition found no upload; unless something else ended the upload. */
async function completed({ client, key }: Target, etags: readonly string[]): Promise<string> {
  const standing = etagOf(await client.send({ method: 'HEAD', key }))
  if (standing === multipartEtag(etags)) return standing
  // An object under a KMS key, whose ETag is no digest, or another writer's.
  throw new PortError('Unavailable', 'the answer to the end of an upload was lost, and it cannot be told whether the object is there')
}
