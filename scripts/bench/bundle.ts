import { build } from 'esbuild'
import { ROOT } from '../build.ts'

/** A Worker of the bench as one module, minified as a deployment is. */
export async function bundleWorker(file: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`scripts/bench/workers/${file}`],
    bundle: true,
    minify: true,
    keepNames: false, // as wrangler.toml says for ours
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}
