import { describe, expect, it } from 'vitest'
import { moduleTables } from './tables.ts'

describe('tables of modules', () => {
  it('are named after instance and module', () => {
    expect(moduleTables('acme')).toEqual({
      oidc: 'sluis-acme-oidc',
      github: 'sluis-acme-github',
      slack: 'sluis-acme-slack',
      cloudflare: 'sluis-acme-cloudflare',
      google: 'sluis-acme-google',
      backup: 'sluis-acme-backup',
    })
  })

  it('may be named otherwise, one by one', () => {
    expect(moduleTables('acme', { github: 'people' })).toMatchObject({ oidc: 'sluis-acme-oidc', github: 'people' })
  })

  const refused: [string, Record<string, string>, string][] = [
    ['an empty name', { github: '' }, '"" is no name of a table (module github)'],
    ['a name DynamoDB has no table of', { github: 'a table' }, '"a table" is no name of a table (module github)'],
    ['one table for two modules', { github: 'one', slack: 'one' }, 'modules github and slack may not share table one'],
    ["another module's own name", { slack: 'sluis-acme-oidc' }, 'modules oidc and slack may not share table sluis-acme-oidc'],
    ['a module there is none of', { directory: 'x' }, 'there is no module directory to name a table of'],
  ]

  it.each(refused)('refuse %s', (_, named, message) => {
    expect(() => moduleTables('acme', named)).toThrow(expect.objectContaining({ code: 'Unsupported', message }))
  })
})
