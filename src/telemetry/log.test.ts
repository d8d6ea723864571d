import { describe, expect, it } from 'vitest'
import { jsonLog, type LogFields, noLog } from './log.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 12, 0, 0, 5) }

function collect() {
  const lines: string[] = []
  return { lines, log: jsonLog((line) => lines.push(line), clock) }
}

describe('jsonLog', () => {
  it('writes one JSON line an event, with time, level and the fields given', () => {
    const { lines, log } = collect()
    log.info('keyring.rotated', { alg: 'ES256', count: 2 })
    log.warn('tick.stale', { target: 'acme' })
    log.error('request.refused', { status: 500 })
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { time: '2026-11-30T12:00:00.005Z', level: 'info', event: 'keyring.rotated', alg: 'ES256', count: 2 },
      { time: '2026-11-30T12:00:00.005Z', level: 'warn', event: 'tick.stale', target: 'acme' },
      { time: '2026-11-30T12:00:00.005Z', level: 'error', event: 'request.refused', status: 500 },
    ])
    expect(lines.every((line) => !line.includes('\n'))).toBe(true)
  })

  it('names the request in every line of a log made with its id', () => {
    const { lines, log } = collect()
    const ofRequest = log.with({ request_id: 'r1' }).with({ client: 'demo' })
    ofRequest.info('token.issued')
    log.info('elsewhere')
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ request_id: 'r1', client: 'demo', event: 'token.issued' })
    expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('request_id')
  })

  it('writes no field that is not on its list, even when the types were talked out of it', () => {
    const { lines, log } = collect()
    const smuggled: Record<string, unknown> = {
      subject: 'ada@acme.example',
      refresh_token: 'slr_secret',
      cookie: 'sluis_sso=secret',
      event: 'forged',
    }
    log.info('token.issued', smuggled as LogFields)
    expect(lines[0]).not.toMatch(/ada@|secret|forged/)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'token.issued' })
  })

  it('writes scalars only, and cuts long text', () => {
    const { lines, log } = collect()
    const odd: Record<string, unknown> = { reason: 'x'.repeat(500), client: { secret: 'nested' }, ms: 3 }
    log.info('request', odd as LogFields)
    expect(JSON.parse(lines[0] ?? '').reason).toHaveLength(200)
    expect(lines[0]).not.toContain('nested')
  })

  it('keeps a line one line whatever a field holds', () => {
    const { lines, log } = collect()
    log.info('request', { reason: 'a\n{"level":"error"}' })
    expect(lines).toHaveLength(1)
    expect(lines[0]).not.toContain('\n')
  })
})

describe('noLog', () => {
  it('stays silent through with', () => {
    expect(noLog.with({ request_id: 'r1' })).toBe(noLog)
  })
})
