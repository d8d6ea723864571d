import { arch, cpus, loadavg, platform } from 'node:os'
import { ArgumentsError, type BenchOptions, readArguments, type Workload } from './bench/arguments.ts'
import { startCeiling } from './bench/ceiling.ts'
import type { Contender } from './bench/contender.ts'
import { type Driver, startDriver } from './bench/driver.ts'
import { startEdgePeer } from './bench/edge-peer.ts'
import { type Measured, summarise } from './bench/figures.ts'
import { measure } from './bench/measure.ts'
import { startNodePeer } from './bench/node-peer.ts'
import { startSluis } from './bench/sluis.ts'
import { type Row, table } from './bench/table.ts'
import { BuildError } from './build.ts'

await main().catch((error: unknown) => {
  if (!(error instanceof ArgumentsError || error instanceof BuildError)) throw error
  console.error(error.message)
  process.exitCode = 1
})

/** Measures our Worker, its peers and the ceiling on this machine, and prints their figures side by side. */
async function main(): Promise<void> {
  const options = readArguments(process.argv.slice(2))
  const driver = startDriver()
  const contenders: Contender[] = []
  try {
    for (const start of [startSluis, startEdgePeer, startNodePeer, startCeiling]) contenders.push(await start())
    console.log(`${platform()} ${arch()}, ${cpus().length} x ${cpus()[0]?.model.trim()}, Node ${process.version}; ${load()}`)
    await warm(contenders, options, driver)
    for (const workload of options.workloads)
      for (const connections of options.connections) await cell(contenders, { workload, connections }, options, driver)
    console.log(load())
  } finally {
    await driver.stop()
    await Promise.all(contenders.map((contender) => contender.stop()))
  }
}

/** Until the engines have compiled what is measured: everything once, with nobody watching. */
async function warm(contenders: readonly Contender[], options: BenchOptions, driver: Driver): Promise<void> {
  for (const contender of contenders)
    for (const workload of options.workloads) await measure(contender, { workload, connections: 8 }, options, driver)
}

/** One table: every contender in turn, and that as often as there are runs, so that what disturbs the machine disturbs them all. */
async function cell(
  contenders: readonly Contender[],
  what: { workload: Workload; connections: number },
  options: BenchOptions,
  driver: Driver,
): Promise<void> {
  const measured = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]))
  for (let run = 0; run < options.runs; run++)
    for (const contender of contenders) measured.get(contender.name)?.push(await measure(contender, what, options, driver))
  const rows = [...measured].map(([name, runs]): Row => ({ name, summary: summarise(runs) }))
  console.log(`\n${what.workload}, ${what.connections} connection${what.connections === 1 ? '' : 's'}\n${table(rows)}`)
}

function load(): string {
  return `load average ${loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')}`
}
