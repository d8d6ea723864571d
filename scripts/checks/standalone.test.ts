import { expect, test } from 'vitest'
import { withPlanted } from './planted.ts'
import { checkStandalone } from './standalone.ts'

const found = (text: string) => withPlanted({ 'a.md': text }, (root) => checkStandalone(root, ['a.md']))
const slash = (...parts: string[]) => parts.join('/') // so that this file doesn't name what it looks for

test('a path of one machine is found, with its line', async () => {
  for (const top of ['work', 'root', 'home', 'Users']) {
    expect(await found(`first\nsee ${slash('', top, 'ada')}`)).toEqual([`a.md:2: names a path of one machine: ${slash('', top, 'a')}`])
  }
})

test('the host of a package registry is found', async () => {
  expect(await found(slash('https:', '', 'registry.npmjs.org', 'x'))).toHaveLength(1)
  expect(await found(slash('http:', '', 'npm.registry.acme.example', 'x'))).toHaveLength(1)
})

test('a folder outside the repository and a document nobody can open are found', async () => {
  expect(await found(slash('..', 'shared', 'x'))).toHaveLength(1)
  expect(await found(['see FORMATS', 'md'].join('.'))).toHaveLength(1)
})

test('an address, a route and a relative path are not', async () => {
  expect(await found('https://acme.example/home/ada docs/work/plan.md ./root/a docs/design.md "/login/picker"')).toEqual([])
})
