import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../build.ts'
import { auditRows } from './audit-table.ts'

test('docs/operate.md has a row for every event there is, as the catalogue says it, and no other', async () => {
  const page = await readFile(join(ROOT, 'docs/operate.md'), 'utf8')
  const [, section = ''] = /^## Audit\n([\s\S]*?)^## /m.exec(page) ?? []
  const rows = section.split('\n').filter((line) => /^\| `[a-z_]+\.[a-z_]+` \|/.test(line))
  expect(rows).toEqual(auditRows())
})
