import type { Clock } from '../ports/platform.ts'

/**
 * One thing that was granted, refused or ended. Unlike a request log it names people, so it goes only to a sink the operator chose.
 * It never holds a token, a cookie or a secret.
 */
export interface AuditEntry {
  /** What happened, in dotted words: `signin.completed`, `token.refused`, `session.ended`. */
  readonly event: string
  /** The person or machine it is about: an identity. */
  readonly subject?: string | undefined
  readonly client?: string | undefined
  readonly resource?: string | undefined
  /** Why, where it was refused or ended: an error code or words of ours. */
  readonly reason?: string | undefined
  /** Who did it, where that is not the subject: an identity, or `system`. */
  readonly by?: string | undefined
  /** How the person was proved: `picker`, `recovery`, an upstream's name. */
  readonly how?: string | undefined
  readonly session?: string | undefined
  readonly sign_in?: string | undefined
  readonly request_id?: string | undefined
  readonly count?: number | undefined
}

/** As a sink keeps it; `time` is RFC 3339 in UTC. */
export type AuditEvent = AuditEntry & { readonly time: string }

export interface Audit {
  record(entry: AuditEntry): void
}

/** Keeps nothing: the sink of an installation that chose none. */
export const noAudit: Audit = { record() {} }

/** JSON lines, marked `"audit":true` so that a log pipeline can part them from request logs. */
export function logAudit(write: (line: string) => void, clock: Clock): Audit {
  return { record: (entry) => write(JSON.stringify({ audit: true, ...dated(entry, clock) })) }
}

/** Collects events in order, for tests. */
export function memoryAudit(clock: Clock): Audit & { readonly events: AuditEvent[] } {
  const events: AuditEvent[] = []
  return { events, record: (entry) => events.push(dated(entry, clock)) }
}

/** An audit whose every event names the request it happened in. */
export function auditOfRequest(audit: Audit, requestId: string): Audit {
  return { record: (entry) => audit.record({ request_id: requestId, ...entry }) }
}

function dated(entry: AuditEntry, clock: Clock): AuditEvent {
  return { time: new Date(clock.now()).toISOString(), ...entry }
}
