import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser'
import { besides, importRules, rows } from './rooms.ts'
import { fitSwcToCruiser } from './swc-for-cruiser.ts'

fitSwcToCruiser()

/** How dependency-cruiser reads this repository. Type-only imports count: a room that knows another's types depends on it. */
export const cruiseOptions = {
  ruleSet: { forbidden: importRules() },
  validate: true,
  parser: 'swc', // TypeScript 7 has no parser it could use: without this it reads no .ts and finds nothing wrong
  tsPreCompilationDeps: true,
  doNotFollow: { path: 'node_modules' },
  exclude: { path: '^(dist|config)/' },
  enhancedResolveOptions: {
    extensions: ['.ts', '.tsx', '.mjs', '.js'],
    exportsFields: ['exports'],
    conditionNames: ['import', 'types', 'default'],
  },
} satisfies ICruiseOptions

export interface ImportsReport {
  errors: string[]
  /** How many files of src/ were read. */
  modules: number
}

/** Holds every import under `root` to the rules of rooms.ts, and to having been read at all. */
export async function checkImports(root: string, options: ICruiseOptions = cruiseOptions): Promise<ImportsReport> {
  const folders = (await readdir(root)).filter((name) => ['src', 'scripts', 'test'].includes(name))
  const { output } = await cruise(folders, { ...options, baseDir: root })
  if (typeof output === 'string') throw new TypeError('dependency-cruiser answered text where a result was asked for')
  const files = await sourceFiles(join(root, 'src'))
  const read = new Set(output.modules.map((module) => module.source))
  const unread = files.map((file) => relative(root, file)).filter((file) => !read.has(file))
  return {
    modules: files.length - unread.length,
    errors: [
      ...violations(output),
      ...unread.map((file) => `${file}: dependency-cruiser did not read it, so nothing is known of its imports`),
      ...(await strangers(join(root, 'src'))),
    ],
  }
}

function violations({ summary }: ICruiseResult): string[] {
  return summary.violations.map(({ from, to, rule, cycle }) => {
    const way = cycle === undefined ? to : cycle.map((step) => step.name).join(' -> ')
    return `${from} -> ${way}: ${rule.name}`
  })
}

async function strangers(src: string): Promise<string[]> {
  const known: readonly string[] = [...rows.flat(), ...besides]
  const folders = (await readdir(src, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  return folders.flatMap(({ name }) => (known.includes(name) ? [] : [`src/${name}: is no room of scripts/checks/rooms.ts`]))
}

async function sourceFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name))
}
