import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { ROOT } from './build.ts'

const commands = Object.values(manifest.scripts).flatMap((script) => /^node (scripts\/[\w-]+\.ts)/.exec(script)?.[1] ?? [])

// It is awaited at the top level: what stands below it is not there yet when a command's process uses it, and is when a test imports it.
test.each([...new Set(commands)])('%s starts below all that it keeps at the top level', async (file) => {
  const [, below] = (await readFile(join(ROOT, file), 'utf8')).split(/^(?:if \(import\.meta\.main\)|await |process\.exitCode = )/m)
  expect(below).toBeDefined()
  expect(below?.match(/^(?:export )?(?:const|let|class|enum) .*/gm) ?? []).toEqual([])
})
