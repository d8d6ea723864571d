import { PortError, toPortError } from '../ports/error.ts'
import type { Clock } from '../ports/platform.ts'
import type { AuditEntry, AuditEvent } from './catalogue.ts'

export type { AuditEntry, AuditEvent } from './catalogue.ts'

/** What one invocation (a request, a run of a tick) has to say. Opened by `openAudit`. */
export interface Audit {
  /** Written at once where a line is an event, else with the next flush. */
  record(entry: AuditEntry): void
  /** Written in every sink when this returns. @throws PortError Unavailable: it is not, or there is no sink; what it is about must not happen */
  durably(entry: AuditEntry): Promise<void>
  /** Writes what is recorded and not written yet, as one. Never throws: what could not be written is logged, by how many events it was. */
  flush(): Promise<void>
}

/** Where an installation's events go. `each`: it takes an event as it happens and can't fail. `together`: what belongs together, as one. */
export type AuditSink =
  | { readonly takes: 'each'; write(event: AuditEvent): void }
  | { readonly takes: 'together'; write(events: readonly AuditEvent[]): Promise<void> }

export interface AuditOptions {
  clock: Clock
  /** Of it the audit needs to say that something could not be written. */
  log: AuditTrouble
  requestId?: string
  /** Told of every event, and no sink: it counts. */
  observe?: (event: AuditEvent) => void
}

/** As much of a log as the audit writes to it. */
export interface AuditTrouble {
  warn(event: string, fields: { count: number; attempt: number; error: unknown }): void
  error(event: string, fields: { count: number; attempt: number; error: unknown }): void
}

const ATTEMPTS = 2 // of a flush: a store that failed once is often back; one that fails twice is down for longer than an invocation lives

/** The audit of one invocation, over the sinks of the installation. Its events name the request, where it is one. */
export function openAudit(sinks: readonly AuditSink[], { clock, log, requestId, observe }: AuditOptions): Audit {
  const lines = sinks.filter((sink) => sink.takes === 'each')
  const objects = sinks.filter((sink) => sink.takes === 'together')
  let pending: AuditEvent[] = []

  function dated(entry: AuditEntry): AuditEvent {
    const time = new Date(clock.now()).toISOString()
    const event = { time, ...(requestId === undefined ? {} : { request_id: requestId }), ...entry }
    observe?.(event)
    return event
  }

  return {
    record(entry) {
      const event = dated(entry)
      for (const sink of lines) sink.write(event)
      if (objects.length > 0) pending.push(event)
    },

    async durably(entry) {
      if (sinks.length === 0) throw new PortError('Unavailable', NO_SINK)
      const event = dated(entry)
      try {
        await Promise.all(objects.map((sink) => sink.write([event])))
      } catch (error) {
        throw unwritten(error)
      }
      for (const sink of lines) sink.write(event)
    },

    async flush() {
      const events = pending
      pending = []
      if (events.length > 0) await Promise.all(objects.map((sink) => written(sink, events, log)))
    },
  }
}

const NO_SINK = 'this must be audited, and audit is none: set audit to log, blob or both in service.yaml'

async function written(sink: Extract<AuditSink, { takes: 'together' }>, events: readonly AuditEvent[], log: AuditTrouble): Promise<void> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      await sink.write(events)
      return
    } catch (error) {
      log[attempt < ATTEMPTS ? 'warn' : 'error']('audit.unwritten', { count: events.length, attempt, error })
    }
  }
}

/** Whatever the store refused it for, it may be there another time: nobody is to read a Conflict or a NotFound out of an audit. */
function unwritten(error: unknown): PortError {
  const cause = toPortError(error, 'writing an audit event')
  return cause.code === 'Unavailable' ? cause : new PortError('Unavailable', 'an audit event could not be written', { cause })
}

/** Whether anything is ever left for a flush. */
export function needsFlush(sinks: readonly AuditSink[]): boolean {
  return sinks.some(({ takes }) => takes === 'together')
}

/** JSON lines, marked `"audit":true` so that a log pipeline can part them from request logs. */
export function lineSink(write: (line: string) => void): AuditSink {
  return { takes: 'each', write: (event) => write(JSON.stringify({ audit: true, ...event })) }
}

/** Collects events in the order they happened, for tests. */
export function memorySink(): AuditSink & { readonly events: AuditEvent[] } {
  const events: AuditEvent[] = []
  return { takes: 'each', events, write: (event: AuditEvent) => void events.push(event) }
}
