import { arch, cpus, loadavg, platform } from 'node:os'
import { ArgumentsError, type BenchOptions, readArguments } from './bench/arguments.ts'
import { startCeiling } from './bench/ceiling.ts'
import type { Contender } from './bench/contender.ts'
import { benchDirectory } from './bench/directory.ts'
import { type Driver, startDriver } from './bench/driver.ts'
import { startEdgePeer } from './bench/edge-peer.ts'
import { type Measured, summarise } from './bench/figures.ts'
import { GOAL_CONNECTIONS, goals } from './bench/goals.ts'
import { type Cell, measure } from './bench/measure.ts'
import { startNodePeer } from './bench/node-peer.ts'
import { startSluis } from './bench/sluis.ts'
import { measureSrp } from './bench/srp.ts'
import { type Row, table } from './bench/table.ts'
import { measureTicks } from './bench/ticks.ts'
import { BuildError } from './build.ts'

await main().catch((error: unknown) => {
  if (!(error instanceof ArgumentsError || error instanceof BuildError)) throw error
  console.error(error.message)
  process.exitCode = 1
})

/** What has no peer to be measured beside. */
function byItself(name: string): (() => Promise<string>) | undefined {
  return new Map(Object.entries({ srp: measureSrp, ticks: measureTicks, directory: () => benchDirectory() })).get(name)
}

/** Measures our Worker, its peers and the ceiling on this machine, and prints their figures side by side. */
async function main(): Promise<void> {
  const [flag, name = ''] = process.argv.slice(2)
  const alone = flag === '--only' ? byItself(name) : undefined
  if (alone !== undefined) return console.log(await alone())
  const options = readArguments(process.argv.slice(2))
  const driver = startDriver()
  const contenders: Contender[] = []
  try {
    for (const start of [startSluis, startEdgePeer, startNodePeer, startCeiling]) contenders.push(await start())
    console.log(`${platform()} ${arch()}, ${cpus().length} x ${cpus()[0]?.model.trim()}, Node ${process.version}; ${load()}`)
    await warm(contenders, options, driver)
    for (const workload of options.workloads) {
      for (const connections of options.connections) {
        const cell = { workload, connections }
        report(cell, await measureAll(contenders, cell, options, driver))
      }
    }
  } finally {
    await driver.stop()
    await Promise.all(contenders.map((contender) => contender.stop()))
  }
}

/** Everything once with nobody watching, until the engines have compiled what is measured. */
async function warm(contenders: readonly Contender[], options: BenchOptions, driver: Driver): Promise<void> {
  for (const contender of contenders)
    for (const workload of options.workloads) await measure(contender, { workload, connections: GOAL_CONNECTIONS }, options, driver)
}

/** Every contender in turn, and that as often as there are runs, so that what disturbs the machine disturbs them all. */
async function measureAll(contenders: readonly Contender[], cell: Cell, options: BenchOptions, driver: Driver): Promise<Row[]> {
  const measured = new Map<Contender, Measured[]>(contenders.map((contender) => [contender, []]))
  for (let run = 0; run < options.runs; run++)
    for (const [contender, runs] of measured) runs.push(await measure(contender, cell, options, driver))
  return [...measured].map(([{ name }, runs]) => ({ name, summary: summarise(runs) }))
}

/** @param rows in the order the contenders were started in */
function report({ workload, connections }: Cell, rows: Row[]): void {
  console.log(`\n${workload}, ${connections} connection${connections === 1 ? '' : 's'}; ${load()}\n${table(rows)}`)
  if (workload !== 'refresh' || connections !== GOAL_CONNECTIONS) return
  const [ours, edgePeer, , ceiling] = rows.map(({ summary }) => summary)
  if (ours === undefined || edgePeer === undefined || ceiling === undefined) return
  for (const line of goals({ ours, edgePeer, ceiling })) console.log(`  ${line}`)
}

function load(): string {
  return `load average ${loadavg()
    .map((average) => average.toFixed(2))
    .join(' ')}`
}
