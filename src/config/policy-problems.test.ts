import { describe, expect, test } from 'vitest'
import { declared, policySchema } from './policy.ts'
import { policyProblems } from './policy-problems.ts'
import { formatProblem } from './problems.ts'

const demo = { kind: 'public', redirects: ['https://app.acme.example/callback'], requires: ['app:demo:user'] }
const valid = { version: 1, groups: { 'app:demo:user': {} }, clients: { demo } }

/** What is said about the valid document with these fields in place of its own. */
function said(fields: object): string[] {
  return policyProblems({ ...valid, ...fields }, { rings: ['ES256', 'RS256'], issuer: 'https://id.acme.example' }).map(formatProblem)
}

/** The same, for its one client. */
function saidOfClient(fields: object): string[] {
  return said({ clients: { demo: { ...demo, ...fields } } })
}

/** The same, for a resource. */
function saidOfResource(fields: object, id = 'https://api.acme.example'): string[] {
  return said({ resources: { [id]: { requires: ['app:demo:user'], ...fields } } })
}

describe('a policy document', () => {
  test('that says only what it must has defaults for the rest, durations in seconds', () => {
    expect(said({})).toEqual([])
    const policy = policySchema.parse({ ...valid, groups: { 'app:demo:user': { lifetime: '90s' } } })
    expect(policy.lifetimes).toEqual({ token: 3_600, refresh: 43_200, absolute: 86_400, hold: 14_400 })
    expect(policy.groups['app:demo:user']).toEqual({ members: [], matchers: [], lifetime: 90 })
    expect(policy.clients.demo).toEqual({ ...demo, signed_out: [], device: false })
  })

  test('that is wrong in several places says so of each', () => {
    expect(said({ version: 2, clients: { demo: { ...demo, kind: 'open', requires: ['app:x'], redirect: 1 } }, colour: 'red' })).toEqual([
      'version: is not 1',
      'clients.demo.kind: is none of public, confidential',
      'clients.demo.redirect: is not a field this version knows',
      'colour: is not a field this version knows',
      'clients.demo.requires[0]: "app:x" is no group of this document',
    ])
  })

  test('that is no mapping says so', () => {
    expect(policyProblems('groups', { rings: undefined, issuer: undefined }).map(formatProblem)).toEqual([
      'document: is a string, not a mapping',
    ])
  })

  test('is held to the issuer of the service document', () => {
    const clients = { demo: { ...demo, backchannel_logout_uri: 'http://localhost:3000/out' } }
    const saidTo = (issuer: string) => policyProblems({ ...valid, clients }, { rings: undefined, issuer }).map(formatProblem)
    expect(saidTo('http://localhost:8787')).toEqual([])
    expect(saidTo('https://id.acme.example')).toHaveLength(1)
  })
})

const NONE = `is none of ${['email', 'email_domain', 'account', 'github', 'service_account', 'aws'].map((kind) => `{ ${kind}: ... }`).join(', ')}`

describe('a group', () => {
  test('has a name of plain segments', () => {
    for (const name of ['emp:all', 'app:demo:user', 'a', 'team/a.b_c-d'])
      expect(said({ groups: { ...valid.groups, [name]: {} } })).toEqual([])
    for (const name of ['a b', 'a:', ':a', '', 'a,b', 'a\u0000', 'ä', 'a'.repeat(201)]) {
      const found = said({ groups: { ...valid.groups, [name]: {} } })
      expect(found).toHaveLength(1)
      expect(found[0]).toMatch(/^groups(?:\[".*"\]|\.a+): /)
    }
  })

  test('has members that are addresses', () => {
    expect(said({ groups: { 'app:demo:user': { members: ['engineering'] } } })).toEqual([
      'groups["app:demo:user"].members[0]: is not an address like ada@acme.example',
    ])
  })

  test('has matchers of one kind each', () => {
    const matchers = [
      { email: 'ada' },
      { email_domain: 'acme' },
      { email: 'a@acme.example', email_domain: 'acme.example' },
      {},
      'acme.example',
    ]
    expect(said({ groups: { 'app:demo:user': { matchers } } })).toEqual([
      'groups["app:demo:user"].matchers[0].email: is not an address like ada@acme.example',
      'groups["app:demo:user"].matchers[1].email_domain: is not a domain like acme.example',
      `groups["app:demo:user"].matchers[2]: ${NONE}`,
      'groups["app:demo:user"].matchers[3].email: is missing',
      `groups["app:demo:user"].matchers[4]: ${NONE}`,
    ])
  })
})

