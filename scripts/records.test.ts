import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as z from 'zod'
import { type RecordFile, records, recordsPage } from './records.ts'

const type = { key: 'req.z-<id>', purpose: 'A trial.', lifetime: 'a minute', schema: z.looseObject({ id: z.string().describe('its id') }) }

function file(exports: Record<string, unknown>, source = ''): RecordFile {
  return { name: 'trial.ts', source, exports }
}

function pageOf(schema: z.ZodType): string {
  return recordsPage([file({ trial: { ...type, schema } })])
}

describe('the records page', () => {
  it('says of a record where it stands, how long it lives and what it holds', () => {
    const page = recordsPage([file({ trial: type })])
    expect(page).toContain('| `req.z-<id>` | oidc | request | `z-<id>` | by `z-<id>` | yes | a minute |')
    expect(page).toContain('## `req.z-<id>`\n\nA trial. (`src/records/trial.ts`)')
    expect(page).toContain('| `id` | text | its id |')
  })

  it('describes a field as it is written, not as it is read', () => {
    const length = z.codec(z.string(), z.number(), { decode: (text) => text.length, encode: (count) => 'x'.repeat(count) })
    expect(pageOf(z.looseObject({ length }))).toContain('| `length` | text |')
  })

  it('goes into objects and lists, and tells what may be missing', () => {
    const page = pageOf(z.looseObject({ rows: z.array(z.looseObject({ at: z.number().optional() })) }))
    expect(page).toContain('| `rows` | list of object |')
    expect(page).toContain('| `rows[].at` | number, optional |')
  })

  it('shows each way a record can be written', () => {
    const page = pageOf(z.union([z.looseObject({ ended: z.number() }), z.looseObject({ id: z.string() })]))
    expect(page).toContain('A record with `ended`:\n\n| Field | Type | What it is |\n| --- | --- | --- |\n| `ended` | number |')
    expect(page).toContain('A record with `id`:')
  })

  it('shows a field of several ways once, and says which of them have it', () => {
    const key = z.discriminatedUnion('kty', [
      z.looseObject({ kty: z.literal('EC'), x: z.string() }),
      z.looseObject({ kty: z.literal('RSA'), n: z.string() }),
    ])
    const page = pageOf(z.looseObject({ key }))
    expect(page).toContain('| `key.kty` | `EC` or `RSA` |')
    expect(page).toContain('| `key.n` | text | of `RSA` |')
  })
})

describe('a record type that the page would not show', () => {
  it.each([
    ['without a purpose', file({ trial: { ...type, purpose: '' } }), /trial is a record type without/],
    ['without a key', file({ trial: { schema: type.schema } }), /trial is a record type without/],
    ['whose schema is none', file({ trial: { ...type, schema: {} } }), /trial is a record type without/],
    ['that is declared and not exported', file({}, 'const hidden = { schema } satisfies RecordType<typeof schema>'), /declares 1 record/],
    ['that is written and not exported', file({ trial: type }, 'writeRecord(hidden, value)'), /hidden is read or written/],
    ['that is read and not exported', file({ trial: type }, 'readRecord(hidden, entry, log)'), /hidden is read or written/],
    ['at a key the layout does not know', file({ trial: { ...type, key: 'trial.<id>' } }), /trial\.<id> is under no rule/],
    ['at the key of another', file({ trial: type, again: { ...type } }), /req\.z-<id> is described twice/],
    ['with a field that has no JSON', file({ trial: { ...type, schema: z.looseObject({ at: z.date() }) } }), /cannot be represented/],
    ['with a field there are no words for', file({ trial: { ...type, schema: z.looseObject({ at: z.null() }) } }), /at: no words for/],
  ])('fails the page: one %s', (_, broken, why) => {
    expect(() => recordsPage([broken])).toThrow(why)
  })
})

describe('npm run records', () => {
  let folder = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluis-records-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('writes the page once, and --check passes until it differs', async () => {
    const page = join(folder, 'records.md')
    expect(await records(['--check'], { page })).toMatchObject({ status: 1, stderr: expect.stringContaining('npm run records') })
    expect(await readdir(folder)).toEqual([])

    expect(await records([], { page })).toMatchObject({ status: 0 })
    expect(await records(['--check'], { page })).toMatchObject({ status: 0 })

    await writeFile(page, `${await readFile(page, 'utf8')}\nAn edit by hand.\n`)
    expect(await records(['--check'], { page })).toMatchObject({ status: 1 })
  })

  it('reads every file of src/records that declares a record type', async () => {
    const page = join(folder, 'all.md')
    await records([], { page })
    const text = await readFile(page, 'utf8')
    const source = join(import.meta.dirname, '../src/records')
    for (const name of await readdir(source)) {
      const declares = (await readFile(join(source, name), 'utf8')).includes('satisfies RecordType<')
      if (declares) expect(text).toContain(`(\`src/records/${name}\`)`)
    }
  })
})
