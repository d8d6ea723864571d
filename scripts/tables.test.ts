import { CreateTableCommand, DescribeTableCommand, DynamoDBClient, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type AwsEmulator, startAwsEmulator } from '../test/aws-emulator/emulator.ts'
import { provisionTables } from './aws/provision.ts'
import { tables } from './tables.ts'

const READER = { accessKeyId: 'AKIAREADER', secretAccessKey: 'reads' }
let emulator: AwsEmulator
let client: DynamoDBClient

beforeEach(async () => {
  const policy = { Statement: { Effect: 'Allow', Action: 'dynamodb:Describe*', Resource: '*' } } as const
  const admin = { accessKeyId: 'AKIAADMIN', secretAccessKey: 'administers' }
  emulator = await startAwsEmulator({ credentials: [admin, { ...READER, policy }] })
  as(admin)
  client = new DynamoDBClient({ region: emulator.region, endpoint: emulator.url, credentials: admin })
})

afterEach(async () => {
  client.destroy()
  vi.unstubAllEnvs()
  await emulator.stop()
})

function as({ accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string }): void {
  vi.stubEnv('AWS_ACCESS_KEY_ID', accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', secretAccessKey)
}

/** What `npm run tables` says with these arguments, a line a table. */
async function run(...args: string[]): Promise<string[]> {
  const lines: string[] = []
  const environment = { INSTANCE: 'acme', AWS_REGION: emulator.region, AWS_ENDPOINT_URL: emulator.url }
  await tables(args, environment, (line) => lines.push(line))
  return lines
}

/** How often anything but looking was asked for. */
function changes(): Record<string, number> {
  return Object.fromEntries(Object.entries(emulator.requests.counts).filter(([name]) => !name.startsWith('dynamodb.Describe')))
}

type Keys = readonly (readonly [name: string, type: 'S' | 'N'])[]

const pk = ['pk', 'S'] as const
const sk = ['sk', 'S'] as const

async function createTable(name: string, keys: Keys = [pk, sk]): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: keys.map(([AttributeName], at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' })),
      AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    }),
  )
  emulator.requests.reset()
}

