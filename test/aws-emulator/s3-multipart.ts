import { createHash, randomBytes } from 'node:crypto'
import { Refusal } from './call.ts'
import { type Bucket, etagOf, type Upload, unquoted } from './s3-objects.ts'
import { texts } from './s3-xml.ts'

/** 5 MiB: the least a part may hold that is not the last. */
const LEAST = 5 * 1024 * 1024

/** A new upload's id. */
export function beginUpload(bucket: Bucket, key: string, headers: Record<string, string>): string {
  const id = randomBytes(24).toString('base64url')
  bucket.uploads.set(id, { key, headers, parts: new Map() })
  return id
}

/** @throws Refusal NoSuchUpload */
export function uploadOf(bucket: Bucket, key: string, id: string | undefined): Upload {
  const upload = bucket.uploads.get(id ?? '')
  if (upload?.key === key) return upload
  throw new Refusal('NoSuchUpload', 'The specified multipart upload does not exist. It may have been aborted or completed.', 404)
}

/** The part's entity tag. A part sent again replaces the one that stood. @throws Refusal InvalidArgument */
export function addPart(upload: Upload, partNumber: string | undefined, body: Buffer): string {
  const number = Number(partNumber)
  if (!Number.isInteger(number) || number < 1 || number > 10_000) {
    throw new Refusal('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive')
  }
  const etag = etagOf(body, upload.headers)
  upload.parts.set(number, { etag, body })
  return etag
}

/** The object that the parts named make, in the order named. @throws Refusal MalformedXML, InvalidPart, InvalidPartOrder, EntityTooSmall */
export function joinParts(upload: Upload, xml: string): { body: Buffer; etag: string } {
  const named = texts(xml, 'Part').map((part) => ({
    number: Number(texts(part, 'PartNumber')[0]),
    etag: unquoted(texts(part, 'ETag')[0] ?? ''),
  }))
  if (named.length === 0) throw new Refusal('MalformedXML', 'The XML you provided was not well-formed or did not validate.')
  if (named.some((part, index) => index > 0 && part.number <= (named[index - 1]?.number ?? 0))) {
    throw new Refusal('InvalidPartOrder', 'The list of parts was not in ascending order. Parts must be ordered by part number.')
  }
  const parts = named.map(({ number, etag }) => {
    const part = upload.parts.get(number)
    if (part?.etag === etag) return part
    throw new Refusal('InvalidPart', 'One or more of the specified parts could not be found, or its entity tag is another.', 400, {
      PartNumber: number,
    })
  })
  if (parts.slice(0, -1).some((part) => part.body.length < LEAST)) {
    throw new Refusal('EntityTooSmall', 'Your proposed upload is smaller than the minimum allowed size', 400, { MinSizeAllowed: LEAST })
  }
  const md5 = createHash('md5')
  for (const part of parts) md5.update(Buffer.from(part.etag, 'hex'))
  return { body: Buffer.concat(parts.map((part) => part.body)), etag: `${md5.digest('hex')}-${parts.length}` }
}
