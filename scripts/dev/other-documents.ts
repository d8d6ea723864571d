import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { experimental_readRawConfig } from 'wrangler'
import { ROOT } from '../build.ts'

/**
 * The repository's wrangler.toml for documents that stand elsewhere, written into `folder`: the same Worker, its paths in full. An alias on
 * wrangler's command line would not replace one of the file.
 *
 * @param documents the folder of the compiled documents, in full
 * @returns the file
 */
export async function wranglerConfigFor(documents: string, folder: string): Promise<string> {
  const { rawConfig } = experimental_readRawConfig({ config: join(ROOT, 'wrangler.toml') })
  const config = {
    ...rawConfig,
    main: join(ROOT, String(rawConfig.main)),
    assets: { ...rawConfig.assets, directory: join(ROOT, String(rawConfig.assets?.directory)) },
    alias: { 'sluis-service': join(documents, 'service.json'), 'sluis-policy': join(documents, 'policy.json') },
  }
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'wrangler.json')
  await writeFile(file, JSON.stringify(config))
  return file
}
