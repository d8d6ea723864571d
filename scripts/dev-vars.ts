import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'

/** The variables of a .dev.vars file, by name. */
export type DevVars = Map<string, string>

/**
 * The variables of `file`, with every one of `names` that it lacks drawn (32 random bytes, base64url) and written to its end.
 * What stands there stays, and only its owner can read it afterwards.
 */
export async function ensureDevVars(file: string, names: readonly string[]): Promise<DevVars> {
  const text = await readIfThere(file)
  const vars = parseDevVars(text)
  const missing = names.filter((name) => !vars.has(name))
  for (const name of missing) vars.set(name, randomBytes(32).toString('base64url'))
  if (missing.length > 0) {
    const start = text === '' || text.endsWith('\n') ? text : `${text}\n`
    await writeFile(file, start + missing.map((name) => `${name}=${vars.get(name)}\n`).join(''), { mode: 0o600 })
  }
  await chmod(file, 0o600)
  return vars
}

/** `NAME=value` lines, as wrangler reads them: blank lines and `#` lines are nothing, quotes around a value are not of it. */
export function parseDevVars(text: string): DevVars {
  const lines = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const [, name, value = ''] = /^\s*(?:export\s+)?([\w.-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    return name === undefined ? [] : [[name, value.replace(/^(["'`])(.*)\1$/, '$2')]]
  })
  return new Map(lines)
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  }
}
