import { cloudflareTest } from '@cloudflare/vitest-plugin'
import { defineConfig } from 'vitest/config'

const documents = {
  'sluis-service': new URL('./config/service.json', import.meta.url).pathname,
  'sluis-policy': new URL('./config/policy.json', import.meta.url).pathname,
}

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [
          cloudflareTest({
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: { SEAL_KEY: 'c2VhbC1rZXktb2YtdGhlLXRlc3RzLTMyLWJ5dGVzLi4', OPS_KEY: 'b3BzLWtleS1vZi10aGUtdGVzdHMtMzItYnl0ZXMuLi4' },
            },
          }),
        ],
        resolve: { alias: documents },
        test: {
          name: 'workerd',
          include: ['src/**/*.test.{ts,tsx}', 'test/{conformance,crash,flows}/**/*.test.{ts,tsx}'],
          testTimeout: 30_000,
        },
      },
      {
        resolve: { alias: documents },
        test: { name: 'node', include: ['scripts/**/*.test.ts', 'test/e2e/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
      },
    ],
  },
})
