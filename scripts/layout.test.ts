import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { layout } from './layout.ts'

describe('npm run layout', () => {
  it.each([
    [
      ['ses.ada.s1'],
      '{"key":"ses.ada.s1","module":"oidc","table":"sluis-acme-oidc","pk":"session","sk":"ada/s1","object":"sluis-acme-oidc/11"}',
    ],
    [
      ['rec.maintenance'],
      '{"key":"rec.maintenance","module":null,"table":null,"pk":"maintenance","sk":"flag","object":"sluis-acme-oidc/small"}',
    ],
    [
      ['--instance', 'dev', 'gh.org.acme'],
      '{"key":"gh.org.acme","module":"github","table":"sluis-dev-github","pk":"org","sk":"acme","object":"sluis-dev-github/small"}',
    ],
    [
      ['gh.org.acme', '--instance=dev'],
      '{"key":"gh.org.acme","module":"github","table":"sluis-dev-github","pk":"org","sk":"acme","object":"sluis-dev-github/small"}',
    ],
    [['--', '--set'], '{"key":"--set","module":null,"table":null,"pk":"other","sk":"--set","object":"sluis-acme-oidc/small"}'],
    [['--prefix', 'ses.ada.'], '{"prefix":"ses.ada.","query":{"module":"oidc","pk":"session","skPrefix":"ada/"}}'],
    [['--prefix', 'notify.'], '{"prefix":"notify.","query":{"module":null,"pk":"notify","skPrefix":null}}'],
    [['--prefix', ''], '{"prefix":"","scan":true}'],
    [
      ['--set', 'issuer:sso', 's1'],
      '{"set":"issuer:sso","member":"s1","module":"oidc","table":"sluis-acme-oidc","pk":"sso-index","sk":"all/s1"}',
    ],
    [['--set', 'idx:m', 'a'], '{"set":"idx:m","member":"a","module":null,"table":null,"pk":"index","sk":"idx:m/a"}'],
    [['--secret', 'external/oidc/rp'], '{"path":"external/oidc/rp","parameter":"/sluis/acme/external/oidc/rp"}'],
  ])('%j says where it stands, its fields in order', (args, line) => {
    expect(layout(args)).toEqual({ status: 0, stdout: `${line}\n`, stderr: '' })
  })

  it.each([
    [[''], { key: '', error: /^Unsupported: ./ }],
    [['ws.dir.entra.4b1f'], { key: 'ws.dir.entra.4b1f', error: /^Unsupported: ./ }],
    [['--set', '', 'm'], { set: '', member: 'm', error: /^Unsupported: ./ }],
    [['--secret', 'credentials/other/a/r'], { path: 'credentials/other/a/r', error: /^Unsupported: ./ }],
  ])('%j is refused in a line of its own, with status 0', (args, { error, ...echo }) => {
    const { status, stdout } = layout(args)
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ ...echo, error: expect.stringMatching(error) })
  })

  it('answers a line for each argument, refused ones among them', () => {
    const lines = layout(['tok.a', '.x', 'tok.b']).stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).key)).toEqual(['tok.a', '.x', 'tok.b'])
    const members = layout(['--set', 's', 'a', 'b']).stdout.trimEnd().split('\n')
    expect(members.map((line) => JSON.parse(line).sk)).toEqual(['s/a', 's/b'])
  })

  it.each([
    [[]],
    [['--prefix']],
    [['--set', 's']],
    [['--prefix', '--set', 'a', 'b']],
    [['--unknown', 'a']],
    [['--instance']],
    [['--instance', 'internal', 'tok.a']],
  ])('%j is misused: usage on stderr, status 2', (args) => {
    const { status, stdout, stderr } = layout(args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toContain('npm run --silent layout')
  })

  it('explains itself', () => {
    expect(layout(['--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining('of no module'), stderr: '' })
  })

  it('writes every line to a pipe before it ends', () => {
    const keys = Array.from({ length: 5_000 }, (_, at) => `tok.j${at}`)
    const { stdout, status } = spawnSync(process.execPath, [new URL('layout.ts', import.meta.url).pathname, ...keys], {
      encoding: 'utf8',
      maxBuffer: 64 * 1_024 * 1_024,
    })
    expect(status).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(keys.length)
  })
})
