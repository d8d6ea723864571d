import { keyOf, type Place, parameterArn, serviceHost } from './place.ts'
import type { Statement } from './policy.ts'

/** Parameters a credential may do something with: paths below the instance's root, a `*` at the end for all below. */
export interface SecretsGrant {
  read: readonly string[]
  write: readonly string[]
  /**
   * Directories to list. Whoever lists a directory can have every value in it, at every depth, whatever else a policy denies: so none that
   * holds a secret which is denied.
   */
  list: readonly string[]
  denied?: readonly string[]
  /** Read, and written by nobody who has this policy. */
  readOnly?: readonly string[]
}

/** What is granted of SSM, and of the parameters' own KMS key where they have one. */
export function secrets(place: Place, { read, write, list, denied = [], readOnly = [] }: SecretsGrant): Statement[] {
  const arns = (paths: readonly string[]) => paths.map((path) => parameterArn(place, path))
  const statements: Statement[] = [
    { Sid: 'SecretsRead', Effect: 'Allow', Action: ['ssm:GetParameter', 'ssm:GetParameters'], Resource: arns(read) },
    { Sid: 'SecretsWritten', Effect: 'Allow', Action: ['ssm:PutParameter', 'ssm:DeleteParameter'], Resource: arns(write) },
    {
      Sid: 'SecretsListed',
      Effect: 'Allow',
      Action: ['ssm:GetParametersByPath'],
      Resource: arns(list.flatMap((directory) => [directory, `${directory}/*`])),
    },
    { Sid: 'NotOurs', Effect: 'Deny', Action: ['ssm:*'], Resource: arns(denied) },
    {
      Sid: 'NotWritten',
      Effect: 'Deny',
      Action: ['ssm:PutParameter', 'ssm:DeleteParameter', 'ssm:DeleteParameters', 'ssm:LabelParameterVersion'],
      Resource: arns(readOnly),
    },
    ...parameterKey(place, arns([...read, ...write]), arns(denied)),
  ]
  return statements.filter(({ Resource }) => Resource.length > 0)
}

/** SSM encrypts and decrypts in the caller's name, under the parameter's ARN. */
function parameterKey(place: Place, allowed: string[], denied: string[]): Statement[] {
  if (place.parameterKey === undefined) return []
  const { arn, condition } = keyOf(place, place.parameterKey)
  const through = { 'kms:ViaService': serviceHost(place, 'ssm') }
  const name = 'kms:EncryptionContext:PARAMETER_ARN'
  return [
    {
      Sid: 'ParameterKey',
      Effect: 'Allow',
      // An advanced parameter is encrypted under a data key.
      Action: ['kms:Encrypt', 'kms:Decrypt', 'kms:GenerateDataKey'],
      Resource: [arn],
      Condition: { ...condition, StringEquals: through, StringLike: { [name]: [...new Set(allowed)] } },
    },
    {
      Sid: 'ParameterKeyNotOurs',
      Effect: 'Deny',
      Action: ['kms:Decrypt'],
      Resource: denied.length > 0 ? [arn] : [],
      Condition: { ...condition, StringEquals: through, StringLike: { [name]: denied } },
    },
  ]
}
