import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BuildError, build, ROOT } from './build.ts'
import { withPlanted } from './checks/planted.ts'

const files = {
  'config/service.yaml': await readFile(join(ROOT, 'config/service.yaml'), 'utf8'),
  'config/policy.yaml': await readFile(join(ROOT, 'config/policy.yaml'), 'utf8'),
}

test('the documents of this repository compile, and warn of nothing', async () => {
  await withPlanted(files, async (root) => {
    const { documents, warnings } = await build(root)
    expect(warnings).toEqual([])
    expect(JSON.parse(await readFile(join(root, 'config/service.json'), 'utf8'))).toEqual(documents.service)
    expect(JSON.parse(await readFile(join(root, 'config/policy.json'), 'utf8'))).toEqual(documents.policy)
  })
})

test('scripts are bundled under their own names, without their folder, tests, or a path of this machine', async () => {
  const browser = {
    'src/browser/form-post.ts': "import { twice } from './parts/twice.ts'\nexport const four: number = twice(2)\nconsole.log(four)\n",
    'src/browser/parts/twice.ts': 'export const twice = (n: number) => n * 2\n',
    'src/browser/form-post.test.ts': 'throw new Error()\n',
    'src/browser/style.css': 'body {\n  margin: 0;\n}\n',
    'src/browser/icon.svg': '<svg/>',
    'dist/assets/gone.js': 'an older build left this',
  }
  await withPlanted({ ...files, ...browser }, async (root) => {
    const { assets } = await build(root)
    expect(assets).toEqual(['form-post.js', 'icon.svg', 'style.css'])
    expect((await readdir(join(root, 'dist/assets'))).sort()).toEqual(assets)
    const script = await readFile(join(root, 'dist/assets/form-post.js'), 'utf8')
    expect(script).not.toContain('import')
    expect(script).not.toContain(root)
    expect(script).not.toContain('sourceMapping')
    expect(await readFile(join(root, 'dist/assets/style.css'), 'utf8')).toBe('body{margin:0}\n')
    expect(await readFile(join(root, 'dist/assets/icon.svg'), 'utf8')).toBe('<svg/>')
  })
})

test('the folder of assets is there even when it is empty, for wrangler refuses to run without', async () => {
  await withPlanted(files, async (root) => {
    expect((await build(root)).assets).toEqual([])
    expect(await readdir(join(root, 'dist/assets'))).toEqual([])
  })
})

test('a build that changes nothing writes nothing: whoever watches the files stays quiet', async () => {
  await withPlanted({ ...files, 'src/browser/a.css': 'a {}' }, async (root) => {
    const times = async () =>
      Promise.all(['config/policy.json', 'dist/assets/a.css'].map(async (file) => (await stat(join(root, file))).mtimeMs))
    await build(root)
    const before = await times()
    await new Promise((later) => setTimeout(later, 20))
    await build(root)
    expect(await times()).toEqual(before)
  })
})

test('a document that is wrong stops the build with every error, and nothing is written', async () => {
  const wrong = {
    ...files,
    'config/policy.yaml': `${files['config/policy.yaml']}colour: red\n`,
    'config/service.yaml': `${files['config/service.yaml']}colour: red\n`,
  }
  await withPlanted(wrong, async (root) => {
    const failed = await build(root).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(BuildError)
    const lines = failed instanceof BuildError ? failed.lines.map((line) => line.replace(/:\d+:/, ':')) : []
    expect(lines).toEqual([
      'config/service.yaml: colour: is not a field this version knows',
      'config/policy.yaml: colour: is not a field this version knows',
    ])
    expect((await readdir(join(root, 'config'))).sort()).toEqual(['policy.yaml', 'service.yaml'])
  })
})

test('a script that is wrong stops the build, saying where', async () => {
  await withPlanted({ ...files, 'src/browser/a.ts': "import './none.ts'\n" }, async (root) => {
    await expect(build(root)).rejects.toThrow(/src\/browser\/a\.ts:1:7: ERROR: Could not resolve "\.\/none\.ts"/)
  })
})
