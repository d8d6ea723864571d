import { compareUtf8 } from '../../crypto/bytes.ts'
import { AwsError, type JsonCall, type JsonClient } from '../aws/aws.ts'
import type { Item } from './item.ts'

export interface FakeTables extends JsonClient {
  /** Every call so far. */
  calls: JsonCall[]
  /** A table's items, by pk and sk. A table is there when it is asked for. */
  items(table: string): Map<string, Item>
  /** Asked before each call; what it throws is thrown for the call, which reaches no item. */
  before?: ((call: JsonCall) => void) | undefined
}

/** items in a page without a Limit: few, so that every test of a dozen records reads through several. */
const PAGE = 3

/**
 * DynamoDB for tests, which knows the expressions the adapter sends and no other: a change of the wire is a change here. It refuses a read
 * that is not consistent unless the value is projected away, and is as awkward as the engine: a Query answers by sort key and a Scan in
 * an order of its own, a Limit counts before the filter, and a page may be empty.
 */
export function fakeTables(): FakeTables {
  const tables = new Map<string, Map<string, Item>>()
  const items = (table: string) => {
    const found = tables.get(table) ?? new Map<string, Item>()
    tables.set(table, found)
    return found
  }

  const fake: FakeTables = {
    calls: [],
    items,
    async call(call) {
      await null // No call takes effect in the turn it is made in.
      fake.calls.push(call)
      fake.before?.(call)
      const { TableName, ...input } = structuredClone(call.input)
      const table = items(String(TableName))
      return structuredClone(carryOut(table, call.operation, input))
    },
  }
  return fake
}

interface Input {
  Item?: Item
  Key?: Item
  ExpressionAttributeValues?: Item
  ExpressionAttributeNames?: Record<string, string>
  ReturnValuesOnConditionCheckFailure?: 'ALL_OLD'
  ConditionExpression?: string
  ProjectionExpression?: string
  KeyConditionExpression?: string
  FilterExpression?: string
  ConsistentRead?: boolean
  ExclusiveStartKey?: Item
  Limit?: number
}

type Test = (item: Item | undefined, input: Input) => boolean

const text = (item: Item | undefined, name: string) => {
  const [held] = Object.values(item?.[name] ?? {})
  return typeof held === 'string' ? held : undefined
}
const expires = (item: Item | undefined) => text(item, 'expires')
const value = (input: Input, name: string) => text(input.ExpressionAttributeValues, name)

const conditions: Record<string, Test> = {
  'attribute_not_exists(#pk) OR (attribute_exists(#expires) AND #expires <= :now)': (item, input) =>
    item === undefined || Number(expires(item)) <= Number(value(input, ':now')),
  '#rev = :rev AND (attribute_not_exists(#expires) OR #expires > :now)': (item, input) =>
    item !== undefined &&
    text(item, 'rev') === value(input, ':rev') &&
    (expires(item) === undefined || Number(expires(item)) > Number(value(input, ':now'))),
  'attribute_not_exists(#k)': (item) => item?.k === undefined,
  '#k = :member': (item, input) => item?.k !== undefined && text(item, 'k') === value(input, ':member'),
}

const filters: Record<string, Test> = {
  'attribute_not_exists(#k)': (item) => item?.k === undefined,
  '#k = :member': (item, input) => item?.k !== undefined && text(item, 'k') === value(input, ':member'),
  'attribute_not_exists(#k) AND begins_with(#lkey, :prefix)': (item, input) =>
    item?.k === undefined && text(item, 'lkey')?.startsWith(value(input, ':prefix') ?? '\0') === true,
}

const keyConditions: Record<string, Test> = {
  '#pk = :pk': (item, input) => text(item, 'pk') === value(input, ':pk'),
  '#pk = :pk AND begins_with(#sk, :prefix)': (item, input) =>
    text(item, 'pk') === value(input, ':pk') && text(item, 'sk')?.startsWith(value(input, ':prefix') ?? '\0') === true,
}

function carryOut(table: Map<string, Item>, operation: string, input: Input): Record<string, unknown> {
  const names = Object.entries(input.ExpressionAttributeNames ?? {})
  if (names.some(([placeholder, name]) => placeholder !== `#${name}`)) throw refusal('ValidationException')
  const known = (expressions: Record<string, Test>, expression = '') => {
    const test = expressions[expression]
    if (test === undefined) throw refusal('ValidationException', { expression, operation })
    return test
  }

  switch (operation) {
    case 'GetItem': {
      const item = table.get(idOf(input.Key ?? {}))
      if (input.ConsistentRead === true) return item ? { Item: item } : {}
      if (input.ProjectionExpression !== '#rev, #expires, #k') throw refusal('ValidationException')
      return item ? { Item: Object.fromEntries(Object.entries(item).filter(([name]) => ['rev', 'expires', 'k'].includes(name))) } : {}
    }
    case 'PutItem':
    case 'DeleteItem': {
      const id = idOf((operation === 'PutItem' ? input.Item : input.Key) ?? {})
      const old = table.get(id)
      if (input.ConditionExpression !== undefined && !known(conditions, input.ConditionExpression)(old, input)) {
        const shown = input.ReturnValuesOnConditionCheckFailure === 'ALL_OLD' && old !== undefined
        throw refusal('ConditionalCheckFailedException', shown ? { Item: structuredClone(old) } : {})
      }
      if (operation === 'PutItem') table.set(id, input.Item ?? {})
      else table.delete(id)
      return {}
    }
    case 'Query':
    case 'Scan': {
      if (input.ConsistentRead !== true) throw refusal('ValidationException')
      const matches = operation === 'Query' ? known(keyConditions, input.KeyConditionExpression) : () => true
      const passes = known(filters, input.FilterExpression)
      const placeOf = operation === 'Query' ? (item: Item) => text(item, 'sk') ?? '' : scrambled
      const ordered = [...table.values()].filter((item) => matches(item, input)).sort((a, b) => compareUtf8(placeOf(a), placeOf(b)))
      const start = input.ExclusiveStartKey
      // The item to go on after need not be there any more, but has to be one that could have been answered.
      if (start && !matches(start, input)) throw refusal('ValidationException')
      const from = ordered.filter((item) => start && compareUtf8(placeOf(item), placeOf(start)) <= 0).length
      const page = ordered.slice(from, from + Math.min(input.Limit ?? PAGE, PAGE))
      const last = page.at(-1)
      const more = from + page.length < ordered.length
      return { Items: page.filter((item) => passes(item, input)), ...(more && last && { LastEvaluatedKey: { pk: last.pk, sk: last.sk } }) }
    }
    default:
      throw refusal('UnknownOperationException')
  }
}

/** Where a Scan finds an item: nowhere near its neighbours. */
function scrambled(item: Item): string {
  return [...idOf(item)].reverse().join('')
}

function idOf(key: Item): string {
  return JSON.stringify([text(key, 'pk'), text(key, 'sk')])
}

function refusal(type: string, body: Record<string, unknown> = {}): AwsError {
  return new AwsError(type, 'refused by the fake', { status: 400, body, mayHaveLanded: false })
}
