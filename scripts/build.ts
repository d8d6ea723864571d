import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { build as bundle } from 'esbuild'
import type { Documents } from '../src/config/documents.ts'
import { compileDocuments } from './documents.ts'

/** The folder everything in this repository is found from. */
export const ROOT = join(import.meta.dirname, '..')

export interface Built {
  documents: Documents
  /** What is odd about the documents without being wrong, a line each. */
  warnings: string[]
  /** File names in dist/assets. */
  assets: string[]
}

/** What could not be built; `lines` says every reason. */
export class BuildError extends Error {
  override readonly name = 'BuildError'
  readonly lines: readonly string[]

  constructor(lines: readonly string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/**
 * Compiles the two documents to *.json beside them and bundles src/browser to dist/assets. A file that would be the same is left alone,
 * and one that changes is replaced whole, so that it may run while something reads them.
 *
 * @param config the folder of the documents
 * @throws BuildError with every error in both documents, or what esbuild says; nothing has been written then
 */
export async function build(root = ROOT, config = join(root, 'config')): Promise<Built> {
  const [compiled, assets] = await Promise.all([readAndCompile(root, config), browserFiles(root)])
  if (!compiled.ok) throw new BuildError(compiled.errors)

  const { service, policy } = compiled.documents
  const output = join(root, 'dist/assets')
  await mkdir(output, { recursive: true }) // wrangler refuses to run without the folder, empty or not
  for (const stale of await readdir(output)) if (!assets.has(stale)) await rm(join(output, stale), { recursive: true })
  await Promise.all([
    replace(join(config, 'service.json'), json(service)),
    replace(join(config, 'policy.json'), json(policy)),
    ...[...assets].map(([name, contents]) => replace(join(output, name), contents)),
  ])
  return { documents: compiled.documents, warnings: compiled.warnings, assets: [...assets.keys()].sort() }
}

async function readAndCompile(root: string, config: string) {
  const read = async (name: string) => {
    const file = join(config, name)
    return { name: relative(root, file), text: await readFile(file, 'utf8') }
  }
  return compileDocuments({ service: await read('service.yaml'), policy: await read('policy.yaml') })
}

/** What stands in src/browser itself: scripts and style sheets bundled and minified, pictures as they are, each under its own name. */
async function browserFiles(root: string): Promise<Map<string, Uint8Array>> {
  const folder = join(root, 'src/browser')
  const names = existsSync(folder) ? await readdir(folder) : []
  const pictures = names.filter((name) => /\.(svg|png|ico)$/.test(name))
  const sources = names.filter((name) => /\.(ts|css)$/.test(name) && !/\.(test|d)\.ts$/.test(name))
  const copied = pictures.map(async (name) => [name, await readFile(join(folder, name))] as const)
  return new Map([...(await Promise.all(copied)), ...(await bundled(root, sources))])
}

async function bundled(root: string, names: string[]): Promise<[string, Uint8Array][]> {
  if (names.length === 0) return []
  try {
    const result = await bundle({
      absWorkingDir: root,
      entryPoints: names.map((name) => join('src/browser', name)),
      outdir: 'dist/assets',
      bundle: true,
      minify: true,
      format: 'iife',
      target: 'es2022', // evergreen browsers of the last three years
      legalComments: 'none',
      sourcemap: false, // one would hold the paths of the machine that built it
      write: false,
      logLevel: 'silent',
    })
    return result.outputFiles.map((file) => [basename(file.path), file.contents])
  } catch (error) {
    throw new BuildError([error instanceof Error ? error.message : String(error)])
  }
}

async function replace(file: string, contents: string | Uint8Array): Promise<void> {
  const current = existsSync(file) ? await readFile(file) : null
  if (current?.equals(Buffer.from(contents))) return
  const fresh = `${file}.${randomBytes(4).toString('hex')}`
  await writeFile(fresh, contents)
  await rename(fresh, file)
}

function json(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

if (import.meta.main) {
  try {
    const { warnings, assets } = await build()
    for (const warning of warnings) console.warn(`warning: ${warning}`)
    console.log(`config/service.json, config/policy.json and ${assets.length} files in dist/assets are up to date`)
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    for (const line of error.lines) console.error(line)
    process.exitCode = 1
  }
}