describe('requires', () => {
  test('is not left out, nor empty', () => {
    expect(saidOfClient({ requires: undefined })).toEqual(['clients.demo.requires: is missing'])
    expect(saidOfClient({ requires: [] })).toEqual(['clients.demo.requires: is empty: nobody would be let in'])
    expect(saidOfResource({ requires: [] })).toEqual(['resources["https://api.acme.example"].requires: is empty: nobody would be let in'])
  })

  test('names declared groups, each once', () => {
    expect(saidOfClient({ requires: ['app:demo:user', 'emp:all'] })).toEqual([
      'clients.demo.requires[1]: "emp:all" is no group of this document',
    ])
    expect(saidOfClient({ requires: ['app:demo:user', 'app:demo:user'] })).toEqual([
      'clients.demo.requires[1]: "app:demo:user" is named twice',
    ])
  })
})

describe('the groups of a token', () => {
  test('are all, or declared groups, things and families', () => {
    expect(saidOfClient({ groups: 'all' })).toEqual([])
    expect(saidOfClient({ groups: ['app:demo:user'] })).toEqual([])
    expect(saidOfClient({ groups: ['demo'] })).toEqual([])
    expect(said({ groups: { ...valid.groups, 'emp:all': {}, team: {} }, clients: { demo: { ...demo, groups: ['emp', 'team'] } } })).toEqual(
      [],
    )
    for (const name of ['emp', 'app', 'app:demo', 'user', 'all'])
      expect(saidOfClient({ groups: [name] })).toEqual([`clients.demo.groups[0]: "${name}" is no group, thing or family of this document`])
    expect(saidOfClient({ groups: ['emp:all'] })).toEqual([
      'clients.demo.groups[0]: "emp:all" is no group, thing or family of this document',
    ])
    expect(saidOfClient({ groups: 'some' })).toEqual(['clients.demo.groups: is neither all nor a list of groups, things and families'])
    expect(saidOfClient({ groups: [1] })).toEqual(['clients.demo.groups[0]: is a number, not a string'])
  })

  test('are joined by what no name and no list holds', () => {
    for (const groups_delimiter of ['_', '/', '.', '__']) expect(saidOfClient({ groups_delimiter })).toEqual([])
    for (const groups_delimiter of ['', ' ', ',', ':', '"', 'a', '0', '-', '_a', 'ä', '\n', '_________']) {
      expect(saidOfClient({ groups_delimiter })[0]).toMatch(/^clients\.demo\.groups_delimiter: is not 1 to 8 printable ASCII characters/)
    }
  })

  test('stay apart when their colons are replaced', () => {
    const groups = { 'app:demo:user': {}, 'app:demo_user': {} }
    expect(said({ groups, clients: { demo: { ...demo, groups_delimiter: '_' } } })).toEqual([
      'clients.demo.groups_delimiter: makes one name of app:demo:user and app:demo_user: app_demo_user',
    ])
  })
})

test('groups_scoping is off, report or enforce, which it is when nothing is said', () => {
  for (const groups_scoping of ['off', 'report', 'enforce']) expect(said({ groups_scoping })).toEqual([])
  expect(policySchema.parse(valid).groups_scoping).toBe('enforce')
  expect(said({ groups_scoping: false })).toEqual(['groups_scoping: is none of off, report, enforce'])
})

test('signing_alg is one the service document has a ring for', () => {
  expect(saidOfClient({ signing_alg: 'RS256' })).toEqual([])
  expect(saidOfClient({ signing_alg: 'ES384' })).toEqual([
    'clients.demo.signing_alg: is ES384, and the service document has no ring for it (keyring.rings: ES256, RS256)',
  ])
  expect(saidOfResource({ signing_alg: 'ES384' })).toHaveLength(1)
  expect(saidOfClient({ signing_alg: 'HS256' })).toEqual(['clients.demo.signing_alg: is none of ES256, RS256, ES384, EdDSA'])
})

