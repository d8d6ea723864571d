import { createRequire } from 'node:module'
import { create, createKey, type Item, type Store, type Table } from 'dynalite/db/index.js'
import { checkTypes, checkValidations } from 'dynalite/validations/index.js'
import { ACCOUNT, Refusal } from './call.ts'

const operations = [
  'CreateTable',
  'DeleteItem',
  'DeleteTable',
  'DescribeTable',
  'GetItem',
  'ListTables',
  'ListTagsOfResource',
  'PutItem',
  'Query',
  'Scan',
  'TagResource',
  'UntagResource',
  'UpdateItem',
  'UpdateTable',
] as const
type Operation = (typeof operations)[number]

interface DynaliteOperation {
  types: unknown
  custom: unknown
  run(store: Store, input: Record<string, unknown>, done: (error: unknown, output: unknown) => void): void
}

/** dynalite's own parts, without its HTTP server, its checks of signatures (it makes none) and a second socket. */
export interface Engine {
  knows(operation: string): operation is Operation
  /** The input with its types and expressions checked. Parsed expressions stand in it under names that begin with `_`. @throws Refusal */
  validate(operation: Operation, input: Record<string, unknown>): Record<string, unknown>
  /** Carries out a validated input. @throws Refusal */
  run(operation: Operation, input: Record<string, unknown>): Promise<Record<string, unknown>>
  table(name: string): Promise<Table | null>
  item(table: Table, key: Item): Promise<Item | null>
  close(): Promise<void>
}

export function dynaliteEngine(region: string): Engine {
  // 0 ms: a table is there when its creation has been answered and one turn has passed.
  const store = create({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 })
  store.tableDb.awsRegion = region
  store.tableDb.awsAccountId = ACCOUNT
  const parts = loadOperations()

  return {
    knows: (operation): operation is Operation => parts.has(operation),
    validate(operation, input) {
      const { types, custom } = part(parts, operation)
      try {
        const checked = checkTypes({ ...input }, types) // it drops members it does not know
        checkValidations(checked, types, custom, store)
        return checked
      } catch (error) {
        throw refusalOf(error)
      }
    },
    run: (operation, input) =>
      new Promise((resolve, reject) => {
        part(parts, operation).run(store, input, (error, output) => {
          if (error) reject(refusalOf(error))
          else resolve(typeof output === 'object' && output !== null ? { ...output } : {})
        })
      }),
    table: (name) =>
      new Promise((resolve) => {
        store.getTable(name, false, (error, table) => resolve(error ? null : table))
      }),
    item: (table, key) =>
      new Promise((resolve, reject) => {
        store.getItemDb(table.TableName).get(createKey(key, table), (error, item) => (error ? reject(error) : resolve(item ?? null)))
      }),
    close: () => new Promise((resolve, reject) => store.db.close((error) => (error ? reject(error) : resolve()))),
  }
}

function part(parts: Map<string, DynaliteOperation>, operation: Operation): DynaliteOperation {
  const found = parts.get(operation)
  if (found === undefined) throw new TypeError(`dynalite has no ${operation}`)
  return found
}

function loadOperations(): Map<string, DynaliteOperation> {
  const require = createRequire(import.meta.url)
  return new Map(
    operations.map((name) => {
      const file = name[0]?.toLowerCase() + name.slice(1)
      const { types, custom } = require(`dynalite/validations/${file}.js`) as Pick<DynaliteOperation, 'types' | 'custom'>
      return [name, { types, custom, run: require(`dynalite/actions/${file}.js`) as DynaliteOperation['run'] }]
    }),
  )
}

/** dynalite's errors carry the answer; anything else it throws is a defect, and passes. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('statusCode' in error) || !('body' in error)) return error
  const { statusCode, body } = error as { statusCode: number; body: { __type: string; message?: string; Message?: string } }
  return new Refusal(body.__type, body.message ?? body.Message ?? '', statusCode)
}
