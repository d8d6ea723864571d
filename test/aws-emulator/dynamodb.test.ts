import {
  CreateTableCommand,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTagsOfResourceCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'

const TABLE = 'sluis-acme-oidc'
let emulator: AwsEmulator
let client: DynamoDBClient
beforeAll(async () => {
  emulator = await startAwsEmulator({ tables: [TABLE] })
  client = new DynamoDBClient({ endpoint: emulator.url, region: emulator.region, credentials: emulator.credentials[0], maxAttempts: 1 })
})
beforeEach(() => emulator.requests.reset())
afterAll(() => emulator.stop())

const key = (pk: string, sk: string) => ({ pk: { S: pk }, sk: { S: sk } })
const put = (pk: string, sk: string, rev: string, input: Partial<PutItemCommandInput> = {}) =>
  client.send(new PutItemCommand({ TableName: TABLE, Item: { ...key(pk, sk), rev: { N: rev } }, ...input }))
const get = (pk: string, sk: string) => client.send(new GetItemCommand({ TableName: TABLE, Key: key(pk, sk), ConsistentRead: true }))
const list = (pk: string, prefix: string) =>
  client.send(
    new QueryCommand({
      TableName: TABLE,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :pk AND begins_with(sk, :p)',
      ExpressionAttributeValues: { ':pk': { S: pk }, ':p': { S: prefix } },
    }),
  )
const ifRevision = (rev: string): Partial<PutItemCommandInput> => ({
  ConditionExpression: 'rev = :rev',
  ExpressionAttributeValues: { ':rev': { N: rev } },
  ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
})

describe('items', () => {
  it('a 64-bit number comes back digit for digit', async () => {
    await put('n', 's', '18446744073709551615')
    expect((await get('n', 's')).Item?.rev?.N).toBe('18446744073709551615')
  })

  it('a Query lists in the order of UTF-8 bytes', async () => {
    for (const sk of ['p/\u{1f600}', 'p/\uffee', 'p/a', 'p/Z', 'q/a']) await put('order', sk, '1')
    expect((await list('order', 'p/')).Items?.map((item) => item.sk?.S)).toEqual(['p/Z', 'p/a', 'p/\uffee', 'p/\u{1f600}'])
  })

  it('a failed condition returns the item when asked, and nothing else', async () => {
    await put('c', 's', '7')
    await expect(put('c', 's', '8', ifRevision('6'))).rejects.toMatchObject({
      name: 'ConditionalCheckFailedException',
      Item: { rev: { N: '7' } },
    })
    const silent = put('c', 's', '8', { ...ifRevision('6'), ReturnValuesOnConditionCheckFailure: 'NONE' })
    await expect(silent).rejects.toSatisfy((error: { Item?: unknown }) => error.Item === undefined)
    const absent = client.send(new DeleteItemCommand({ TableName: TABLE, Key: key('c', 'none'), ...ifRevision('6') }))
    await expect(absent).rejects.toSatisfy((error: { Item?: unknown }) => error.Item === undefined)
  })

  it('the item returned is the one the condition failed on, however many write it at once', async () => {
    await put('race', 's', '1')
    const writers = Array.from({ length: 40 }, (_, n) => put('race', 's', String(n + 2), n % 2 === 0 ? ifRevision('1') : {}))
    const failed = (await Promise.allSettled(writers)).filter((outcome) => outcome.status === 'rejected')
    expect(failed.length).toBeGreaterThan(0)
    // Had it held revision 1, the condition would have held.
    for (const { reason } of failed) expect(reason.Item.rev.N).not.toBe('1')
  })

  it('of many who create one item, one does', async () => {
    const create = { ConditionExpression: 'attribute_not_exists(pk)' }
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => put('one', 's', '1', create)))
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1)
  })
})

