import { describe, expect, it } from 'vitest'
import { memoryBlob } from '../adapters/memory/blob.ts'
import type { Blob } from '../ports/blob.ts'
import { PortError } from '../ports/error.ts'
import { type AuditEntry, openAudit } from './audit.ts'
import { blobSink } from './blob-sink.ts'

const clock = { now: () => Date.UTC(2026, 10, 30, 22, 59, 59, 999) }
const log = { warn() {}, error() {} }
const opened: AuditEntry = { event: 'session.opened', subject: 'ada@acme.example', client: 'demo', session: 's1' }
const ended: AuditEntry = { event: 'session.ended', subject: 'ada@acme.example', session: 's1', reason: 'sign\nout', by: 'system' }

function arrange(blob: Blob = memoryBlob()) {
  let drawn = 0
  const random = { bytes: (length: number) => new Uint8Array(length).fill(++drawn) }
  const sink = blobSink({ blob, module: 'oidc', clock, random })
  const read = async (name: string) => new TextDecoder().decode((await blob.read(name)).body)
  return { open: () => openAudit([sink], { clock, log, requestId: 'r1' }), blob, read }
}

describe('an object of audit events', () => {
  it('is named by day, hour, milliseconds and eight random hex digits, and holds a line an event', async () => {
    const { open, blob, read } = arrange()
    const audit = open()
    audit.record(opened)
    audit.record(ended)
    await audit.flush()
    const name = `oidc/audit/2026-11-30/22/${clock.now()}-01010101.ndjson`
    expect(await blob.list('')).toEqual([name])
    const text = await read(name)
    expect(text.endsWith('\n')).toBe(true)
    const time = '2026-11-30T22:59:59.999Z'
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { time, request_id: 'r1', ...opened },
      { time, request_id: 'r1', ...ended },
    ])
  })

  it('is one a flush, and another for what must be written at once', async () => {
    const { open, blob } = arrange()
    const audit = open()
    audit.record(opened)
    await audit.durably({ event: 'recovery.signed_in', subject: 'recovery', how: 'recovery' })
    await audit.flush()
    audit.record(ended)
    await audit.flush()
    expect(await blob.list('oidc/audit/2026-11-30/22/')).toHaveLength(3)
  })

  it('of invocations at the same instant is one each', async () => {
    const { open, blob } = arrange()
    for (const audit of [open(), open()]) {
      audit.record(opened)
      await audit.flush()
    }
    expect(await blob.list('')).toHaveLength(2)
  })

  it('whose first answer went astray is written again under its own name, so that no event is there twice', async () => {
    const blob = memoryBlob()
    let lost = 1
    const lossy: Blob = {
      ...blob,
      async write(name, body) {
        const version = await blob.write(name, body)
        if (lost-- > 0) throw new PortError('Unavailable', 'the answer did not arrive')
        return version
      },
    }
    const { open } = arrange(lossy)
    const audit = open()
    audit.record(opened)
    await audit.flush()
    expect(await blob.list('')).toHaveLength(1)
  })
})
