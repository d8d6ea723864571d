import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from './emulator.ts'
import type { FaultSettings } from './faults.ts'

const TABLE = 'sluis-acme-oidc'
let emulator: AwsEmulator
let dynamodb: DynamoDBClient
let ssm: SSMClient
let s3: S3Client
beforeAll(async () => {
  emulator = await startAwsEmulator({ tables: [TABLE], buckets: ['bucket'] })
  const options = { endpoint: emulator.url, region: emulator.region, credentials: emulator.credentials[0], maxAttempts: 1 }
  dynamodb = new DynamoDBClient(options)
  ssm = new SSMClient(options)
  s3 = new S3Client({ ...options, forcePathStyle: true })
})
beforeEach(() => {
  emulator.faults.clear()
  emulator.requests.reset()
})
afterAll(() => emulator.stop())

const put = (sk: string) => dynamodb.send(new PutItemCommand({ TableName: TABLE, Item: { pk: { S: 'f' }, sk: { S: sk } } }))
const stands = async (sk: string) =>
  (await dynamodb.send(new GetItemCommand({ TableName: TABLE, Key: { pk: { S: 'f' }, sk: { S: sk } }, ConsistentRead: true }))).Item !==
  undefined
const object = () => s3.send(new PutObjectCommand({ Bucket: 'bucket', Key: 'k', Body: 'x' }))
const parameter = () => ssm.send(new GetParameterCommand({ Name: '/none' }))

describe('a fault', () => {
  it('throttle refuses as each service does, and does nothing', async () => {
    emulator.faults.set({ all: { throttle: 1 } })
    await expect(put('throttled')).rejects.toMatchObject({
      name: 'ProvisionedThroughputExceededException',
      $metadata: { httpStatusCode: 400 },
    })
    await expect(parameter()).rejects.toMatchObject({ name: 'ThrottlingException', $metadata: { httpStatusCode: 400 } })
    await expect(object()).rejects.toMatchObject({ name: 'SlowDown', $metadata: { httpStatusCode: 503 } })
    emulator.faults.clear()
    expect(await stands('throttled')).toBe(false)
  })

  it('fail answers 500, and does nothing', async () => {
    emulator.faults.set({ dynamodb: { fail: 1 } })
    await expect(put('failed')).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } })
    emulator.faults.clear()
    expect(await stands('failed')).toBe(false)
  })

  it('dropAnswer does what was asked and answers nothing', async () => {
    emulator.faults.set({ dynamodb: { dropAnswer: 1 } })
    await expect(put('unanswered')).rejects.toSatisfy(
      (error: { $metadata?: { httpStatusCode?: number } }) => !error.$metadata?.httpStatusCode,
    )
    emulator.faults.clear()
    expect(await stands('unanswered')).toBe(true)
  })

  it('dropRequest does nothing and answers nothing', async () => {
    emulator.faults.set({ dynamodb: { dropRequest: 1 } })
    await expect(put('dropped')).rejects.toSatisfy((error: { $metadata?: { httpStatusCode?: number } }) => !error.$metadata?.httpStatusCode)
    emulator.faults.clear()
    expect(await stands('dropped')).toBe(false)
  })

  it('delay holds every call', async () => {
    emulator.faults.set({ dynamodb: { delay: 60 } })
    const from = performance.now()
    await put('late')
    expect(performance.now() - from).toBeGreaterThanOrEqual(59)
  })

  it('is of the service it is set for', async () => {
    emulator.faults.set({ ssm: { throttle: 1 } })
    await put('other service')
    await object()
    await expect(parameter()).rejects.toMatchObject({ name: 'ThrottlingException' })
  })

  it('one in n falls on about that share, on the same calls for the same seed, and is counted', async () => {
    const run = async (seed: number) => {
      emulator.faults.set({ seed, dynamodb: { throttle: 5 } })
      const outcomes: boolean[] = []
      for (let n = 0; n < 200; n++)
        outcomes.push(
          await put('seeded').then(
            () => true,
            () => false,
          ),
        )
      return outcomes
    }
    const first = await run(7)
    const throttled = first.filter((passed) => !passed).length
    expect(throttled).toBeGreaterThan(20)
    expect(throttled).toBeLessThan(60)
    expect(emulator.requests.faults).toEqual({ throttle: throttled })
    expect(emulator.requests.counts).toEqual({ 'dynamodb.PutItem': 200 - throttled })
    expect(await run(7)).toEqual(first)
    expect(await run(8)).not.toEqual(first)
  })

  it('for the next calls takes as many as it says, of that operation, with that error', async () => {
    emulator.faults.set({
      next: [
        { service: 's3', operation: 'PutObject', times: 2, fault: { type: 'ConditionalRequestConflict', status: 409 } },
        { service: 'dynamodb', operation: 'PutItem', after: 1, fault: { type: 'TransactionConflictException', status: 400 } },
      ],
    })
    const conflict = { name: 'ConditionalRequestConflict', $metadata: { httpStatusCode: 409 } }
    await expect(object()).rejects.toMatchObject(conflict)
    await expect(object()).rejects.toMatchObject(conflict)
    await object()
    await put('first')
    expect(await stands('first')).toBe(true)
    await expect(put('second')).rejects.toMatchObject({ name: 'TransactionConflictException' })
    await put('third')
  })
})

describe('over HTTP', () => {
  const post = (path: string, body: unknown) => fetch(emulator.url + path, { method: 'POST', body: JSON.stringify(body) })

  it('faults are set, requests told, and both forgotten', async () => {
    const settings: FaultSettings = { clockOffset: 1_000, dynamodb: { throttle: 1 } }
    expect((await post('/_emulator/faults', settings)).status).toBe(200)
    expect(emulator.faults.clockOffset).toBe(1_000)
    await expect(put('over http')).rejects.toMatchObject({ name: 'ProvisionedThroughputExceededException' })
    expect(await (await fetch(`${emulator.url}/_emulator/requests`)).json()).toMatchObject({ faults: { throttle: 1 }, eventual: 0 })
    await post('/_emulator/reset', {})
    await put('over http')
    expect(emulator.requests.counts).toEqual({ 'dynamodb.PutItem': 1 })
    expect(emulator.faults.clockOffset).toBe(0)
  })

  it('a fault that there is not is refused, and none is set', async () => {
    const refused = await post('/_emulator/faults', { clockOffset: 5, dynamodb: { throttle: 1 }, dinamodb: {} })
    expect(refused.status).toBe(400)
    expect(emulator.faults.clockOffset).toBe(0)
    await put('misspelt')
  })
})
