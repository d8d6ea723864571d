import type { Item, Table } from 'dynalite/db/index.js'
import { Refusal } from './call.ts'
import type { Context } from './iam.ts'

type Input = Readonly<Record<string, unknown>>

/** The key attributes of the item a call reads or writes; null when it names none, or not all of them. */
export function keyOf(input: Input, table: Table): Item | null {
  const item = itemIn(input)
  const parts = table.KeySchema.map(({ AttributeName }) => [AttributeName, item[AttributeName]] as const)
  const key = parts.filter((part): part is [string, Item[string]] => part[1] !== undefined)
  return key.length === parts.length ? Object.fromEntries(key) : null
}

/** `dynamodb:LeadingKeys`: the partition keys a call names, by which a policy allows kinds of record. A Scan names none. */
export function leadingKeys(input: Input, table: Table): Context {
  const hash = table.KeySchema[0]?.AttributeName ?? ''
  const value = itemIn(input)[hash] ?? conditionsIn(input)[hash]?.AttributeValueList?.[0]
  return value === undefined ? {} : { 'dynamodb:LeadingKeys': [String(Object.values(value)[0])] }
}

/** Keys are limited in bytes, where dynalite counts characters; and no key condition takes an empty string, which dynalite lets pass. */
export function checkKeys(input: Input, table: Table): void {
  for (const { AttributeName, KeyType } of table.KeySchema) {
    const value = itemIn(input)[AttributeName]?.S
    if (typeof value === 'string' && Buffer.byteLength(value) > LIMITS[KeyType].bytes) {
      throw invalid(`One or more parameter values were invalid: ${LIMITS[KeyType].message}`)
    }
    if (conditionsIn(input)[AttributeName]?.AttributeValueList?.some((operand) => operand.S === '')) {
      throw invalid(
        `One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: ${AttributeName}`,
      )
    }
  }
}

/** bytes: DynamoDB's limits of a partition key and of a sort key */
const LIMITS = {
  HASH: { bytes: 2048, message: 'Size of hashkey has exceeded the maximum size limit of2048 bytes' },
  RANGE: { bytes: 1024, message: 'Aggregated size of all range keys has exceeded the size limit of 1024 bytes' },
}

function itemIn(input: Input): Item {
  return (input.Key ?? input.Item ?? {}) as Item
}

/** What dynalite makes of a KeyConditionExpression. */
function conditionsIn(input: Input): Record<string, { AttributeValueList?: Item[string][] }> {
  return (input.KeyConditions ?? {}) as Record<string, { AttributeValueList?: Item[string][] }>
}

export function invalid(message: string): Refusal {
  return new Refusal('com.amazon.coral.validate#ValidationException', message)
}
