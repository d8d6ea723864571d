import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { build } from '../build.ts'
import { startLocalAws } from '../dev/local-aws.ts'
import { wranglerDev } from '../dev/wrangler-dev.ts'
import { ensureDevVars } from '../dev-vars.ts'
import { callOps } from '../ops-client.ts'
import { freePort } from './free-port.ts'

const TICKS = [
  ['logout', 'all'],
  ['keyring', 'all'],
] as const
const GOAL = 1 // read
const SETTLED = 1_500 // ms: a hint runs its tick within one, and nothing else runs here

if (import.meta.main) console.log(await measureTicks())

/**
 * What a tick with nothing to do asks of its store, a line each: counted by the engine of preset `aws`, for the Worker as `npm run start:aws` runs
 * it, less the nonce of the operator's call that asks for it.
 */
export async function measureTicks(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluis-ticks-'))
  const { service } = (await build()).documents
  const port = await freePort()
  const issuer = `http://localhost:${port}`
  const file = join(folder, 'vars')
  const vars = await ensureDevVars(file, ['OPS_KEY'])
  const { emulator, variables } = await startLocalAws(service, [], vars)
  const worker = wranglerDev({ port, persistTo: folder, vars: file, environment: 'aws', variables: { ISSUER: issuer, ...variables } })
  try {
    await answered(`${issuer}/keys`) // the first keys of the rings
    const target = { issuer, instance: service.instance, opsKey: vars.get('OPS_KEY') ?? '' }
    const run = async (kind: string, name: string) => {
      emulator.requests.reset()
      await callOps(target, { command: 'tick.run', kind, target: name })
      await pause(SETTLED)
      const { Query = 0, GetItem = 0, ...others } = byOperation(emulator.requests.counts)
      return { reads: Query + GetItem, writes: Object.values(others).reduce((sum, count) => sum + count, 0) - 1 }
    }
    const lines: string[] = []
    for (const [kind, name] of TICKS) {
      await run(kind, name) // the first may have something to do
      const { reads, writes } = await run(kind, name)
      const verdict = reads <= GOAL && writes === 0 ? 'reached' : 'NOT reached'
      lines.push(`tick ${kind}:${name} with nothing to do: ${reads} reads, ${writes} writes; one read: ${verdict}`)
    }
    return lines.join('\n')
  } finally {
    await worker.stop()
    await emulator.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Of S3 there is only the audit event of the operator's call: a tick at rest reports nothing. */
function byOperation(counts: Readonly<Record<string, number>>): Record<string, number> {
  const entries = Object.entries(counts).map(([name, count]) => [name.slice(name.indexOf('.') + 1), count] as const)
  return Object.fromEntries(entries.filter(([name]) => name !== 'PutObject'))
}

async function answered(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(url).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.status === 200) return
    await pause(100)
  }
  throw new Error(`${url} did not answer`)
}
