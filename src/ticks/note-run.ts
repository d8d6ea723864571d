import type { Log } from '../telemetry/log.ts'
import { type Meter, noMeter } from '../telemetry/metrics.ts'
import type { Ended } from './runner.ts'

/** A line for a run of a tick, and its metrics. What failed of it the runner has logged already. */
export function noteRun({ kind, target, run, lease }: Ended, { log, meter = noMeter }: { log: Log; meter?: Meter | undefined }): void {
  const { outcome, startedAt, finishedAt } = run
  const ms = finishedAt - startedAt
  log.info('tick.ended', { kind, target, reason: outcome, ms })
  meter.duration('ticks', ms, { kind, outcome })
  if (lease !== null) meter.count('leases', { kind, outcome: lease })
  meter.write()
}
