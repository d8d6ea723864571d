import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../build.ts'
import { checkEnvironments } from './environments.ts'
import { withPlanted } from './planted.ts'

const ours = await readFile(join(ROOT, 'wrangler.toml'), 'utf8')

async function changed(from: string | RegExp, to: string): Promise<string[]> {
  const text = ours.replace(from, to)
  expect(text).not.toBe(ours)
  return withPlanted({ 'wrangler.toml': text }, async (root) => checkEnvironments(join(root, 'wrangler.toml')))
}

test('the two environments of this repository are one Worker', () => {
  expect(checkEnvironments(join(ROOT, 'wrangler.toml'))).toEqual([])
})

test('a limit that differs is found', async () => {
  const errors = await changed(/(\[\[env\.aws\.ratelimits\]\]\nname = "TOKEN"\nnamespace_id = "\d+"\nsimple = \{ limit = )60/, '$161')
  expect(errors).toHaveLength(1)
  expect(errors[0]).toMatch(/^wrangler\.toml: ratelimits differs: .*"limit":60.*"limit":61/)
})

test('a binding that one has and the other lacks is found', async () => {
  const errors = await changed(/\[\[env\.aws\.durable_objects\.bindings\]\]\nname = "SEALED_SECRETS"\nclass_name = "SealedSecrets"\n/, '')
  expect(errors).toHaveLength(1)
  expect(errors[0]).toMatch(/^wrangler\.toml: durable_objects differs: .*SealedSecrets/)
})

test('migrations, crons and flags of one environment alone are found', async () => {
  const own =
    '[env.aws]\ncompatibility_flags = []\ntriggers = { crons = ["*/5 * * * *"] }\nmigrations = [{ tag = "v1", new_sqlite_classes = ["StateShard"] }]\n'
  const errors = await changed('[env.aws]\n', own)
  expect(errors.map((error) => error.split(' ')[1]).sort()).toEqual(['compatibility_flags', 'migrations', 'triggers'])
})
