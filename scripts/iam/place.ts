import { type Module, tableName } from '../../src/ports/layout5.ts'

/** Where an instance lives in AWS, and what of it the policies are to name. */
export interface Place {
  instance: string
  region: string
  /** Twelve digits. */
  account: string
  /** Of the Blob objects; without one there is nothing of S3. */
  bucket?: string | undefined
  /** Before every object's name, as the Blob adapter has it. */
  prefix?: string | undefined
  /** The KMS key of the objects; without one they are under S3's own. */
  bucketKey?: string | undefined
  /** The KMS key that seals signing keys: an id, an ARN or an alias. */
  key: string
  /** The KMS key of the parameters; without one they are under the account's own for SSM, whose policy lets whoever may read them. */
  parameterKey?: string | undefined
}

export function tableArn(place: Place, module: Module): string {
  return `${arn(place, 'dynamodb')}:table/${tableName(place.instance, module)}`
}

/** Of the parameter, or of all below with a `*`. @param path below the instance's root, such as `internal/oidc/*` */
export function parameterArn(place: Place, path: string): string {
  return `${arn(place, 'ssm')}:parameter/sluis/${place.instance}/${path}`
}

export function bucketArn({ region }: Place, bucket: string): string {
  return `arn:${partition(region)}:s3:::${bucket}`
}

/** A key as a statement names it. IAM takes no alias for a resource: one is a condition on every key of the account. */
export function keyOf(place: Place, key: string): { arn: string; condition: Record<string, Record<string, string>> } {
  if (key.startsWith('arn:')) return { arn: key, condition: {} }
  if (!key.startsWith('alias/')) return { arn: `${arn(place, 'kms')}:key/${key}`, condition: {} }
  return { arn: `${arn(place, 'kms')}:key/*`, condition: { 'ForAnyValue:StringEquals': { 'kms:ResourceAliases': key } } }
}

/** The address by which KMS knows that a service asks for somebody. */
export function serviceHost({ region }: Place, service: 'ssm' | 's3'): string {
  return `${service}.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}

function arn({ region, account }: Place, service: string): string {
  return `arn:${partition(region)}:${service}:${region}:${account}`
}

function partition(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}
