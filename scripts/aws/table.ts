import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type TableDescription,
  type TimeToLiveDescription,
} from '@aws-sdk/client-dynamodb'
import { CommandError } from './command.ts'
import { awsFailure } from './failure.ts'

/** How a table of the layout is keyed, and which attribute its dead are known by (seed: storage-layout, DynamoDB). */
export const KEYS = { pk: { keyType: 'HASH', type: 'S' }, sk: { keyType: 'RANGE', type: 'S' } } as const
export const EXPIRES = 'expires'

/** A table that serves, and what it has. */
export interface Standing {
  timeToLive: boolean
  pointInTimeRecovery: boolean
  /** null: an engine that does not say, such as a local one. */
  deletionProtection: boolean | null
}

/**
 * What stands under a table's name: nothing, a table that is being made, or one that serves.
 *
 * @throws CommandError a table of another schema, with what differs; one that is going; a refusal of AWS
 */
export async function inspectTable(client: DynamoDBClient, name: string): Promise<'absent' | 'creating' | Standing> {
  const table = await describe(client, name)
  if (table === null) return 'absent'
  refuseOtherKeys(name, table)
  switch (table.TableStatus) {
    case 'CREATING':
      return 'creating'
    case 'ACTIVE':
    case 'UPDATING':
      return {
        timeToLive: await hasTimeToLive(client, name),
        pointInTimeRecovery: await hasRecovery(client, name),
        deletionProtection: table.DeletionProtectionEnabled ?? null,
      }
    case 'DELETING':
      throw new CommandError(`table ${name} is being deleted: run it again when it is gone`)
    default:
      throw new CommandError(`table ${name} is ${table.TableStatus}: make it ACTIVE first`)
  }
}

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | null> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table ?? null
  } catch (error) {
    if (error instanceof Error && error.name === 'ResourceNotFoundException') return null
    throw awsFailure(error, `DescribeTable of ${name}`)
  }
}

function refuseOtherKeys(name: string, { KeySchema = [], AttributeDefinitions = [] }: TableDescription): void {
  const found = new Map(KeySchema.map(({ AttributeName = '', KeyType }) => [AttributeName, KeyType]))
  const types = new Map(AttributeDefinitions.map(({ AttributeName = '', AttributeType }) => [AttributeName, AttributeType]))
  const differences = Object.entries(KEYS).flatMap(([key, { keyType, type }]) => {
    if (found.get(key) !== keyType) return [`${key} is ${found.has(key) ? `its ${found.get(key)} key` : 'no key'}, not its ${keyType} key`]
    return types.get(key) === type ? [] : [`${key} is of type ${types.get(key)}, not ${type}`]
  })
  const strangers = [...found.keys()].filter((key) => !(key in KEYS)).map((key) => `${key} is a key, and no attribute of the layout`)
  if (differences.length + strangers.length === 0) return
  const which = [...differences, ...strangers].join('; ')
  throw new CommandError(`table ${name} is of another schema: ${which}. Nothing was changed: remove that table, or name another instance`)
}

async function hasTimeToLive(client: DynamoDBClient, name: string): Promise<boolean> {
  const { TimeToLiveDescription: found } = await sent(`DescribeTimeToLive of ${name}`, () =>
    client.send(new DescribeTimeToLiveCommand({ TableName: name })),
  )
  return isExpiring(name, found)
}

function isExpiring(name: string, { TimeToLiveStatus: status, AttributeName: attribute }: TimeToLiveDescription = {}): boolean {
  if (status === 'DISABLING') throw new CommandError(`time to live of table ${name} is being switched off: run it again in an hour`)
  if (status !== 'ENABLED' && status !== 'ENABLING') return false
  if (attribute === EXPIRES) return true
  throw new CommandError(`table ${name} deletes by its attribute ${attribute}, not ${EXPIRES}. Nothing was changed: switch that off first`)
}

async function hasRecovery(client: DynamoDBClient, name: string): Promise<boolean> {
  const { ContinuousBackupsDescription: found } = await sent(`DescribeContinuousBackups of ${name}`, () =>
    client.send(new DescribeContinuousBackupsCommand({ TableName: name })),
  )
  return found?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED'
}

/** An answer of AWS. @throws CommandError, saying what was asked */
export async function sent<T>(doing: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    throw awsFailure(error, doing)
  }
}
