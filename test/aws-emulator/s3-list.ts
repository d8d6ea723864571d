import { type Answer, Refusal } from './call.ts'
import { type Bucket, listKeys } from './s3-objects.ts'
import { document, xmlAnswer } from './s3-xml.ts'

/** ListObjectsV2. @throws Refusal InvalidArgument, NotImplemented */
export function list(name: string, bucket: Bucket, query: ReadonlyMap<string, string>): Answer {
  if (query.has('delimiter')) throw new Refusal('NotImplemented', 'The emulator lists without a delimiter', 501)
  const maxKeys = Math.min(Number(query.get('max-keys') ?? 1000), 1000)
  if (!Number.isInteger(maxKeys) || maxKeys < 0) throw new Refusal('InvalidArgument', 'max-keys is not a number of keys')
  const token = query.get('continuation-token')
  const after = token === undefined ? (query.get('start-after') ?? '') : afterOf(token)
  const { keys, truncated } = listKeys(bucket, { prefix: query.get('prefix') ?? '', after, maxKeys })
  const spell = query.get('encoding-type') === 'url' ? urlEncoded : (text: string) => text
  const last = keys.at(-1)
  return xmlAnswer(
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

// Standard base64 that begins with +, which a client has to encode in a query.
const TOKEN_MARK = 0xfb

function tokenAfter(key: string): string {
  return Buffer.concat([Buffer.of(TOKEN_MARK), Buffer.from(key)]).toString('base64')
}

function afterOf(token: string): string {
  const bytes = Buffer.from(token, 'base64')
  if (bytes[0] !== TOKEN_MARK || bytes.toString('base64') !== token)
    throw new Refusal('InvalidArgument', 'The continuation token provided is incorrect')
  return bytes.subarray(1).toString()
}

/** encoding-type=url: as a form encodes, but slashes stay. */
function urlEncoded(key: string): string {
  return new URLSearchParams({ key }).toString().slice('key='.length).replaceAll('%2F', '/')
}
