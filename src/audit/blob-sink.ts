import { hex, utf8 } from '../crypto/bytes.ts'
import type { Blob } from '../ports/blob.ts'
import type { Clock, Random } from '../ports/platform.ts'
import type { AuditSink } from './audit.ts'
import type { AuditEvent } from './catalogue.ts'

export interface BlobSinkOptions {
  blob: Blob
  /** Whose events they are: the first part of every name. */
  module: string
  clock: Clock
  random: Random
}

/**
 * An NDJSON object for what one invocation has to say at a time: `<module>/audit/<yyyy-mm-dd>/<hh>/<unix ms>-<8 random hex>.ndjson`, by
 * the hour (UTC) it is written in. No object is written twice, but for one whose first write was not answered: the same events again come to
 * the same name, so that an answer that was lost on its way makes no event two.
 */
export function blobSink({ blob, module, clock, random }: BlobSinkOptions): AuditSink {
  const names = new WeakMap<readonly AuditEvent[], string>()
  return {
    takes: 'together',
    async write(events) {
      const name = names.get(events) ?? nameFor(module, clock.now(), random)
      names.set(events, name)
      await blob.write(name, utf8(ndjson(events)))
    },
  }
}

function nameFor(module: string, now: number, random: Random): string {
  const [day, time = ''] = new Date(now).toISOString().split('T')
  return `${module}/audit/${day}/${time.slice(0, 2)}/${now}-${hex(random.bytes(4))}.ndjson`
}

function ndjson(events: readonly AuditEvent[]): string {
  return events.map((event) => `${JSON.stringify(event)}\n`).join('')
}
