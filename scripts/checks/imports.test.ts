import { describe, expect, test } from 'vitest'
import { checkImports, cruiseOptions } from './imports.ts'
import { withPlanted } from './planted.ts'
import { rows } from './rooms.ts'

/** One file that imports another: what is said about it. */
async function said(
  from: string,
  to: string,
  statement = (specifier: string) => `import { it } from '${specifier}'\nit`,
): Promise<string[]> {
  const up = '../'.repeat(from.split('/').length - 1)
  const files = { [from]: statement(up + to), [to]: 'export const it = 1\nexport type It = 1\n' }
  const { errors } = await withPlanted(files, checkImports)
  return errors
}

describe('a room', () => {
  for (const [at, row] of rows.entries()) {
    for (const room of row) {
      const inner = rows[at + 1]?.[0]
      const outer = rows[at - 1]?.[0] ?? 'app'
      if (inner !== undefined) {
        test(`${room} imports ${inner}`, async () => {
          expect(await said(`src/${room}/a.ts`, `src/${inner}/b.ts`)).toEqual([])
        })
      }
      test(`${room} does not import ${outer}`, async () => {
        const to = outer === 'app' ? 'src/app.ts' : `src/${outer}/b.ts`
        expect(await said(`src/${room}/a.ts`, to)).toEqual([`src/${room}/a.ts -> ${to}: ${room}-imports-inwards`])
      })
      for (const beside of row.filter((other) => other !== room)) {
        test(`${room} does not import ${beside}, which stands beside it`, async () => {
          expect(await said(`src/${room}/a.ts`, `src/${beside}/b.ts`)).toEqual([
            `src/${room}/a.ts -> src/${beside}/b.ts: ${room}-imports-inwards`,
          ])
        })
      }
    }
  }

  test('signin ends in the authorization request it was for', async () => {
    expect(await said('src/signin/a.ts', 'src/issuer/authorize/complete.ts')).toEqual([])
    expect(await said('src/signin/a.ts', 'src/issuer/authorize/checks.ts')).toHaveLength(1)
  })

  test('that is not in the table is refused', async () => {
    const { errors } = await withPlanted({ 'src/helpers/a.ts': 'export const it = 1\n' }, checkImports)
    expect(errors).toEqual(['src/helpers: is no room of scripts/checks/rooms.ts'])
  })
})

describe('an import counts', () => {
  const written: Record<string, (specifier: string) => string> = {
    'of a type only': (specifier) => `import type { It } from '${specifier}'\nexport const a: It = 1\n`,
    'of a type inline': (specifier) => `export const a: import('${specifier}').It = 1\n`,
    'exported again as a type': (specifier) => `export type { It } from '${specifier}'\n`,
    'at run time': (specifier) => `export const a = () => import('${specifier}')\n`,
    'after a using declaration': (specifier) =>
      `export function a(b: Disposable) {\n  using c = b\n  return [c, import('${specifier}')]\n}\n`,
  }
  for (const [how, statement] of Object.entries(written)) {
    test(how, async () => {
      expect(await said('src/records/a.ts', 'src/issuer/b.ts', statement)).toEqual([
        'src/records/a.ts -> src/issuer/b.ts: records-imports-inwards',
      ])
    })
  }

  test('from a file with JSX', async () => {
    const statement = (specifier: string) => `import { it } from '${specifier}'\nexport const A = () => <p>{it}</p>\n`
    expect(await said('src/pages/a.tsx', 'src/http/b.ts', statement)).toEqual(['src/pages/a.tsx -> src/http/b.ts: pages-imports-inwards'])
  })

  test('in a circle', async () => {
    const files = {
      'src/crypto/a.ts': "import type { B } from './b.ts'\nexport type A = B\n",
      'src/crypto/b.ts': "import type { A } from './a.ts'\nexport type B = A\n",
    }
    const { errors } = await withPlanted(files, checkImports)
    expect(errors).not.toEqual([])
    expect(errors.every((error) => error.endsWith(': no-circle'))).toBe(true)
  })
})

describe('an adapter', () => {
  test('imports ports, crypto, adapters/aws and its own folder', async () => {
    for (const to of ['src/ports/b.ts', 'src/crypto/b.ts', 'src/adapters/aws/b.ts', 'src/adapters/ssm/b.ts']) {
      expect(await said('src/adapters/ssm/a.ts', to)).toEqual([])
    }
  })

  test('imports no other adapter and no room', async () => {
    for (const to of ['src/adapters/kms/b.ts', 'src/records/b.ts', 'src/config/b.ts']) {
      expect(await said('src/adapters/ssm/a.ts', to)).toEqual([`src/adapters/ssm/a.ts -> ${to}: adapters-import-ports`])
    }
  })

  test('is imported by compose, tests and scripts, and by no room', async () => {
    for (const from of ['src/compose.ts', 'src/issuer/a.test.ts', 'test/e2e/a.ts', 'scripts/a.ts']) {
      expect(await said(from, 'src/adapters/memory/b.ts')).toEqual([])
    }
    for (const from of ['src/app.ts', 'src/issuer/a.ts']) {
      expect(await said(from, 'src/adapters/memory/b.ts')).toEqual([`${from} -> src/adapters/memory/b.ts: adapters-are-composed`])
    }
  })

  test('is imported by the Worker only where it is a Durable Object class', async () => {
    expect(await said('src/worker.ts', 'src/adapters/durable-object/b.ts')).toEqual([])
    expect(await said('src/worker.ts', 'src/adapters/dynamodb/b.ts')).toHaveLength(1)
  })
})

test('a script of the browser imports crypto only, and nothing imports it', async () => {
  expect(await said('src/browser/a.ts', 'src/crypto/b.ts')).toEqual([])
  expect(await said('src/browser/a.ts', 'src/ports/b.ts')).toHaveLength(1)
  expect(await said('src/pages/a.ts', 'src/browser/b.ts')).not.toEqual([])
})

test('a script does not import what only runs in the Worker', async () => {
  for (const to of ['src/compose.ts', 'src/pages/b.ts', 'src/adapters/durable-object/b.ts']) {
    expect(await said('scripts/a.ts', to)).toEqual([`scripts/a.ts -> ${to}: scripts-run-in-node`])
  }
  expect(await said('scripts/a.ts', 'src/ports/b.ts')).toEqual([])
})

test('a source file that was not read fails the check, whatever was not found', async () => {
  const files = { 'src/records/a.ts': 'export const it = 1\n', 'src/issuer/b.ts': 'export const it = 1\n' }
  const blind = { ...cruiseOptions, exclude: { path: '^src/issuer/' } }
  const { errors, modules } = await withPlanted(files, (root) => checkImports(root, blind))
  expect(modules).toBe(1)
  expect(errors).toEqual(['src/issuer/b.ts: dependency-cruiser did not read it, so nothing is known of its imports'])
})