describe('npm run tables', () => {
  test('makes every module its table, and has nothing to do the second time', async () => {
    const names = ['oidc', 'github', 'slack', 'cloudflare', 'google', 'backup'].map((module) => `sluis-acme-${module}`)
    expect(await run()).toEqual(names.map((name) => `${name}: created, time to live by expires, point-in-time recovery`))
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'sluis-acme-oidc' }))
    expect(Table).toMatchObject({
      TableStatus: 'ACTIVE',
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
    })
    emulator.requests.reset()
    expect(await run()).toEqual(names.map((name) => `${name}: nothing to do`))
    expect(changes()).toEqual({})
  })

  test('finishes what a run that broke off left', async () => {
    await createTable('sluis-acme-oidc')
    expect(await run('--modules', 'google,oidc')).toEqual([
      'sluis-acme-oidc: time to live by expires, point-in-time recovery, protection against deletion',
      'sluis-acme-google: created, time to live by expires, point-in-time recovery',
    ])
    expect(changes()).toEqual({
      'dynamodb.CreateTable': 1,
      'dynamodb.UpdateTable': 1,
      'dynamodb.UpdateTimeToLive': 2,
      'dynamodb.UpdateContinuousBackups': 2,
    })
  })

  test('only looks in a dry run, and says what it would do', async () => {
    await createTable('sluis-acme-oidc')
    expect(await run('--dry-run', '--modules', 'oidc,github')).toEqual([
      'sluis-acme-oidc: would add time to live by expires, point-in-time recovery, protection against deletion',
      'sluis-acme-github: would create it, time to live by expires, point-in-time recovery, protection against deletion',
    ])
    expect(changes()).toEqual({})
  })

  test('refuses a table of another schema, saying what differs, and changes none', async () => {
    const foreign: [string, Keys, string][] = [
      [
        'one',
        [['id', 'S']],
        'pk is no key, not its HASH key; sk is no key, not its RANGE key; id is a key, and no attribute of the layout',
      ],
      ['two', [pk, ['sk', 'N']], 'sk is of type N, not S'],
      ['three', [sk, pk], 'pk is its RANGE key, not its HASH key; sk is its HASH key, not its RANGE key'],
    ]
    for (const [instance, keys, differs] of foreign) {
      await createTable(`sluis-${instance}-github`, keys)
      await expect(run('--instance', instance)).rejects.toThrow(`table sluis-${instance}-github is of another schema: ${differs}. Nothing`)
      expect(changes()).toEqual({})
    }
  })

  test('refuses a table that deletes by another attribute', async () => {
    await createTable('sluis-acme-oidc')
    const TimeToLiveSpecification = { AttributeName: 'ttl', Enabled: true }
    await client.send(new UpdateTimeToLiveCommand({ TableName: 'sluis-acme-oidc', TimeToLiveSpecification }))
    emulator.requests.reset()
    await expect(run()).rejects.toThrow('table sluis-acme-oidc deletes by its attribute ttl, not expires')
    expect(changes()).toEqual({})
  })

  test('waits for the backups of a new table to be set up', async () => {
    const fault = { type: 'ContinuousBackupsUnavailableException', status: 400 }
    emulator.faults.set({ next: [{ service: 'dynamodb', operation: 'UpdateContinuousBackups', times: 3, fault }] })
    const pauses: number[] = []
    const say = () => undefined
    await provisionTables({ client, tables: ['sluis-acme-oidc'], dryRun: false, say, pause: async (ms) => pauses.push(ms) })
    expect(pauses).toEqual([3_000, 3_000, 3_000])
  })

  test('protects a table that is not against deletion, where the engine knows of it', async () => {
    await createTable('sluis-acme-oidc')
    const updates: unknown[] = []
    // The emulator's engine knows no protection: what it answers is made to say that there is none.
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'UpdateTableCommand') {
            updates.push(args.input)
            return { output: { $metadata: {} }, response: {} }
          }
          const result = await next(args)
          if (commandName === 'DescribeTableCommand') Object.assign(tableIn(result.output), { DeletionProtectionEnabled: false })
          return result
        },
      { step: 'initialize' },
    )
    const lines: string[] = []
    await provisionTables({ client, tables: ['sluis-acme-oidc'], dryRun: false, say: (line) => lines.push(line) })
    expect(lines).toEqual(['sluis-acme-oidc: time to live by expires, point-in-time recovery, protection against deletion'])
    expect(updates).toEqual([{ TableName: 'sluis-acme-oidc', DeletionProtectionEnabled: true }])
  })

  test('says which permission is missing, and that nobody answers', async () => {
    as(READER)
    await expect(run('--modules', 'oidc')).rejects.toThrow('CreateTable of sluis-acme-oidc: these credentials have no permission for it')
    await expect(run('--endpoint', 'http://127.0.0.1:9', '--modules', 'oidc')).rejects.toThrow(
      'DescribeTable of sluis-acme-oidc: AWS could not be reached. Is the region right, and the endpoint?',
    )
  })

  test.each([
    [['--instance', 'External'], '--instance External is no instance'],
    [['--modules', 'oidc,outline'], '--modules outline: there is none. There are: oidc, github'],
    [['--region', 'here'], '--region here is no AWS region like eu-west-1'],
    [['--endpoint', 'localhost:8000'], 'the endpoint localhost:8000 (--endpoint, AWS_ENDPOINT_URL...) is no http or https address'],
    [['--region='], '--region is empty'],
    [['oidc'], "Unexpected argument 'oidc'"],
    [['--dryrun'], "Unknown option '--dryrun'"],
  ])('refuses %j, naming the flag', async (args, said) => {
    await expect(run(...args)).rejects.toThrow(said)
    expect(emulator.requests.counts).toEqual({})
  })
})

function tableIn(output: unknown): object {
  return typeof output === 'object' && output !== null && 'Table' in output && typeof output.Table === 'object' && output.Table !== null
    ? output.Table
    : {}
}
