import { describe, expect, it } from 'vitest'
import { auditOfRequest, logAudit, memoryAudit, noAudit } from './audit.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 12) }

describe('audit', () => {
  it('writes a dated JSON line marked as audit', () => {
    const lines: string[] = []
    logAudit((line) => lines.push(line), clock).record({ event: 'token.refused', subject: 'ada@acme.example', reason: 'invalid_grant' })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { audit: true, time: '2026-11-30T12:00:00.000Z', event: 'token.refused', subject: 'ada@acme.example', reason: 'invalid_grant' },
    ])
  })

  it('collects events in the order they happened', () => {
    const audit = memoryAudit(clock)
    audit.record({ event: 'signin.completed', subject: 'ada@acme.example' })
    audit.record({ event: 'token.issued', client: 'demo' })
    expect(audit.events.map(({ event }) => event)).toEqual(['signin.completed', 'token.issued'])
  })

  it('names the request in every event of a request', () => {
    const audit = memoryAudit(clock)
    auditOfRequest(audit, 'r1').record({ event: 'session.ended', by: 'system' })
    expect(audit.events[0]).toMatchObject({ request_id: 'r1', event: 'session.ended', by: 'system' })
  })

  it('keeps nothing where no sink was chosen', () => {
    expect(noAudit.record({ event: 'signin.completed', subject: 'ada@acme.example' })).toBeUndefined()
  })
})
