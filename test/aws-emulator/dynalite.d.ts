// dynalite has no types. This is what is used of its insides, called in-process instead of over a second socket.

declare module 'dynalite/db/index.js' {
  export interface Table {
    KeySchema: { AttributeName: string; KeyType: 'HASH' | 'RANGE' }[]
    AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[]
    TableStatus: string
    TableArn: string
    TableName: string
  }
  export type Item = Record<string, Record<string, unknown>>
  export interface Store {
    tableDb: { awsRegion: string; awsAccountId: string }
    getTable(name: string, checkStatus: boolean, done: (error: unknown, table: Table) => void): void
    getItemDb(name: string): { get(key: string, done: (error: unknown, item: Item | undefined) => void): void }
    db: { close(done: (error: unknown) => void): void }
  }
  export function create(options: { createTableMs: number; deleteTableMs: number; updateTableMs: number }): Store
  export function createKey(item: Item, table: Table): string
}

declare module 'dynalite/validations/index.js' {
  import type { Store } from 'dynalite/db/index.js'
  export function checkTypes(input: Record<string, unknown>, types: unknown): Record<string, unknown>
  export function checkValidations(input: Record<string, unknown>, types: unknown, custom: unknown, store: Store): void
}
