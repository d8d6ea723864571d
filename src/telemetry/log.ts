import type { Clock } from '../ports/platform.ts'
import { describeError } from './describe-error.ts'

/**
 * What a line may say beside its event. A closed list: nothing here can hold a person, a token, a cookie, a secret or an
 * address, and a name that isn't here is not written, whatever the types were told.
 */
const FIELD_NAMES = [
  'request_id',
  'method',
  'route', // the route's pattern, never the path that was asked for
  'status',
  'ms',
  'calls', // of stores, that a request made
  'store_ms', // of the ms, those in which a store was waited for
  'code', // an OAuth or port error code
  'reason', // words of ours
  'client', // a client id of the policy: public, and unknown ones are not logged
  'module',
  'kind', // a kind of record, tick or secret; never a whole key
  'target', // of a tick; the audience of a token
  'alg',
  'kid',
  'count',
  'attempt',
  'seconds',
  'version',
  'instance',
] as const

export type LogFieldName = (typeof FIELD_NAMES)[number]

/** `error` is anything caught; how much of it is written, describeError decides. */
export type LogFields = { readonly [name in LogFieldName]?: string | number | boolean | undefined } & { readonly error?: unknown }

/** Request and service logs. `event` is a fixed name in dotted words (`request`, `keyring.rotated`), never composed of input. */
export interface Log {
  info(event: string, fields?: LogFields): void
  warn(event: string, fields?: LogFields): void
  error(event: string, fields?: LogFields): void
  /** A log whose every line also has these fields. */
  with(fields: LogFields): Log
}

/** characters: a field is a word or a short sentence; more than this is somebody's input */
const FIELD_LENGTH = 200

/** One JSON line an event: `{"time", "level", "event", "request_id"?, ...}`, time as RFC 3339 in UTC. */
export function jsonLog(write: (line: string) => void, clock: Clock, standing: LogFields = {}): Log {
  const line = (level: string) => (event: string, fields?: LogFields) => {
    const time = new Date(clock.now()).toISOString()
    write(JSON.stringify({ time, level, event, ...allowed({ ...standing, ...fields }) }))
  }
  return {
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    with: (fields) => jsonLog(write, clock, { ...standing, ...fields }),
  }
}

/** Writes nothing. */
export const noLog: Log = { info() {}, warn() {}, error() {}, with: () => noLog }

function allowed(fields: LogFields): Record<string, unknown> {
  const written: Record<string, unknown> = {}
  for (const name of FIELD_NAMES) {
    const value = fields[name]
    if (typeof value === 'string') written[name] = value.slice(0, FIELD_LENGTH)
    else if (typeof value === 'number' || typeof value === 'boolean') written[name] = value
  }
  if (fields.error !== undefined) written.error = describeError(fields.error)
  return written
}
