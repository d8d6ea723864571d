import { setTimeout as sleep } from 'node:timers/promises'
import {
  CreateTableCommand,
  type DynamoDBClient,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb'
import { CommandError } from './command.ts'
import { EXPIRES, inspectTable, KEYS, type Standing, sent } from './table.ts'

export interface ProvisionOptions {
  client: DynamoDBClient
  tables: readonly string[]
  /** Look, and say what would be done. */
  dryRun: boolean
  /** Takes a line a table. */
  say: (line: string) => void
  /** Milliseconds; a test's own. */
  pause?: (ms: number) => Promise<unknown>
}

/**
 * Makes the tables of an instance, or completes those that stand: keyed as the layout has them, on demand, with time to live,
 * point-in-time recovery and protection against deletion. All are looked at before one is changed, and what is there stays: to run it
 * again is to look, and a run that broke off is finished by the next.
 *
 * @throws CommandError
 */
export async function provisionTables({ client, tables, dryRun, say, pause = sleep }: ProvisionOptions): Promise<void> {
  const standing = await Promise.all(tables.map(async (name) => ({ name, found: await inspectTable(client, name) })))
  if (dryRun) {
    for (const { name, found } of standing) say(`${name}: ${intention(found)}`)
    return
  }
  const absent = standing.filter(({ found }) => found === 'absent')
  // All at once: each takes DynamoDB some seconds.
  await Promise.all(absent.map(({ name }) => createTable(client, name)))
  for (const { name, found } of standing) {
    const done = [...(found === 'absent' ? ['created'] : []), ...(await complete(client, name, pause))]
    say(`${name}: ${done.length === 0 ? 'nothing to do' : done.join(', ')}`)
  }
}

function intention(found: 'absent' | 'creating' | Standing): string {
  if (found === 'absent') return `would create it, ${steps.map(({ what }) => what).join(', ')}`
  if (found === 'creating') return 'is being created: what it still lacks can be told when it is there'
  const missing = steps.filter(({ isMissing }) => isMissing(found)).map(({ what }) => what)
  return missing.length === 0 ? 'nothing to do' : `would add ${missing.join(', ')}`
}

async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  const keys = Object.entries(KEYS)
  try {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: 'PAY_PER_REQUEST',
        DeletionProtectionEnabled: true,
        KeySchema: keys.map(([AttributeName, { keyType }]) => ({ AttributeName, KeyType: keyType })),
        AttributeDefinitions: keys.map(([AttributeName, { type }]) => ({ AttributeName, AttributeType: type })),
      }),
    )
  } catch (error) {
    // Somebody else makes it at this moment; what they make is looked at next.
    if (error instanceof Error && error.name === 'ResourceInUseException') return
    await sent(`CreateTable of ${name}`, () => Promise.reject(error))
  }
}

/** s: DynamoDB takes some seconds, and a table that is not there after minutes won't be */
const PATIENCE = 300

/** Waits until the table serves, and adds what it lacks. What was added. */
async function complete(client: DynamoDBClient, name: string, pause: (ms: number) => Promise<unknown>): Promise<string[]> {
  await sent(`waiting for ${name}`, () =>
    waitUntilTableExists({ client, minDelay: 1, maxDelay: 5, maxWaitTime: PATIENCE }, { TableName: name }),
  )
  const found = await inspectTable(client, name)
  if (typeof found === 'string') throw new CommandError(`table ${name} went away while it was being looked at: run it again`)
  const missing = steps.filter(({ isMissing }) => isMissing(found))
  for (const { add } of missing) await add(client, name, pause)
  return missing.map(({ what }) => what)
}

interface Step {
  what: string
  isMissing: (found: Standing) => boolean
  add: (client: DynamoDBClient, name: string, pause: (ms: number) => Promise<unknown>) => Promise<void>
}

const steps: readonly Step[] = [
  {
    what: `time to live by ${EXPIRES}`,
    isMissing: ({ timeToLive }) => !timeToLive,
    async add(client, name) {
      const TimeToLiveSpecification = { AttributeName: EXPIRES, Enabled: true }
      await sent(`UpdateTimeToLive of ${name}`, () =>
        client.send(new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification })),
      )
    },
  },
  { what: 'point-in-time recovery', isMissing: ({ pointInTimeRecovery }) => !pointInTimeRecovery, add: addRecovery },
  {
    what: 'protection against deletion',
    isMissing: ({ deletionProtection }) => deletionProtection === false,
    async add(client, name) {
      await sent(`UpdateTable of ${name}`, () => client.send(new UpdateTableCommand({ TableName: name, DeletionProtectionEnabled: true })))
    },
  },
]

/** ms between asking again, and how often: a new table's backups are being set up for some seconds, and say so until then */
const BACKUPS_PAUSE = 3_000
const BACKUPS_ATTEMPTS = 20

async function addRecovery(client: DynamoDBClient, name: string, pause: (ms: number) => Promise<unknown>): Promise<void> {
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true }
  const command = new UpdateContinuousBackupsCommand({ TableName: name, PointInTimeRecoverySpecification })
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(command)
      return
    } catch (error) {
      const isSettingUp = error instanceof Error && error.name === 'ContinuousBackupsUnavailableException'
      if (!isSettingUp || attempt === BACKUPS_ATTEMPTS) await sent(`UpdateContinuousBackups of ${name}`, () => Promise.reject(error))
    }
    await pause(BACKUPS_PAUSE)
  }
}
