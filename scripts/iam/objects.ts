import { bucketArn, keyOf, type Place, serviceHost } from './place.ts'
import type { Statement } from './policy.ts'

/** Objects a credential may do something with: names below the Blob's prefix, a `*` at the end for all below. */
export interface ObjectsGrant {
  read: readonly string[]
  write: readonly string[]
}

/** What is granted of S3; nothing where there is no bucket. */
export function objects(place: Place, { read, write }: ObjectsGrant): Statement[] {
  const { bucket, prefix = '' } = place
  if (bucket === undefined) return []
  const root = prefix === '' ? '' : `${prefix}/`
  const arns = (names: readonly string[]) => names.map((name) => `${bucketArn(place, bucket)}/${root}${name}`)
  const statements: Statement[] = [
    { Sid: 'ObjectsRead', Effect: 'Allow', Action: ['s3:GetObject'], Resource: arns([...new Set([...read, ...write])]) },
    {
      Sid: 'ObjectsWritten',
      Effect: 'Allow',
      Action: ['s3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload'],
      Resource: arns(write),
    },
    {
      // Without it a missing object is answered 403, and looks like a missing permission. No condition on the prefix: the question whether
      // an object is there has none, and would be refused.
      Sid: 'ObjectsListed',
      Effect: 'Allow',
      Action: ['s3:ListBucket'],
      Resource: [bucketArn(place, bucket)],
    },
    ...bucketKey(place),
  ]
  return statements.filter(({ Resource }) => Resource.length > 0)
}

/** S3 encrypts and decrypts in the caller's name; it reads the parts of an upload back to put them together. */
function bucketKey(place: Place): Statement[] {
  if (place.bucketKey === undefined) return []
  const { arn, condition } = keyOf(place, place.bucketKey)
  return [
    {
      Sid: 'BucketKey',
      Effect: 'Allow',
      Action: ['kms:GenerateDataKey', 'kms:Decrypt'],
      Resource: [arn],
      Condition: { ...condition, StringEquals: { 'kms:ViaService': serviceHost(place, 's3') } },
    },
  ]
}
