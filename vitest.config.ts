import { join } from 'node:path'
import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'
import { unstable_getMiniflareWorkerOptions, unstable_readConfig } from 'wrangler'
import { build, ROOT } from './scripts/build.ts'

await build() // so that `vitest run` alone works in a fresh clone

const documents = {
  'sluis-service': join(ROOT, 'config/service.json'),
  'sluis-policy': join(ROOT, 'config/policy.json'),
}

/**
 * The Worker of wrangler.toml, with keys of its own. Wrangler looks for .dev.vars beside the file it was told of, and nobody's local
 * secrets reach a test: so it is told of one that has none beside it, and every path is given in full.
 */
function worker() {
  const config = unstable_readConfig({ config: join(ROOT, 'wrangler.toml') })
  const elsewhere = {
    ...config,
    userConfigPath: join(ROOT, 'test/wrangler.toml'),
    assets: { ...config.assets, directory: join(ROOT, 'dist') },
  }
  const { workerOptions, main } = unstable_getMiniflareWorkerOptions(elsewhere)
  const { modulesRules: _, ...options } = workerOptions // Vite decides what a module is
  return {
    ...(main === undefined ? {} : { main }),
    miniflare: {
      ...options,
      rootPath: ROOT,
      bindings: { SEAL_KEY: 'c2VhbC1rZXktb2YtdGhlLXRlc3RzLTMyLWJ5dGVzLi4', OPS_KEY: 'b3BzLWtleS1vZi10aGUtdGVzdHMtMzItYnl0ZXMuLi4' },
    },
  }
}

export default defineConfig({
  test: {
    maxWorkers: 2, // the cores of the smallest machine this runs on; vitest by itself leaves one of them out
    projects: [
      {
        plugins: [cloudflareTest(worker())],
        resolve: { alias: documents },
        test: {
          name: 'workerd',
          // One isolate a worker: loading the service anew for every file took ten times as long as all tests together. Tests share no state but
          // what they make, under names of their own.
          isolate: false,
          include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
          exclude: ['test/{e2e,aws,aws-emulator}/**'],
          globalSetup: ['test/aws-emulator/global-setup.ts'], // DynamoDB, for tests of the whole service
          testTimeout: 30_000, // a cold isolate on a shared machine
        },
      },
      {
        resolve: { alias: documents },
        test: {
          name: 'node',
          include: ['scripts/**/*.test.ts', 'test/{e2e,aws,aws-emulator}/**/*.test.ts'],
          testTimeout: 60_000, // one e2e test starts a service and a browser
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
