import { expect, test } from 'vitest'
import { checkBundle } from './bundle-size.ts'
import { withPlanted } from './planted.ts'

const toml = 'name = "a"\nmain = "worker.ts"\ncompatibility_date = "2026-10-01"\n'
const worker = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) }\n`

/** Text that gzip can't make much smaller than half. */
function noise(length: number): string {
  return Array.from({ length: length / 36 }, () => crypto.randomUUID()).join('')
}

test('a Worker under the limit passes, and its weight is told', async () => {
  await withPlanted({ 'wrangler.toml': toml, 'worker.ts': worker('ok') }, async (root) => {
    const { errors, bytes } = await checkBundle(root, '')
    expect(errors).toEqual([])
    expect(bytes).toBeGreaterThan(50)
    expect(bytes).toBeLessThan(1_000)
  })
})

test('a Worker over the limit fails', async () => {
  await withPlanted({ 'wrangler.toml': toml, 'worker.ts': worker(noise(480_000)) }, async (root) => {
    const { errors, bytes } = await checkBundle(root, '')
    expect(bytes).toBeGreaterThan(204_800)
    expect(errors).toEqual([expect.stringMatching(/^the Worker is [\d.]+ KiB gzipped, over 200\.0 KiB$/)])
  })
})

test('a Worker that does not bundle fails with what wrangler says', async () => {
  await withPlanted({ 'wrangler.toml': toml, 'worker.ts': "import './none.ts'\n" }, async (root) => {
    const { errors } = await checkBundle(root, '')
    expect(errors.join('')).toContain('Could not resolve "./none.ts"')
  })
})