describe('the secret of a client', () => {
  const confidential = (fields: object, id = 'backend') => said({ clients: { [id]: { ...demo, kind: 'confidential', ...fields } } })

  test('is one of its two addresses', () => {
    for (const secret of ['internal/oidc/clients/backend', 'external/oidc/backend']) expect(confidential({ secret })).toEqual([])
    for (const secret of ['internal/oidc/clients/demo', 'internal/oidc/clients/backend/', 'hunter2', 'internal/oidc/state-secret']) {
      expect(confidential({ secret })).toEqual([
        'clients.backend.secret: is neither internal/oidc/clients/backend nor external/oidc/backend: it names where the secret is kept, and is never the secret',
      ])
    }
  })

  test('may be made by the issuer', () => {
    expect(confidential({ secret: { generate: true } })).toEqual([])
    expect(confidential({ secret: { generate: false } })).toEqual(['clients.backend.secret.generate: is not true'])
    for (const secret of [{}, { generate: true, length: 64 }, [], 1]) {
      expect(confidential({ secret })).toEqual([expect.stringMatching(/^clients\.backend\.secret/)])
    }
    expect(saidOfClient({ secret: { generate: true } })).toEqual([
      'clients.demo.secret: is for confidential clients: a public one can keep none',
    ])
    expect(confidential({ secret: { generate: true } }, 'a/b')).toHaveLength(1)
  })

  test('is asked of confidential clients', () => {
    expect(confidential({})).toEqual([
      'clients.backend.secret: is missing: a confidential client has one, at internal/oidc/clients/backend or external/oidc/backend, or { generate: true }',
    ])
  })

  test('is refused of public ones', () => {
    expect(saidOfClient({ secret: 'internal/oidc/clients/demo' })).toEqual([
      'clients.demo.secret: is for confidential clients: a public one can keep none',
    ])
  })

  test('is at an address the id of its client can be a part of', () => {
    expect(confidential({ secret: 'internal/oidc/clients/a/b' }, 'a/b')).toEqual([
      'clients["a/b"]: is confidential, so its id is a part of an address: letters, digits, . _ and - only',
    ])
  })
})

describe('the resource a client serves', () => {
  const API = 'https://api.acme.example'
  const server = { ...demo, kind: 'confidential', secret: 'internal/oidc/clients/server' }
  const serving = (fields: object) =>
    said({ clients: { server: { ...server, ...fields } }, resources: { [API]: { requires: ['app:demo:user'] } } })

  test('is one that is declared, as it is spelled there', () => {
    expect(serving({ resource: API })).toEqual([])
    for (const resource of [`${API}/`, 'https://other.acme.example', '', 'constructor', 'server']) {
      expect(serving({ resource })).toEqual([`clients.server.resource: ${JSON.stringify(resource)} is no resource of this document`])
    }
  })

  test('is of a client that can prove itself', () => {
    expect(serving({ resource: API, kind: 'public', secret: undefined })).toEqual([
      'clients.server.resource: is for confidential clients: it lets them introspect, which a public one can not',
    ])
  })

  test('is one, and a name', () => {
    expect(serving({ resource: [API] })).toEqual(['clients.server.resource: is a list, not a string'])
  })
})

test('a client has the device flow when it says so, yes or no', () => {
  expect(saidOfClient({ device: true })).toEqual([])
  expect(saidOfClient({ device: false })).toEqual([])
  for (const device of ['yes', 1, null, {}]) {
    expect(saidOfClient({ device })).toHaveLength(1)
    expect(saidOfClient({ device })[0]).toMatch(/^clients\.demo\.device: /)
  }
})

describe('the addresses of a client', () => {
  test('are held to the rules of its kind, each named', () => {
    expect(saidOfClient({ redirects: ['https://a.example/cb#x'], signed_out: ['javascript:/x'] })).toEqual([
      'clients.demo.redirects[0]: has a fragment (RFC 6749 section 3.1.2)',
      'clients.demo.signed_out[0]: has the scheme javascript: and is neither https nor a private-use scheme like com.acme.app:/callback (RFC 8252 section 7.1)',
    ])
    const backend = { ...demo, kind: 'confidential', secret: 'external/oidc/backend', redirects: ['com.acme.app:/cb'] }
    expect(said({ clients: { backend } })).toEqual([
      'clients.backend.redirects[0]: has a private-use scheme, which only a public client can have (RFC 8252 section 8.4)',
    ])
  })

  test('are not for both ends of a sign-in', () => {
    expect(saidOfClient({ signed_out: ['https://app.acme.example/callback'] })).toEqual([
      'clients.demo.signed_out[0]: is one of redirects too, and can be only one of the two',
    ])
  })

  test('are named once', () => {
    const redirects = ['https://app.acme.example/callback', 'https://app.acme.example/callback']
    expect(saidOfClient({ redirects })).toEqual(['clients.demo.redirects[1]: is named twice'])
  })
})

describe('what people read of a client', () => {
  test('is 80 and 200 characters at most', () => {
    expect(saidOfClient({ display_name: 'é'.repeat(80), description: '👩'.repeat(200) })).toEqual([])
    expect(saidOfClient({ display_name: 'a'.repeat(81), description: 'a'.repeat(201) })).toEqual([
      'clients.demo.display_name: is longer than 80 characters',
      'clients.demo.description: is longer than 200 characters',
    ])
  })

  test('is not blank, and holds no control or direction character', () => {
    expect(saidOfClient({ display_name: ' ' })).toEqual(['clients.demo.display_name: is blank'])
    for (const display_name of ['a\u202eb', 'a\nb', 'a\u0007b']) {
      expect(saidOfClient({ display_name })).toEqual(['clients.demo.display_name: holds a control or a text direction character'])
    }
  })
})

