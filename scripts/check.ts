import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { BuildError, build, ROOT } from './build.ts'
import { checkBundle, kib } from './checks/bundle-size.ts'
import { runCommand } from './checks/command.ts'
import { checkDocs } from './checks/docs.ts'
import { checkEnvironments } from './checks/environments.ts'
import { checkImports } from './checks/imports.ts'
import { repositoryFiles } from './checks/repository-files.ts'
import { checkStandalone } from './checks/standalone.ts'
import { node } from './wrangler.ts'

interface Finding {
  /** One line each, or what a tool printed. None: the check passed. */
  errors: readonly string[]
  /** What is odd without being wrong. */
  warnings?: readonly string[]
  /** What else to say on the line of a check. */
  note?: string
}

interface Check {
  name: string
  run: () => Promise<Finding>
}

const documents: Check = { name: 'documents', run: checkDocuments }

const others: Check[] = [
  { name: 'types: Worker', run: () => tool('typescript/bin/tsc', '-p', 'tsconfig.json') },
  { name: 'types: Node', run: () => tool('typescript/bin/tsc', '-p', 'tsconfig.node.json') },
  { name: 'lint and format', run: () => tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings') },
  { name: 'bundle', run: () => bundle('') },
  { name: 'bundle: aws', run: () => bundle('aws') },
  { name: 'environments', run: async () => ({ errors: checkEnvironments(join(ROOT, 'wrangler.toml')) }) },
  { name: 'imports', run: imports },
  { name: 'records page', run: recordsPage },
  { name: 'docs', run: async () => ({ errors: await checkDocs(ROOT, await repositoryFiles(ROOT)) }) },
  { name: 'stands alone', run: async () => ({ errors: await checkStandalone(ROOT, await repositoryFiles(ROOT)) }) },
]

const AT_ONCE = 2 // the cores of the smallest machine this runs on

process.exitCode = (await runAll()) === 0 ? 0 : 1

/** Runs every check, the documents first because the rest reads them, and answers how many failed. */
async function runAll(): Promise<number> {
  const started = performance.now()
  const failed = [await runOne(documents)]
  const queue = [...others]
  const worker = async () => {
    for (let check = queue.shift(); check !== undefined; check = queue.shift()) failed.push(await runOne(check))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const count = failed.filter(Boolean).length
  console.log(`check: ${failed.length - count} passed, ${count} failed in ${seconds(started)}`)
  return count
}

/** Whether it failed. */
async function runOne({ name, run }: Check): Promise<boolean> {
  const started = performance.now()
  const { errors, warnings = [], note } = await run().catch((error: unknown) => ({ errors: [describe(error)] }) as Finding)
  console.log(`${errors.length === 0 ? 'ok  ' : 'FAIL'} ${name.padEnd(16)} ${seconds(started)}${note === undefined ? '' : `  ${note}`}`)
  for (const warning of warnings) console.log(`     warning: ${warning}`)
  for (const error of errors) console.log(error.trimEnd().replace(/^/gm, '     '))
  return errors.length > 0
}

async function checkDocuments(): Promise<Finding> {
  try {
    const { warnings, assets } = await build()
    return { errors: [], warnings, note: `${assets.length} assets` }
  } catch (error) {
    if (error instanceof BuildError) return { errors: error.lines }
    throw error
  }
}

async function tool(script: string, ...args: string[]): Promise<Finding> {
  const { status, output } = await runCommand(node, [join(ROOT, 'node_modules', script), ...args], { cwd: ROOT })
  return { errors: status === 0 ? [] : [output.trim() === '' ? `${script} ended with ${status}` : output] }
}

async function bundle(environment: string): Promise<Finding> {
  const { errors, bytes } = await checkBundle(ROOT, environment)
  return { errors, note: `${kib(bytes)} gzipped` }
}

async function imports(): Promise<Finding> {
  const { errors, modules } = await checkImports(ROOT)
  return { errors, note: `${modules} modules` }
}

/** docs/records.md is generated from src/records: `npm run records` writes it, `--check` says whether it still would write the same. */
async function recordsPage(): Promise<Finding> {
  if (!existsSync(join(ROOT, 'scripts/records.ts'))) return { errors: [], note: 'there is none yet' }
  const { status, output } = await runCommand(node, ['scripts/records.ts', '--check'], { cwd: ROOT })
  return { errors: status === 0 ? [] : [output.trim() === '' ? 'docs/records.md is out of date: npm run records' : output] }
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