describe('refuses as ValidationException', () => {
  const cases: [string, () => Promise<unknown>][] = [
    ['an empty begins_with of a key', () => list('order', '')],
    ['a sort key over 1,024 bytes', () => put('long', 'é'.repeat(513), '1')],
    ['a partition key over 2,048 bytes', () => put('é'.repeat(1_025), 's', '1')],
    ['an item over 400 KiB', () => put('big', 's', '1', { Item: { ...key('big', 's'), v: { B: Buffer.alloc(410_000) } } })],
    ['a reserved word as a name', () => put('w', 's', '1', { ConditionExpression: 'attribute_not_exists(timestamp)' })],
    ['a value no expression uses', () => put('w', 's', '1', { ExpressionAttributeValues: { ':unused': { N: '1' } } })],
    [
      'a filter on a key of a query',
      () =>
        client.send(
          new QueryCommand({
            TableName: TABLE,
            KeyConditionExpression: 'pk = :p',
            FilterExpression: 'attribute_exists(sk)',
            ExpressionAttributeValues: { ':p': { S: 's' } },
          }),
        ),
    ],
  ]
  it.each(cases)('%s', async (_, ask) => {
    await expect(ask()).rejects.toMatchObject({ name: 'ValidationException' })
  })
})

describe('tables', () => {
  it('CreateTable of the SDK makes one, with its tags and protected, that answers once it is active', async () => {
    const made = await client.send(
      new CreateTableCommand({
        TableName: 'made',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        Tags: [{ Key: 'instance', Value: 'acme' }],
        DeletionProtectionEnabled: true,
      }),
    )
    await expect.poll(async () => (await client.send(new DescribeTableCommand({ TableName: 'made' }))).Table?.TableStatus).toBe('ACTIVE')
    const tags = await client.send(new ListTagsOfResourceCommand({ ResourceArn: made.TableDescription?.TableArn }))
    expect(tags.Tags).toEqual([{ Key: 'instance', Value: 'acme' }])
    expect((await client.send(new DescribeTableCommand({ TableName: 'made' }))).Table?.DeletionProtectionEnabled).toBe(true)
    await expect(client.send(new DeleteTableCommand({ TableName: 'made' }))).rejects.toMatchObject({ name: 'ValidationException' })
    await client.send(new UpdateTableCommand({ TableName: 'made', DeletionProtectionEnabled: false }))
    await client.send(new DeleteTableCommand({ TableName: 'made' }))
  })

  it('a table that is not there is ResourceNotFoundException, for items and for its settings', async () => {
    const missing = { name: 'ResourceNotFoundException' }
    await expect(client.send(new GetItemCommand({ TableName: 'none', Key: key('a', 'b') }))).rejects.toMatchObject(missing)
    await expect(client.send(new DescribeTimeToLiveCommand({ TableName: 'none' }))).rejects.toMatchObject(missing)
  })

  it('time to live is enabled once, and says on which attribute', async () => {
    await emulator.createTables(['ttl'])
    const describe = async () => (await client.send(new DescribeTimeToLiveCommand({ TableName: 'ttl' }))).TimeToLiveDescription
    expect(await describe()).toEqual({ TimeToLiveStatus: 'DISABLED' })
    const enable = new UpdateTimeToLiveCommand({
      TableName: 'ttl',
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    })
    await client.send(enable)
    expect(await describe()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' })
    await expect(client.send(enable)).rejects.toMatchObject({ name: 'ValidationException', message: 'TimeToLive is already enabled' })
  })

  it('point-in-time recovery is off until it is asked for', async () => {
    await emulator.createTables(['recovery'])
    const status = async () => {
      const { ContinuousBackupsDescription } = await client.send(new DescribeContinuousBackupsCommand({ TableName: 'recovery' }))
      return ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus
    }
    expect(await status()).toBe('DISABLED')
    const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
    await client.send(new UpdateContinuousBackupsCommand({ TableName: 'recovery', PointInTimeRecoverySpecification }))
    expect(await status()).toBe('ENABLED')
  })
})

it('calls are counted by operation, and reads that are not consistent once more', async () => {
  await get('count', 's')
  await client.send(new GetItemCommand({ TableName: TABLE, Key: key('count', 's') }))
  await put('count', 's', '1')
  expect(emulator.requests.counts).toEqual({ 'dynamodb.GetItem': 2, 'dynamodb.PutItem': 1 })
  expect(emulator.requests.eventual).toBe(1)
})
