import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { node, quietWrangler, wranglerScript } from '../wrangler.ts'
import { runCommand } from './command.ts'

const LIMIT = 204_800 // bytes gzipped, 200 KiB: a fifteenth of what Cloudflare takes, and parsing it at start must stay far under the 1 s of CPU an isolate has

export interface BundleReport {
  errors: string[]
  /** gzipped */
  bytes: number
}

/** Bundles the Worker as a deployment would, for one environment (`''` is the top level), and weighs it. */
export async function checkBundle(root: string, environment: string): Promise<BundleReport> {
  const folder = await mkdtemp(join(tmpdir(), 'sluis-bundle-'))
  try {
    const args = [wranglerScript, 'deploy', '--dry-run', `--env=${environment}`, '--minify', '--outdir', folder]
    const { status, output } = await runCommand(node, args, { cwd: root, env: quietWrangler() })
    if (status !== 0) return { errors: [output], bytes: 0 }
    const bytes = gzipSync(await readFile(join(folder, 'worker.js')), { level: 9 }).length
    const heavy = bytes > LIMIT ? [`the Worker is ${kib(bytes)} gzipped, over ${kib(LIMIT)}`] : []
    return { errors: heavy, bytes }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** `12.3 KiB` */
export function kib(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KiB`
}
