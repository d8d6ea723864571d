import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import * as z from 'zod'
import { ROOT } from './build.ts'
import { ensureChromium } from './chromium.ts'
import { node } from './wrangler.ts'

interface Count {
  passed: number
  failed: number
  skipped: number
}

/** What of vitest's JSON report is read. */
const report = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(z.object({ name: z.string(), status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
})

if (import.meta.main) process.exitCode = await main()

/** Checks, then tests, and ends with one line that counts both: a check that failed is one failed. Answers the exit status. */
async function main(): Promise<number> {
  const checked = await run([join(ROOT, 'scripts/check.ts')])
  const tested = await test()
  const failedCheck = checked === 0 ? 0 : 1
  if (failedCheck > 0) console.log('npm run check failed: it counts as one')
  const { passed, failed, skipped } = { ...tested, failed: tested.failed + failedCheck }
  console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  return failed === 0 ? 0 : 1
}

async function test(): Promise<Count> {
  const folder = await mkdtemp(join(tmpdir(), 'sluis-tests-'))
  const output = join(folder, 'report.json')
  try {
    process.env.CHROMIUM_PATH = ensureChromium()
    const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
    const status = await run([vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${output}`])
    return countReport(await readFile(output, 'utf8').catch(() => null), status)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return { passed: 0, failed: 1, skipped: 0 }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * How many tests vitest's JSON report counts. Whatever else went wrong is one failed, so that a run that failed never says `0 failed`:
 * a file without a test that ran, an error outside of tests, no report at all.
 */
export function countReport(json: string | null, status: number): Count {
  const parsed = report.safeParse(json === null ? null : JSON.parse(json))
  if (!parsed.success) {
    console.error('vitest left no report')
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const { numPassedTests: passed, numFailedTests, numPendingTests, numTodoTests, testResults } = parsed.data
  const broken = testResults.filter((file) => file.status === 'failed' && file.assertionResults.every((one) => one.status !== 'failed'))
  const counted = numFailedTests + broken.length
  const elsewhere = counted === 0 && (status !== 0 || passed === 0) ? 1 : 0
  if (elsewhere > 0) console.error(`vitest ended with ${status} and ${passed} tests passed, though none failed: it counts as one`)
  return { passed, failed: counted + elsewhere, skipped: numPendingTests + numTodoTests }
}

async function run(args: readonly string[]): Promise<number> {
  // A terminal is left to the tests' own display; a log is filtered.
  const stdout = process.stdout.isTTY ? 'inherit' : 'pipe'
  const child = spawn(node, args, { cwd: ROOT, stdio: ['ignore', stdout, 'pipe'] })
  passOn(child.stdout, process.stdout)
  passOn(child.stderr, process.stderr)
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.on('error', reject).on('close', (code) => resolve(code ?? 1))
  return promise
}

function passOn(from: Readable | null, to: NodeJS.WriteStream): void {
  if (from === null) return
  const isNoise = noiseFilter()
  createInterface({ input: from }).on('line', (line) => {
    if (!isNoise(line)) to.write(`${line}\n`)
  })
}

/**
 * Tells what workerd says of a connection that was cut, several lines each time, from everything else. The tests of bad weather cut more
 * than a thousand, and what matters would be lost among them.
 */
export function noiseFilter(): (line: string) => boolean {
  let ofCut = false
  return (line) => {
    const isStack = /^stack: .*workerd@/.test(line)
    ofCut = isStack ? ofCut : /^(?:uncaught )?exception\b.*(?:disconnected: |Network connection lost)/.test(line)
    return ofCut
  }
}
