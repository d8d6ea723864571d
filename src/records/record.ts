import type * as z from 'zod'
import { type Bytes, fromUtf8, utf8 } from '../crypto/bytes.ts'
import type { Entry } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'

/** One kind of record: where it stands, how long it lives and what its JSON holds. docs/records.md is generated from these. */
export interface RecordType<Schema extends z.ZodType> {
  /** The keys it stands at, with the variable parts in angle brackets. */
  key: string
  /** What it is for, in a sentence. */
  purpose: string
  /** When it ends, in words. */
  lifetime: string
  schema: Schema
}

/** A record as read: its value, and the entry it came from, whose revision a conditional write needs. */
export interface Found<Value> {
  value: Value
  entry: Entry
}

/** Its JSON as a typed value, or null. A record that does not parse is reported and treated as absent, never trusted. */
export function readRecord<Schema extends z.ZodType>(type: RecordType<Schema>, entry: Entry | null, log: Log): z.output<Schema> | null {
  if (entry === null) return null
  const parsed = type.schema.safeDecode(parseJson(entry.value) as z.input<Schema>)
  if (parsed.success) return parsed.data
  log.warn('record.unreadable', { kind: type.key, reason: parsed.error.issues.map((issue) => issue.path.join('.')).join(' ') })
  return null
}

/** The JSON of a value, as bytes. Fields the schema does not name are kept. */
export function writeRecord<Schema extends z.ZodType>(type: RecordType<Schema>, value: z.output<Schema>): Bytes {
  return utf8(JSON.stringify(type.schema.encode(value)))
}

function parseJson(bytes: Bytes): unknown {
  const text = fromUtf8(bytes)
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