describe('the name of a client', () => {
  test('is printable ASCII without spaces', () => {
    for (const id of ['demo', 'https://app.acme.example/client', 'a'.repeat(200)]) expect(said({ clients: { [id]: demo } })).toEqual([])
    for (const id of ['', 'a b', 'ä', 'a\n', 'a'.repeat(201)])
      expect(said({ clients: { [id]: demo } })[0]).toMatch(/^clients(?:\[".*"\]|\.a+): is not a client id/)
  })

  test('is not one that objects keep for themselves', () => {
    const clients = JSON.parse('{"__proto__":{"kind":"public","redirects":[],"requires":["app:demo:user"]}}')
    expect(said({ clients })).toEqual(['clients.__proto__: is a name JavaScript keeps for itself'])
  })

  test('that nobody declared is nobody', () => {
    const { clients } = policySchema.parse(valid)
    expect(declared(clients, 'demo')?.kind).toBe('public')
    expect(declared(clients, 'constructor')).toBeUndefined()
    expect(declared(clients, '__proto__')).toBeUndefined()
  })
})

test('no name of a document is one that objects keep for themselves: it would be left out without a word', () => {
  const document = `{
    "vocabulary": {
      "scopes": { "app": {}, "__proto__": {} },
      "things": { "demo": { "scopes": ["app"], "roles": { "user": [], "__proto__": ["user"] } }, "__proto__": { "scopes": ["app"], "roles": {} } }
    },
    "groups": { "app:demo:user": { "matchers": [{ "github": { "repository": "acme/x", "__proto__": "main" } }] } }
  }`
  expect(said(JSON.parse(document)).map((line) => line.replace(': is a name JavaScript keeps for itself', ''))).toEqual([
    'vocabulary.scopes.__proto__',
    'vocabulary.things.__proto__',
    'vocabulary.things.demo.roles.__proto__',
    'groups["app:demo:user"].matchers[0].github.__proto__',
  ])
})

describe('a resource', () => {
  test('is an absolute URI without a fragment', () => {
    for (const id of ['https://api.acme.example', 'https://api.acme.example/v1?x', 'urn:acme:api'])
      expect(saidOfResource({}, id)).toEqual([])
    for (const id of ['api', '/api', 'https://api.acme.example/#x', 'https:', 'https://a b']) {
      expect(saidOfResource({}, id)[0]).toMatch(/^resources(\.api|\[".*"\]): is not a resource: an absolute URI without a fragment/)
    }
  })

  test('stretches a sign-in by a week at most', () => {
    expect(saidOfResource({ absolute_cap: '168h' })).toEqual([])
    expect(saidOfResource({ absolute_cap: '168h', read_only: true })).toEqual([])
    expect(saidOfResource({ read_only: 'yes' })).toEqual(['resources["https://api.acme.example"].read_only: is a string, not a boolean'])
    expect(saidOfResource({ absolute_cap: '169h' })).toEqual(['resources["https://api.acme.example"].absolute_cap: is over 168h'])
  })

  test('has no name a client has', () => {
    const id = 'https://app.acme.example/client'
    expect(said({ clients: { [id]: demo }, resources: { [id]: { requires: ['app:demo:user'] } } })).toEqual([
      'resources["https://app.acme.example/client"]: is the id of a client too: a token for the one would do for the other',
    ])
  })
})

describe('lifetimes', () => {
  test('fit into the absolute one', () => {
    expect(said({ lifetimes: { token: '1h', refresh: '1h', absolute: '1h' } })).toEqual([])
    expect(said({ lifetimes: { token: '2h', refresh: '2h', absolute: '1h' } })).toEqual([
      'lifetimes.token: is longer than absolute: it would outlive its sign-in',
      'lifetimes.refresh: is longer than absolute: it would outlive its sign-in',
    ])
    expect(said({ lifetimes: { absolute: '2h' } })).toEqual(['lifetimes: refresh is longer than absolute: it would outlive its sign-in'])
  })

  test('are durations', () => {
    expect(said({ lifetimes: { token: 3600 } })).toEqual(['lifetimes.token: is not a duration like 90s, 15m, 12h or 30d'])
  })
})

test('the operators of the console are declared groups', () => {
  expect(said({ console: { operators: [] } })).toEqual([])
  expect(said({ console: { operators: ['app:demo:user'] } })).toEqual([])
  expect(said({ console: { operators: ['emp:all'] } })).toEqual(['console.operators[0]: "emp:all" is no group of this document'])
})
