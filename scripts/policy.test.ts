import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from './build.ts'
import { policy } from './policy.ts'

const SERVICE = `version: 1
instance: dev
issuer: http://localhost:8787
name: Acme
directory:
  kind: local
  people:
    - { email: ada@acme.example, groups: [engineering@acme.example] }
    - { email: bob@acme.example, suspended: true }
signin: { picker: true }
recovery: { generation: 1 }
`
const POLICY = `version: 1
vocabulary:
  scopes: { dev: {}, prod: { sensitive: true } }
  things:
    k8s: { scopes: [dev, prod], roles: { admin: [viewer], viewer: [] } }
groups:
  emp:all: { matchers: [{ email_domain: acme.example }] }
  '*:k8s:admin': { members: [engineering@acme.example], lifetime: 30m }
  prod:k8s:viewer: { matchers: [{ account: recovery }] }
clients:
  shell: { kind: public, redirects: ['http://localhost/x'], requires: [dev:k8s:viewer] }
  ops: { kind: public, redirects: ['http://localhost/y'], requires: [prod:k8s:viewer], ttl_cap: 5m }
resources:
  https://api.acme.example: { requires: [emp:all], groups: [emp] }
`

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluis-policy-'))
  await writeFile(join(folder, 'service.yaml'), SERVICE)
  await writeFile(join(folder, 'policy.yaml'), POLICY)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const run = (...args: string[]) => policy([...args, '--config', folder])

async function test(expectations: string): Promise<string> {
  await writeFile(join(folder, 'expectations.yaml'), expectations)
  return run('test', join(folder, 'expectations.yaml'))
}

describe('npm run policy -- explain', () => {
  it('says what somebody holds and by which way, who lets them in and who does not, and what each token would say', async () => {
    const lines = (await run('explain', ' Ada@ACME.example')).split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '))
    expect(lines).toEqual([
      'ada@acme.example',
      expect.stringMatching(/^is in engineering@acme\.example \(the directory of .*service\.yaml\)$/),
      '',
      'holds',
      'dev:k8s:admin member engineering@acme.example (*:k8s:admin)',
      'dev:k8s:viewer implied by dev:k8s:admin',
      'emp:all matcher email_domain acme.example',
      '',
      'client shell lets them in, by dev:k8s:viewer',
      'access token 30m, ID token 30m, signed in for 24h at most',
      'groups: dev:k8s:admin, dev:k8s:viewer',
      '',
      'client ops does not let them in. It requires one of',
      'prod:k8s:viewer, which is held by matcher account recovery; implied by prod:k8s:admin',
      '',
      'resource https://api.acme.example lets them in, by emp:all',
      'for a token: npm run policy -- explain <person> <client>',
    ])
  })

  it('of one client, says what each resource by it would be given', async () => {
    const said = await run('explain', 'ada@acme.example', 'shell')
    expect(said).toMatch(/resource https:\/\/api\.acme\.example, by shell lets them in, by emp:all\n.*\n {2}groups: emp:all$/)
    expect(said).not.toContain('client ops')
  })

  it('takes the directory groups that are said in place of those of the directory, and an account for what it is', async () => {
    expect(await run('explain', 'new@acme.example', 'shell', '--groups', 'Engineering@acme.example')).toContain('client shell lets them in')
    expect(await run('explain', 'ada@acme.example', 'shell', '--groups', '')).toContain('client shell does not let them in')
    expect(await run('explain', 'recovery', 'ops')).toMatch(/client ops lets them in, by prod:k8s:viewer\n {2}access token 5m/)
    expect(await run('explain', 'bob@acme.example')).toContain('is suspended in the directory')
  })

  it.each([
    [['explain', 'nobody@acme.example'], 'nobody@acme.example is not in the directory of'],
    [['explain', 'ada'], 'ada is neither an address like ada@acme.example nor recovery or conformance'],
    [['explain', 'ada@acme.example', 'constructor'], 'the policy has no client constructor. It has: shell, ops'],
    [['explain', 'recovery', '--groups', 'a@acme.example'], '--groups: recovery is an account, in no directory'],
    [['explain', 'ada@acme.example', '--groups', 'team'], '--groups: team is no address of a directory group'],
    [['explain'], 'npm run policy -- explain <person> [client]'],
  ])('refuses %j', async (args, message) => {
    await expect(run(...args)).rejects.toThrow(message)
  })

  it('says of a policy that is wrong what is, with its line', async () => {
    const wrong = await mkdtemp(join(tmpdir(), 'sluis-policy-'))
    await writeFile(join(wrong, 'service.yaml'), SERVICE)
    await writeFile(
      join(wrong, 'policy.yaml'),
      POLICY.replace('viewer: [] }', 'viewer: [admin] }').replace('[prod:k8s:viewer], ttl', '[], ttl'),
    )
    const refused = policy(['explain', 'ada@acme.example', '--config', wrong])
    await expect(refused).rejects.toThrow(/policy\.yaml:5: vocabulary\.things\.k8s\.roles\.admin: implies itself: admin > viewer > admin/)
    await expect(refused).rejects.toThrow(/policy\.yaml:12: clients\.ops\.requires: is empty/)
    await rm(wrong, { recursive: true })
  })
})

