import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The files that make up the repository under `root`, as paths from there: tracked, or new and not ignored. */
export async function repositoryFiles(root: string): Promise<string[]> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const { stdout } = await promisify(execFile)('git', list, { cwd: root, maxBuffer: 16 * 1024 * 1024 })
  return [...new Set(stdout.split('\0'))].filter((file) => file !== '' && existsSync(join(root, file))).sort()
}
