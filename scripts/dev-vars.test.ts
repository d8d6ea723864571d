import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withPlanted } from './checks/planted.ts'
import { ensureDevVars, parseDevVars } from './dev-vars.ts'

const names = ['SEAL_KEY', 'OPS_KEY']

test('a file that is not there is written with every name, 32 random bytes each, for its owner only', async () => {
  await withPlanted({ 'a/keep': '' }, async (root) => {
    const file = join(root, '.dev.vars')
    const vars = await ensureDevVars(file, names)
    expect([...vars.keys()]).toEqual(names)
    expect(new Set(vars.values()).size).toBe(2)
    for (const value of vars.values()) expect(value).toMatch(/^[\w-]{43}$/)
    expect(await readFile(file, 'utf8')).toBe(`SEAL_KEY=${vars.get('SEAL_KEY')}\nOPS_KEY=${vars.get('OPS_KEY')}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })
})

test('what stands in a file stays as it is, and what is missing is added', async () => {
  await withPlanted({ '.dev.vars': '# mine\nOPS_KEY=kept\nISSUER=http://localhost:1' }, async (root) => {
    const file = join(root, '.dev.vars')
    const vars = await ensureDevVars(file, names)
    expect(vars.get('OPS_KEY')).toBe('kept')
    expect(await readFile(file, 'utf8')).toBe(`# mine\nOPS_KEY=kept\nISSUER=http://localhost:1\nSEAL_KEY=${vars.get('SEAL_KEY')}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await ensureDevVars(file, names)).toEqual(vars)
  })
})

test('a line is read as wrangler reads it', () => {
  const vars = parseDevVars('A=1\r\n# B=2\n C = "x y" \nexport D=\'e\'\nF=\n\nnothing\nG=a=b\n')
  expect([...vars]).toEqual([
    ['A', '1'],
    ['C', 'x y'],
    ['D', 'e'],
    ['F', ''],
    ['G', 'a=b'],
  ])
})
