import type { BenchOptions, Workload } from './arguments.ts'
import type { Contender, Target } from './contender.ts'
import type { Driven, Driver, Tokens } from './driver.ts'
import { type Measured, percentile } from './figures.ts'
import { cpuTime, peakMemory, resetPeakMemory } from './process-usage.ts'

/** What is measured in one go. */
export interface Cell {
  workload: Workload
  connections: number
}

const WARM = 0.5 // s: connections are made and the first answers of a cell are over

/** One measurement of one server: what is needed beforehand is made, a moment is driven unmeasured, then the cell. */
export async function measure(contender: Contender, cell: Cell, options: BenchOptions, driver: Driver): Promise<Measured> {
  const run = await prepare(contender, cell, options, driver)
  resetPeakMemory(contender.pid)
  const before = { cpu: cpuTime(contender.pid), logLines: contender.logLines() }
  const { latencies, seconds } = await run()
  const after = { cpu: cpuTime(contender.pid), logLines: contender.logLines() }
  const requests = latencies.length
  return {
    perSecond: requests / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    cpu: before.cpu === null || after.cpu === null ? null : (after.cpu - before.cpu) / requests,
    peakMemory: peakMemory(contender.pid),
    logLines: (after.logLines - before.logLines) / requests,
  }
}

/** Everything up to the measured part, which the answer does. */
async function prepare(contender: Contender, cell: Cell, options: BenchOptions, driver: Driver): Promise<() => Promise<Driven>> {
  const { origin, target } = contender
  const { workload, connections } = cell
  const { seconds } = options
  if (target === null) {
    await driver.drive({ kind: 'get', origin, connections, seconds: WARM })
    return () => driver.drive({ kind: 'get', origin, connections, seconds })
  }
  if (workload === 'exchange') {
    const codes = await contender.codes(options.codes)
    return () => driver.drive({ kind: 'exchange', origin, target, connections, codes })
  }
  const opened = await openSessions(contender, target, connections, driver)
  const { sessions } = await driver.drive({ kind: workload, origin, target, connections, sessions: opened, seconds: WARM })
  return () => driver.drive({ kind: workload, origin, target, connections, sessions, seconds })
}

async function openSessions({ codes, origin }: Contender, target: Target, count: number, driver: Driver): Promise<Tokens[]> {
  const job = { kind: 'exchange', origin, target, connections: count, codes: await codes(count) } as const
  return (await driver.drive(job)).sessions
}
