import type { Table } from 'dynalite/db/index.js'
import { ACCOUNT, type Call, Refusal, shortType } from './call.ts'
import { dynaliteEngine } from './dynamodb-engine.ts'
import { checkKeys, invalid, keyOf, leadingKeys } from './dynamodb-keys.ts'
import { tableSettings } from './dynamodb-tables.ts'
import { oneAtATime } from './one-at-a-time.ts'

export interface DynamoDb {
  call(call: Call, input: Record<string, unknown>): Promise<object>
  /** A table of layout v5 (seed: storage-layout), ready to be used. One that stands is left alone. */
  createTable(name: string): Promise<void>
  close(): Promise<void>
}

const WRITES = new Set(['PutItem', 'DeleteItem', 'UpdateItem'])
const READS = new Set(['GetItem', 'Query', 'Scan'])

/**
 * DynamoDB: dynalite, and what it lacks: `ReturnValuesOnConditionCheckFailure`, time to live, point-in-time recovery, tags at creation,
 * limits of keys. No batches and no transactions: nothing here uses them.
 *
 * @param eventual told of every read that is not consistent
 */
export function dynamodb(options: { region: string; eventual: () => void }): DynamoDb {
  const engine = dynaliteEngine(options.region)
  const settings = tableSettings(engine)
  const writing = oneAtATime()
  const tables = new Map<string, Table>()

  async function call({ operation, authorize, now }: Call, input: Record<string, unknown>): Promise<object> {
    const action = `dynamodb:${operation}`
    if (settings.knows(operation)) {
      authorize(action, resourceOf(input, options.region))
      return settings.run(operation, input, now)
    }
    if (!engine.knows(operation)) throw new Refusal('com.amazon.coral.service#UnknownOperationException', operation)
    if (operation === 'UpdateTable' && typeof input.TableName === 'string') {
      authorize(action, resourceOf(input, options.region))
      const protectedNow = await settings.protect(input.TableName, input)
      if (protectedNow !== null) return protectedNow
    }
    const returnOld = returnsOld(operation, input)
    const checked = engine.validate(operation, input)
    const name = typeof checked.TableName === 'string' ? checked.TableName : null
    const table = name === null ? null : await tableOf(name)
    authorize(action, resourceOf(checked, options.region), table === null ? {} : leadingKeys(checked, table))
    if (READS.has(operation) && checked.ConsistentRead !== true) options.eventual()
    if (table !== null) checkKeys(checked, table)

    if (operation === 'CreateTable') return settings.created(await engine.run(operation, checked), input)
    if (name !== null && operation === 'DescribeTable') return settings.described(name, await engine.run(operation, checked))
    if (name !== null && operation === 'DeleteTable') await settings.checkDeletable(name)
    if (name !== null && (operation === 'DeleteTable' || operation === 'UpdateTable')) tables.delete(name)
    const key = table === null || !WRITES.has(operation) ? null : keyOf(checked, table)
    if (table === null || key === null) return engine.run(operation, checked)
    // The item a condition failed on is read before anyone else writes it.
    return writing(`${table.TableName} ${JSON.stringify(key)}`, async () => {
      try {
        return await engine.run(operation, checked)
      } catch (error) {
        if (!returnOld || !(error instanceof Refusal) || shortType(error.type) !== 'ConditionalCheckFailedException') throw error
        const item = await engine.item(table, key)
        throw item === null ? error : new Refusal(error.type, error.message, error.status, { Item: item })
      }
    })
  }

  /** Kept while it is active, as every call asks. */
  async function tableOf(name: string): Promise<Table | null> {
    const known = tables.get(name)
    if (known !== undefined) return known
    const table = await engine.table(name)
    if (table?.TableStatus === 'ACTIVE') tables.set(name, table)
    return table
  }

  return {
    call,
    async createTable(name) {
      if ((await engine.table(name)) !== null) return
      await engine.run('CreateTable', engine.validate('CreateTable', layoutTable(name)))
      while ((await engine.table(name))?.TableStatus !== 'ACTIVE') await new Promise((resolve) => setTimeout(resolve, 1))
    },
    close: () => engine.close(),
  }
}

function layoutTable(name: string): Record<string, unknown> {
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  }
}

function returnsOld(operation: string, input: Record<string, unknown>): boolean {
  const asked = input.ReturnValuesOnConditionCheckFailure
  if (asked === undefined || !WRITES.has(operation)) return false
  if (asked === 'ALL_OLD' || asked === 'NONE') return asked === 'ALL_OLD'
  throw invalid(
    `1 validation error detected: Value '${asked}' at 'returnValuesOnConditionCheckFailure' failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, NONE]`,
  )
}

function resourceOf(input: Record<string, unknown>, region: string): string {
  if (typeof input.ResourceArn === 'string') return input.ResourceArn
  if (typeof input.TableName !== 'string') return '*'
  const table = `arn:aws:dynamodb:${region}:${ACCOUNT}:table/${input.TableName}`
  return typeof input.IndexName === 'string' ? `${table}/index/${input.IndexName}` : table
}