describe('npm run policy -- test', () => {
  it('holds the policy of this repository to what is expected of it', async () => {
    expect(await policy(['test', join(ROOT, 'config/policy.test.yaml')])).toMatch(/ expectations of 5 people are met$/)
  })

  it('counts what is met', async () => {
    const expectations = `
- person: ada@acme.example
  holds: [dev:k8s:admin, emp:all]
  not_holds: [prod:k8s:viewer]
  admitted: [shell, 'https://api.acme.example']
  refused: [ops]
  token_groups: { shell: [dev:k8s:viewer, dev:k8s:admin] }
- { person: recovery, admitted: [ops] }
- { person: new@acme.example, groups: [], refused: [shell] }
`
    expect(await test(expectations)).toMatch(/expectations\.yaml: 9 expectations of 3 people are met$/)
  })

  it('has a line for each that is not, where it stands, with what is', async () => {
    const failed = test(`- person: ada@acme.example
  holds: [prod:k8s:viewer]
  not_holds: [emp:all]
  admitted: [ops]
  refused: [shell]
  token_groups: { shell: [dev:k8s:viewer] }
`)
    const lines = await failed.then(
      () => [],
      (error: Error) => error.message.split('\n').map((line) => line.replace(/^.*expectations\.yaml:/, '')),
    )
    expect(lines).toEqual([
      '2: [0].holds[0]: expected prod:k8s:viewer to be held, and they hold dev:k8s:admin, dev:k8s:viewer, emp:all',
      '3: [0].not_holds[0]: expected emp:all not to be held, and they hold it',
      '4: [0].admitted[0]: expected ops to let them in: it requires prod:k8s:viewer, and they hold dev:k8s:admin, dev:k8s:viewer, emp:all',
      '5: [0].refused[0]: expected shell to refuse them, and it lets them in by dev:k8s:viewer',
      '6: [0].token_groups.shell: expected dev:k8s:viewer, got dev:k8s:admin, dev:k8s:viewer',
    ])
  })

  it.each([
    ['[]', 'expects nothing'],
    ['- { person: ada@acme.example }', 'expects nothing: holds, not_holds, admitted, refused or token_groups'],
    ['- { person: ada@acme.example, holds: [no:such:group] }', '"no:such:group" is no group of the policy'],
    ['- { person: ada@acme.example, refused: [toString] }', '"toString" is no client and no resource of the policy'],
    ['- { person: ada@acme.example, refuses: [shell] }', 'refuses: is not a field this version knows'],
    ['- { person: nobody@acme.example, refused: [shell] }', 'is not in the directory of'],
    ['- { person: conformance, refused: [shell] }', 'is an account that the service document does not have'],
    ['- { person: recovery, groups: [a@acme.example], refused: [shell] }', 'groups: is not for recovery: an account is in no directory'],
  ])('passes nothing for what could not fail: %s', async (expectations, message) => {
    await expect(test(expectations)).rejects.toThrow(message)
  })
})
