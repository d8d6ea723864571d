import { PortError } from '../../ports/error.ts'
import { awsUnavailable, isAwsError, type JsonClient } from '../aws/aws.ts'
import type { Condition } from './condition.ts'
import { type Item, keyOf, type Place } from './item.ts'

/** A conditional write that did not land. */
export interface Refused {
  /** The item that was in the way; undefined when none was, or none was asked for. */
  old: unknown
  /** An earlier attempt of the call went unanswered, and may be what stands in the way now. */
  mayHaveLanded: boolean
}

export interface PagesOptions {
  /** Items in the first answer, before any filter. */
  limit?: number
  /** The item to go on after. */
  after?: Place
}

/** One table, as the wire has it. Everything throws PortError Unavailable, which names the table, when it can't be asked. */
export interface Table {
  /** Consistent. undefined: there is none. */
  get(place: Place): Promise<unknown>
  /** The revision, the lifetime and what kind of item it is, eventually consistent: half a read, and never a value. */
  peek(place: Place): Promise<unknown>
  put(item: Item, condition?: Condition): Promise<Refused | null>
  delete(place: Place, condition?: Condition): Promise<Refused | null>
  /** Every page there is, empty ones too: a page may be empty long before the last. Consistent. */
  pages(operation: 'Query' | 'Scan', input: Record<string, unknown>, options?: PagesOptions): AsyncIterable<unknown[]>
}

/** items: more than this in an answer only make it late, for 1 MB ends a page anyway */
const MOST_ITEMS = 1_000

export function openTable(client: JsonClient, name: string): Table {
  async function call(operation: string, input: object): Promise<Record<string, unknown>> {
    try {
      return await client.call({ operation, input: { TableName: name, ...input } })
    } catch (error) {
      throw awsUnavailable(error, `table ${name}`)
    }
  }

  async function write(operation: string, input: object): Promise<Refused | null> {
    try {
      await client.call({ operation, input: { TableName: name, ...input } })
      return null
    } catch (error) {
      if (!isAwsError(error, 'ConditionalCheckFailedException')) throw awsUnavailable(error, `table ${name}`)
      return { old: error.body.Item, mayHaveLanded: error.mayHaveLanded }
    }
  }

  return {
    async get(place) {
      return (await call('GetItem', { Key: keyOf(place), ConsistentRead: true })).Item
    },

    async peek(place) {
      const projection = {
        ProjectionExpression: '#rev, #expires, #k',
        ExpressionAttributeNames: { '#rev': 'rev', '#expires': 'expires', '#k': 'k' },
      }
      return (await call('GetItem', { Key: keyOf(place), ConsistentRead: false, ...projection })).Item
    },

    put: (item, condition) => write('PutItem', { Item: item, ...condition }),
    delete: (place, condition) => write('DeleteItem', { Key: keyOf(place), ...condition }),

    async *pages(operation, input, { limit, after } = {}) {
      let start: unknown = after && keyOf(after)
      for (let most = limit; ; most = most && Math.min(2 * most, MOST_ITEMS)) {
        const { Items, LastEvaluatedKey } = await call(operation, {
          ...input,
          ConsistentRead: true,
          ...(most === undefined ? {} : { Limit: Math.min(most, MOST_ITEMS) }),
          ...(start === undefined ? {} : { ExclusiveStartKey: start }),
        })
        if (!Array.isArray(Items)) throw new PortError('Unavailable', `table ${name} answered a ${operation} without items`)
        yield Items
        if (isNoKey(LastEvaluatedKey)) return
        start = LastEvaluatedKey
      }
    },
  }
}

function isNoKey(key: unknown): boolean {
  return typeof key !== 'object' || key === null || Object.keys(key).length === 0
}
