import type { PrefixLocation } from './layout5-prefixes.ts'
import { growsWithUse, type Module } from './layout5-rules.ts'

const encoder = new TextEncoder()

/** Shards of the kinds that grow. Fixed for an instance's life: another number is a migration. */
const SHARDS = 16

/** `sluis-<instance>-<module>`: a DynamoDB table, and the first half of a Durable Object's name. */
export function tableName(instance: string, module: Module): string {
  return `sluis-${instance}-${module}`
}

/** The Durable Object that keeps a row: `<table>/<shard>`. For a row of no module the table is the asking module's. */
export function objectName(table: string, row: { pk: string; sk: string }): string {
  return `${table}/${shardOf(row)}`
}

/** `small` for a kind that does not grow, else 0 to 15 in decimal, by sk's first segment: what stands before its first slash. */
export function shardOf({ pk, sk }: { pk: string; sk: string }): string {
  if (!growsWithUse(pk)) return 'small'
  const [segment = ''] = sk.split('/')
  return String(shardOfSegment(segment))
}

/** 0 to 15: FNV-1a, 32 bits, over the UTF-8 bytes, modulo 16. */
export function shardOfSegment(segment: string): number {
  let hash = 0x811c9dc5 // the offset basis, and below the prime, of FNV with 32 bits
  for (const byte of encoder.encode(segment)) hash = Math.imul(hash ^ byte, 0x01000193)
  return (hash >>> 0) % SHARDS
}

/** The shards a listing reads: one when the prefix holds the whole first segment, all of a growing kind, or, scanning, every one. */
export function shardsOf(located: PrefixLocation): string[] {
  const numbered = Array.from({ length: SHARDS }, (_, shard) => String(shard))
  if ('scan' in located) return ['small', ...numbered]
  const { pk, skPrefix } = located.query
  return growsWithUse(pk) && !skPrefix?.includes('/') ? numbered : [shardOf({ pk, sk: skPrefix ?? '' })]
}
