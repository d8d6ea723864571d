import { convertV4MiniflareOptions, Miniflare, type V4WorkerOptions } from 'miniflare'
import { childrenOf } from './process-usage.ts'

/** A Worker as one module. */
export interface WorkerSource {
  name: string
  script: string
  compatibilityDate: string
  compatibilityFlags: string[]
}

export interface Running {
  origin: string
  pid: number | null
  logLines(): number
  stop(): Promise<void>
}

/**
 * Runs a Worker in workerd, with nothing in front of it: the socket is the Worker's own, as in production nothing of Miniflare's stands
 * between the network and it. What it logs is read and counted.
 */
export async function startWorkerd(port: number, source: WorkerSource, bindings: Partial<V4WorkerOptions>): Promise<Running> {
  const before = workerds()
  let lines = 0
  const worker: V4WorkerOptions = {
    ...bindings,
    name: source.name,
    modules: [{ type: 'ESModule', path: 'worker.js', contents: source.script }],
    compatibilityDate: source.compatibilityDate,
    compatibilityFlags: source.compatibilityFlags,
    unsafeDirectSockets: [{ host: '127.0.0.1', port }],
  }
  const count = () => {
    lines++
  }
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({ workers: [worker], cf: false, telemetry: { enabled: false }, handleStructuredLogs: count }),
  )
  await miniflare.ready
  return {
    origin: `http://127.0.0.1:${port}`,
    pid: workerds().find((pid) => !before.includes(pid)) ?? null,
    logLines: () => lines,
    stop: () => miniflare.dispose(),
  }
}

function workerds(): number[] {
  return childrenOf(process.pid, 'workerd')
}
