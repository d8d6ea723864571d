import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** For tests: runs `use` on a folder that holds these files, by path, and removes it whatever happens. */
export async function withPlanted<T>(files: Readonly<Record<string, string>>, use: (root: string) => Promise<T>): Promise<T> {
  const root = await mkdtemp(join(tmpdir(), 'sluis-planted-'))
  try {
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true })
      await writeFile(join(root, file), text)
    }
    return await use(root)
  } finally {
    await rm(root, { recursive: true, force: true })
  }
}
