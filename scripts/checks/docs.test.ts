import { expect, test } from 'vitest'
import { checkDocs } from './docs.ts'
import { withPlanted } from './planted.ts'

const files = {
  'package.json': '{"scripts":{"start":"x","layout":"x"}}',
  'docs/operate.md': '# Operate\n\n## Add a client\n\n## Add a client\n',
}

function found(readme: string): Promise<string[]> {
  return withPlanted({ ...files, 'README.md': readme }, (root) => checkDocs(root, ['README.md', 'docs/operate.md', 'package.json']))
}

test('a link to a file that is not there is found, with its line', async () => {
  expect(await found('# A\n[b](docs/none.md)')).toEqual(['README.md:2: links to docs/none.md, which is not there'])
})

test('a link to a heading that is not there is found', async () => {
  expect(await found('[b](docs/operate.md#remove-a-client)')).toEqual([
    'README.md:1: links to docs/operate.md#remove-a-client, and docs/operate.md has no such heading',
  ])
})

test('links to files, headings and elsewhere hold', async () => {
  expect(await found('# Here\n[a](docs/operate.md) [b](docs/operate.md#add-a-client-1) [c](#here) [d](https://acme.example/x)')).toEqual([])
})

test('a command package.json does not have is found', async () => {
  expect(await found('`npm start`, `npm run layout` and `npm run bench`')).toEqual([
    'README.md:1: names npm run bench, which package.json does not have',
  ])
  expect(await found('`npm test`')).toHaveLength(1)
})
