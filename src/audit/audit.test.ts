import { describe, expect, expectTypeOf, it } from 'vitest'
import { PortError } from '../ports/error.ts'
import { type AuditEntry, type AuditEvent, type AuditSink, lineSink, memorySink, needsFlush, openAudit } from './audit.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 12) }
const quiet = { warn() {}, error() {} }
const refused: AuditEntry = { event: 'token.refused', subject: 'ada@acme.example', reason: 'invalid_grant: spent', how: 'refresh_token' }
const opened: AuditEntry = { event: 'session.opened', subject: 'ada@acme.example', client: 'demo', session: 's1' }
const recovery: AuditEntry = { event: 'recovery.signed_in', subject: 'recovery', how: 'recovery' }

/** A sink of objects that fails as often as it is told, and an audit over it. */
function arrange({ failures = 0, requestId, also = [] }: { failures?: number; requestId?: string; also?: AuditSink[] } = {}) {
  const objects: (readonly AuditEvent[])[] = []
  const troubles: object[] = []
  const note = (level: string) => (event: string, fields: { count: number; attempt: number; error: unknown }) =>
    void troubles.push({ level, event, ...fields })
  let left = failures
  const sink: AuditSink = {
    takes: 'together',
    async write(events) {
      if (left-- > 0) throw new PortError('Conflict', 'the bucket is elsewhere')
      objects.push(events)
    },
  }
  const log = { warn: note('warn'), error: note('error') }
  const audit = openAudit([sink, ...also], { clock, log, ...(requestId === undefined ? {} : { requestId }) })
  return { audit, objects, troubles, events: () => objects.map((object) => object.map(({ event }) => event)) }
}

describe('the audit of an invocation', () => {
  it('dates every event, and names the request it happened in', () => {
    const sink = memorySink()
    openAudit([sink], { clock, log: quiet, requestId: 'r1' }).record(opened)
    openAudit([sink], { clock, log: quiet }).record(opened)
    expect(sink.events).toEqual([
      { time: '2026-11-30T12:00:00.000Z', request_id: 'r1', ...opened },
      { time: '2026-11-30T12:00:00.000Z', ...opened },
    ])
  })

  it('keeps what belongs together together, in the order it happened', async () => {
    const { audit, objects, events } = arrange()
    audit.record(refused)
    audit.record(opened)
    expect(objects).toEqual([])
    await audit.flush()
    await audit.flush()
    expect(events()).toEqual([['token.refused', 'session.opened']])
  })

  it('writes a durable event before it answers, by itself, in every sink', async () => {
    const lines = memorySink()
    const { audit, events } = arrange({ also: [lines] })
    audit.record(refused)
    await audit.durably(recovery)
    expect(events()).toEqual([['recovery.signed_in']])
    expect(lines.events.map(({ event }) => event)).toEqual(['token.refused', 'recovery.signed_in'])
  })

  it('answers Unavailable when a durable event is not written, whatever the store says, and tells no other sink that it happened', async () => {
    const lines = memorySink()
    const { audit } = arrange({ failures: 1, also: [lines] })
    await expect(audit.durably(recovery)).rejects.toMatchObject({ name: 'PortError', code: 'Unavailable' })
    expect(lines.events).toEqual([])
  })

  it('has nowhere to write a durable event without a sink, and says what to set', async () => {
    const audit = openAudit([], { clock, log: quiet })
    await expect(audit.durably(recovery)).rejects.toMatchObject({ code: 'Unavailable', message: expect.stringContaining('service.yaml') })
    audit.record(opened)
    await audit.flush()
  })

  it('tries a flush twice, and says how many events it could not write', async () => {
    const { audit, events, troubles } = arrange({ failures: 1 })
    audit.record(refused)
    audit.record(opened)
    await audit.flush()
    expect(events()).toEqual([['token.refused', 'session.opened']])
    expect(troubles).toMatchObject([{ level: 'warn', event: 'audit.unwritten', count: 2, attempt: 1 }])

    const down = arrange({ failures: 2 })
    down.audit.record(opened)
    await down.audit.flush()
    expect(down.troubles).toMatchObject([
      { level: 'warn', count: 1, attempt: 1 },
      { level: 'error', event: 'audit.unwritten', count: 1, attempt: 2 },
    ])
    expect(JSON.stringify(down.troubles)).not.toContain('ada')
  })

  it('has every event counted once, also one that no sink takes', () => {
    const seen: string[] = []
    const observe = ({ event }: AuditEvent) => void seen.push(event)
    openAudit([], { clock, log: quiet, observe }).record(opened)
    openAudit([memorySink(), memorySink()], { clock, log: quiet, observe }).record(refused)
    expect(seen).toEqual(['session.opened', 'token.refused'])
  })

  it('is flushed only where events are kept together', () => {
    expect(needsFlush([])).toBe(false)
    expect(needsFlush([memorySink()])).toBe(false)
    expect(needsFlush([memorySink(), { takes: 'together', write: async () => {} }])).toBe(true)
  })
})

it('a line is JSON, marked as audit', () => {
  const lines: string[] = []
  openAudit([lineSink((line) => lines.push(line))], { clock, log: quiet }).record(refused)
  expect(lines.map((line) => JSON.parse(line))).toEqual([{ audit: true, time: '2026-11-30T12:00:00.000Z', ...refused }])
})

describe('an entry', () => {
  it('is one of the catalogue, with all it must say and no more', () => {
    expectTypeOf<{ event: 'session.opened'; subject: string; client: string; session: string }>().toExtend<AuditEntry>()
    expectTypeOf<{ event: 'session.opened'; subject: string; client: string }>().not.toExtend<AuditEntry>()
    expectTypeOf<{ event: 'session.closed'; subject: string }>().not.toExtend<AuditEntry>()
    expectTypeOf<{ event: string; subject: string }>().not.toExtend<AuditEntry>()
    // @ts-expect-error an event has no fields but its own
    const wordy: AuditEntry = { event: 'key.made', alg: 'ES256', kid: 'k1', by: 'system', subject: 'ada@acme.example' }
    expect(wordy.event).toBe('key.made')
  })
})
