import { describe, expect, test } from 'vitest'
import { compileDocuments } from './documents.ts'

const service = `version: 1
instance: dev
issuer: http://localhost:8787
name: Acme
directory:
  kind: local
  people:
    - email: ada@acme.example
signin:
  picker: true
`
const policy = `version: 1
groups:
  app:demo:user:
    members: [engineering@acme.example]
clients:
  demo:
    kind: public
    redirects:
      - https://app.acme.example/callback
    requires: [app:demo:user]
`

function compiled(changes: { service?: [string, string]; policy?: [string, string] }) {
  const text = (whole: string, change: [string, string] | undefined) => (change === undefined ? whole : whole.replace(...change))
  return compileDocuments({
    service: { name: 'service.yaml', text: text(service, changes.service) },
    policy: { name: 'policy.yaml', text: text(policy, changes.policy) },
  })
}

function errors(changes: Parameters<typeof compiled>[0]): string[] {
  const result = compiled(changes)
  return result.ok ? [] : result.errors
}

test('documents become what they mean, durations in seconds', () => {
  const result = compiled({ policy: ['version: 1', 'version: 1\nlifetimes: { token: 30m }'] })
  expect(result.ok && result.documents.policy.lifetimes.token).toBe(1_800)
  expect(result.ok && result.documents.service.keyring.rotate_every).toBe(86_400)
})

describe('an error', () => {
  test('names the file, the line and the path', () => {
    expect(errors({ policy: ['https://app.acme.example/callback', 'http://app.acme.example/callback'] })).toEqual([
      'policy.yaml:9: clients.demo.redirects[0]: is http: that is for localhost, 127.0.0.1 and [::1] only',
    ])
  })

  test('about a field that is missing names the line of what lacks it', () => {
    expect(errors({ policy: ['    kind: public\n', ''] })).toEqual(['policy.yaml:6: clients.demo.kind: is missing'])
  })

  test('is said of aliases that would become far more than was written', () => {
    const levels = ['x', '*a', '*b', '*c', '*d', '*e'].map((item, at) => `${'abcdef'[at]}: &${'abcdef'[at]} [${Array(9).fill(item)}]`)
    expect(errors({ policy: ['version: 1', `version: 1\n${levels.join('\n')}`] })[0]).toMatch(/^policy\.yaml:1: Excessive alias count/)
  })

  test('about an unknown field names the line of its key', () => {
    expect(errors({ policy: ['    requires:', '    require:\n      - x\n    requires:'] })).toEqual([
      'policy.yaml:10: clients.demo.require: is not a field this version knows',
    ])
  })

  test('comes with every other in both documents, in the order of their lines', () => {
    expect(
      errors({ service: ['instance: dev', 'instance: internal'], policy: ['[app:demo:user]', '[app:x:y]\n    groups: some'] }),
    ).toEqual([
      'service.yaml:2: instance: is a name kept for the layout (private, export, internal, external)',
      'policy.yaml:10: clients.demo.requires[0]: "app:x:y" is no group of this document',
      'policy.yaml:11: clients.demo.groups: is neither all nor a list of groups, things and families',
    ])
  })

  test('in what one document asks of the other is found', () => {
    expect(errors({ policy: ['    kind: public', '    kind: public\n    signing_alg: EdDSA'] })).toEqual([
      'policy.yaml:8: clients.demo.signing_alg: is EdDSA, and the service document has no ring for it (keyring.rings: ES256, RS256)',
    ])
  })

  test('behind an alias names the line of what it stands for', () => {
    const shared: [string, string] = [
      '    requires: [app:demo:user]',
      '    requires: &who [app:x:y]\n  other:\n    kind: public\n    redirects: []\n    requires: *who',
    ]
    expect(errors({ policy: shared })).toEqual([
      'policy.yaml:10: clients.demo.requires[0]: "app:x:y" is no group of this document',
      'policy.yaml:10: clients.other.requires[0]: "app:x:y" is no group of this document',
    ])
  })
})

describe('a file that is no YAML document', () => {
  test('is refused for a key written twice', () => {
    expect(errors({ policy: ['    kind: public', '    kind: public\n    kind: confidential'] })).toEqual([
      'policy.yaml:8: Map keys must be unique',
    ])
  })

  test('is refused for its syntax', () => {
    expect(errors({ service: ['name: Acme', 'name: [Acme'] })[0]).toMatch(/^service\.yaml:\d+: /)
  })

  test('is refused when it is empty', () => {
    const result = compileDocuments({ service: { name: 'service.yaml', text: '' }, policy: { name: 'policy.yaml', text: policy } })
    expect(result).toEqual({ ok: false, errors: ['service.yaml:1: document: is empty, not a mapping'] })
  })
})

test('a group nothing consumes is a warning, with its line', () => {
  const result = compiled({ policy: ['groups:', 'groups:\n  emp:all: {}'] })
  expect(result.ok && result.warnings).toEqual([
    'policy.yaml:3: groups["emp:all"]: is declared, and no client, resource or console asks for it',
  ])
})
