import { DynamoDBClient, GetItemCommand, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb'
import { EncryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { GetParameterCommand, GetParametersByPathCommand, GetParametersCommand, PutParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'
import { decide, type IamStatement } from './iam.ts'

const TABLE = 'sluis-acme-oidc'
const statements: IamStatement[] = [
  {
    Effect: 'Allow',
    Action: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
    Resource: `arn:aws:dynamodb:*:*:table/${TABLE}`,
    Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': ['session', 'lease'] } },
  },
  { Effect: 'Allow', Action: 'ssm:Get*', Resource: 'arn:aws:ssm:*:*:parameter/sluis/acme/internal/oidc/*' },
  { Effect: 'Deny', Action: 'ssm:*', Resource: '*/recovery-password' },
  { Effect: 'Allow', Action: 'kms:*', Resource: '*', Condition: { StringEquals: { 'kms:EncryptionContext:instance': 'acme' } } },
  { Effect: 'Allow', Action: 's3:GetObject', Resource: 'arn:aws:s3:::bucket/oidc/*' },
]

let emulator: AwsEmulator
beforeAll(async () => {
  emulator = await startAwsEmulator({
    credentials: [
      { accessKeyId: 'AKIAOWNER', secretAccessKey: 'owner' },
      { accessKeyId: 'AKIAROLE', secretAccessKey: 'role', policy: { Version: '2012-10-17', Statement: statements } },
    ],
    tables: [TABLE, 'sluis-acme-github'],
    buckets: ['bucket'],
    keyAliases: ['alias/sluis-acme'],
  })
  const owner = new SSMClient(options(0))
  for (const name of ['state-secret', 'recovery-password']) {
    await owner.send(new PutParameterCommand({ Name: `/sluis/acme/internal/oidc/${name}`, Value: 'v', Type: 'String' }))
  }
})
afterAll(() => emulator.stop())

function options(credential: number) {
  const credentials = emulator.credentials[credential] ?? emulator.credentials[0]
  return { endpoint: emulator.url, region: emulator.region, credentials, maxAttempts: 1, forcePathStyle: true }
}

const denied = { name: 'AccessDeniedException' }

describe('a credential with a policy', () => {
  const item = (pk: string, TableName = TABLE) => ({ TableName, Key: { pk: { S: pk }, sk: { S: 's' } } })

  it('reaches the partitions named by LeadingKeys, in the table named, and no others', async () => {
    const role = new DynamoDBClient(options(1))
    await role.send(new GetItemCommand(item('session')))
    await expect(role.send(new GetItemCommand(item('keyring')))).rejects.toMatchObject(denied)
    await expect(role.send(new GetItemCommand(item('session', 'sluis-acme-github')))).rejects.toMatchObject(denied)
    const put = { TableName: TABLE, Item: { pk: { S: 'keyring' }, sk: { S: 's' } } }
    await expect(role.send(new PutItemCommand(put))).rejects.toMatchObject(denied)
  })

  it('is held to LeadingKeys in a Query too', async () => {
    const role = new DynamoDBClient(options(1))
    const query = (pk: string) =>
      new QueryCommand({ TableName: TABLE, KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': { S: pk } } })
    await role.send(query('lease'))
    await expect(role.send(query('keyring'))).rejects.toMatchObject(denied)
  })

  it('reads the parameters under its path, but not the one a Deny names, in a batch neither', async () => {
    const role = new SSMClient(options(1))
    const [state, password] = ['state-secret', 'recovery-password'].map((name) => `/sluis/acme/internal/oidc/${name}`)
    await role.send(new GetParameterCommand({ Name: state }))
    await expect(role.send(new GetParameterCommand({ Name: password }))).rejects.toMatchObject(denied)
    await expect(role.send(new GetParametersCommand({ Names: [state ?? '', password ?? ''] }))).rejects.toMatchObject(denied)
    await expect(role.send(new GetParametersByPathCommand({ Path: '/sluis/acme/internal/github/' }))).rejects.toMatchObject(denied)
    await expect(role.send(new PutParameterCommand({ Name: state, Value: 'w', Overwrite: true }))).rejects.toMatchObject(denied)
  })

  it('uses a key only under the encryption context its policy names', async () => {
    const role = new KMSClient(options(1))
    const encrypt = (context: Record<string, string>) =>
      role.send(new EncryptCommand({ KeyId: 'alias/sluis-acme', Plaintext: Buffer.from('p'), EncryptionContext: context }))
    await encrypt({ instance: 'acme' })
    await expect(encrypt({ instance: 'other' })).rejects.toMatchObject(denied)
    await expect(encrypt({})).rejects.toMatchObject(denied)
  })

  it('is not told that an object is missing when it may not list the bucket', async () => {
    const [owner, role] = [new S3Client(options(0)), new S3Client(options(1))]
    const get = new GetObjectCommand({ Bucket: 'bucket', Key: 'oidc/none' })
    await expect(owner.send(get)).rejects.toMatchObject({ name: 'NoSuchKey' })
    await expect(role.send(get)).rejects.toMatchObject({ name: 'AccessDenied', $metadata: { httpStatusCode: 403 } })
  })
})

describe('a policy', () => {
  const allow = (extra: Partial<IamStatement> = {}): IamStatement => ({ Effect: 'Allow', Action: 'ssm:Get*', Resource: '*', ...extra })
  const decides = (statement: IamStatement | IamStatement[], context = {}) =>
    decide({ Statement: statement }, 'ssm:GetParameter', 'arn:aws:ssm:eu-west-1:0:parameter/a/b', context)

  it('that says nothing allows nothing', () => expect(decides([])).toBe('not allowed'))
  it('compares actions without regard to case', () => expect(decides(allow({ Action: 'SSM:getparameter' }))).toBe('allowed'))
  it('compares resources as they are', () => expect(decides(allow({ Resource: '*:parameter/A/b' }))).toBe('not allowed'))
  it('takes a dot for a dot', () => expect(decides(allow({ Resource: '*:parameter/a.b' }))).toBe('not allowed'))
  it('denies what any statement denies', () => expect(decides([allow(), allow({ Effect: 'Deny' })])).toBe('denied'))
  it('refuses what has no value for a plain condition', () => {
    expect(decides(allow({ Condition: { StringEquals: { 'kms:ViaService': 'ssm' } } }))).toBe('not allowed')
  })
  it('lets what has no value pass a condition on all values, as IAM does for a Scan', () => {
    expect(decides(allow({ Condition: { 'ForAllValues:StringEquals': { 'dynamodb:LeadingKeys': 'x' } } }))).toBe('allowed')
  })
  it('with an operator that is not known here is an error, not a permission', () => {
    expect(() => decides(allow({ Condition: { IpAddress: { 'aws:SourceIp': '1' } } }))).toThrow('IpAddress')
  })
})
