import type { Module } from '../../ports/layout5.ts'
import type { Bytes } from '../../ports/platform.ts'
import type { Rev } from '../../ports/state.ts'

/** The attributes of the storage layout (seed: storage-layout); a member of an Index set has no value. */
export interface Row {
  lkey: string
  sk: string
  value: Bytes | null
  rev: Rev
  /** Epoch seconds it is dead from; null is permanent. */
  expires: number | null
}

/** Every module's table in this process. Adapters opened on one store are replicas of one service. */
export interface MemoryStore {
  /** A module's rows by kind and id: two keys of one item are one row, as on the engines. */
  table(module: Module): Map<string, Row>
  nextRev(): Rev
}

export function createMemoryStore(): MemoryStore {
  const tables = new Map<Module, Map<string, Row>>()
  let revision = 0
  return {
    table(module) {
      const table = tables.get(module) ?? new Map<string, Row>()
      tables.set(module, table)
      return table
    },
    // A counter is never the same twice, which is all a revision promises.
    nextRev: () => String(++revision) as Rev,
  }
}

/** A kind holds no slash, so the first one parts it from the id. */
export function rowId({ pk, sk }: { pk: string; sk: string }): string {
  return `${pk}/${sk}`
}
