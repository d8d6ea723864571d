import { describe, expect, test } from 'vitest'
import { policySchema } from './policy.ts'
import { policyProblems } from './policy-problems.ts'
import { formatProblem } from './problems.ts'

const TEAM = { members: ['team@acme.example'] }

/** dev and test, and prod, which is sensitive; k8s everywhere with a ladder of roles, ssh with a role of one scope. */
const vocabulary = {
  scopes: { dev: {}, test: { description: 'Before production' }, prod: { sensitive: true } },
  things: {
    k8s: { scopes: ['dev', 'test', 'prod'], roles: { admin: ['operator'], operator: ['viewer'], viewer: [] } },
    ssh: { scopes: ['dev', 'prod'], roles: { user: { scopes: ['dev'] }, root: { scopes: ['prod'] } } },
  },
}

function said(groups: object, fields: object = { vocabulary }): string[] {
  return policyProblems({ version: 1, groups, clients: {}, ...fields }, { rings: undefined, issuer: undefined }).map(formatProblem)
}

/** The groups that rows come to. */
function groupsOf(groups: object): string[] {
  expect(said(groups)).toEqual([])
  return Object.keys(policySchema.parse({ version: 1, groups, clients: {}, vocabulary }).groups).sort()
}

describe('under a vocabulary a group', () => {
  test('is what it has, or of a family', () => {
    expect(said({ 'prod:k8s:admin': TEAM, 'dev:ssh:user': TEAM, 'emp:all': TEAM, 'rung:senior:x': TEAM })).toEqual([])
  })

  test.each([
    ['team', 'is neither <scope>:<thing>:<role> nor of a family (emp:, rung:): a vocabulary has no other groups'],
    ['dev:k8s', 'is neither <scope>:<thing>:<role> nor of a family (emp:, rung:): a vocabulary has no other groups'],
    ['dev:k8s:admin:x', 'is neither <scope>:<thing>:<role> nor of a family (emp:, rung:): a vocabulary has no other groups'],
    ['emp', 'is neither <scope>:<thing>:<role> nor of a family (emp:, rung:): a vocabulary has no other groups'],
    ['stage:k8s:admin', 'has the scope stage, which the vocabulary does not'],
    ['constructor:k8s:admin', 'has the scope constructor, which the vocabulary does not'],
    ['dev:grafana:admin', 'has the thing grafana, which the vocabulary does not'],
    ['test:ssh:user', 'is in the scope test, and ssh is in dev, prod'],
    ['dev:k8s:adimn', 'has the role adimn, and the roles of k8s are admin, operator, viewer'],
    ['prod:ssh:user', 'is in the scope prod, and the role user of ssh is in dev'],
  ])('is not %s', (name, message) => {
    expect(said({ [name]: TEAM })).toEqual([`groups${/^\w+$/.test(name) ? `.${name}` : `["${name}"]`}: ${message}`])
  })

  test('is not judged by one that can not be read, of which it is said what is wrong', () => {
    const fields = { vocabulary: { ...vocabulary, scopes: [] }, console: { operators: ['dev:k8s:viewer'] } }
    expect(said({ 'dev:k8s:admin': TEAM, '*:k8s:admin': TEAM }, fields)).toEqual(['vocabulary.scopes: is a list, not a mapping'])
  })
})

describe('a wildcard', () => {
  test('stands for every scope of its thing, and every thing of its scope, that has the role', () => {
    expect(groupsOf({ '*:k8s:viewer': TEAM })).toEqual(['dev:k8s:viewer', 'test:k8s:viewer'])
    expect(groupsOf({ 'dev:*:user': TEAM })).toEqual(['dev:ssh:user'])
    expect(groupsOf({ '*:*:user': TEAM, '*:*:viewer': TEAM })).toEqual(['dev:k8s:viewer', 'dev:ssh:user', 'test:k8s:viewer'])
  })

  test('adds to the rows of the groups it stands for, and of two lifetimes the shorter counts', () => {
    const groups = {
      'dev:k8s:viewer': { ...TEAM, description: 'Who looks on', lifetime: '2h' },
      '*:k8s:viewer': { members: ['team@acme.example', 'all@acme.example'], matchers: [{ email: 'ada@acme.example' }], lifetime: '1h' },
    }
    const policy = policySchema.parse({ version: 1, groups, clients: {}, vocabulary })
    expect(policy.groups['dev:k8s:viewer']).toEqual({
      description: 'Who looks on',
      members: ['team@acme.example', 'all@acme.example'],
      matchers: [{ email: 'ada@acme.example' }],
      lifetime: 3_600,
    })
  })

  test.each([
    ['dev:k8s:*', 'has a * for its role, which is always named'],
    ['*:*:*', 'has a * for its role, which is always named'],
    ['*', 'has a * and is not <scope>:<thing>:<role>'],
    ['dev:*', 'has a * and is not <scope>:<thing>:<role>'],
    ['emp:*:x', 'has a * and is not <scope>:<thing>:<role>'],
    ['stage:*:admin', 'has the scope stage, which the vocabulary does not'],
    ['*:grafana:admin', 'has the thing grafana, which the vocabulary does not'],
    ['*:k8s:user', 'stands for nothing: there is no role user'],
    ['test:*:user', 'stands for nothing: there is no role user'],
    ['*:ssh:root', 'stands for nothing: all it could be is in sensitive scopes, which no wildcard reaches'],
    ['prod:*:admin', 'stands for nothing: all it could be is in sensitive scopes, which no wildcard reaches'],
  ])('is not %s', (name, message) => {
    expect(said({ [name]: TEAM })).toEqual([expect.stringMatching(/^groups(\["[^"]*"\]): /)])
    expect(said({ [name]: TEAM })[0]?.endsWith(`: ${message}`)).toBe(true)
  })

  test('wants a vocabulary, and is no part of a segment', () => {
    expect(said({ '*:k8s:admin': TEAM }, {})).toEqual(['groups["*:k8s:admin"]: has a *, which only a document with a vocabulary can have'])
    expect(said({ 'dev:k*:admin': TEAM })[0]).toMatch(/^groups\["dev:k\*:admin"\]: is not a group name/)
  })

  test('stands in the name of a row only', () => {
    expect(said({ '*:k8s:admin': TEAM }, { vocabulary, console: { operators: ['*:k8s:admin'] } })).toEqual([
      'console.operators[0]: "*:k8s:admin" has a *, which only the name of a row of groups can have',
    ])
  })
})

describe('what a role implies', () => {
  test('is there as a group, without a row of its own, and may be required', () => {
    expect(groupsOf({ 'prod:k8s:admin': TEAM })).toEqual(['prod:k8s:admin', 'prod:k8s:operator', 'prod:k8s:viewer'])
    expect(said({ 'prod:k8s:admin': TEAM }, { vocabulary, console: { operators: ['prod:k8s:viewer'] } })).toEqual([])
  })

  test('is in the same scope, and downwards only', () => {
    const policy = policySchema.parse({ version: 1, groups: { '*:k8s:operator': TEAM, 'dev:k8s:viewer': {} }, clients: {}, vocabulary })
    expect(policy.groups['dev:k8s:operator']?.implies).toEqual(['dev:k8s:viewer'])
    expect(policy.groups['dev:k8s:viewer']).toEqual({ members: [], matchers: [] })
    expect(policy.groups['dev:k8s:admin']).toBeUndefined()
  })
})

describe('a matcher', () => {
  const saidOf = (matcher: object) =>
    said({ 'a:b:c': { matchers: [matcher] } }, {}).map((line) => line.replace('groups["a:b:c"].matchers[0]', ''))

  test.each<[object]>([
    [{ account: 'recovery' }],
    [{ account: 'conformance' }],
    [{ github: { repository: 'acme/*', ref: 'refs/heads/main' } }],
    [{ github: { repository_owner: 'acme', environment: '*' } }],
    [{ service_account: { namespace: 'ci', name: 'deployer' } }],
    [{ service_account: { namespace: 'ci', name: 'deployer', cluster: 'prod-1' } }],
    [{ aws: { account: '123456789012', role: 'deployer' } }],
    [{ aws: { account: '123456789012', role: 'deployer', path: '/teams/a/', function: 'deploy', org_id: 'o-a1b2c3d4e5' } }],
  ])('may be %j', (matcher) => {
    expect(saidOf(matcher)).toEqual([])
  })

  test.each<[object, string]>([
    [{ account: 'ada' }, '.account: is none of recovery, conformance'],
    [{ github: { repository: 'acme/[' } }, '.github.repository: has a [ that begins no class like [abc], [a-z] or [^a-z]'],
    [{ github: { repository: '' } }, '.github.repository: is empty: it would match nothing'],
    [{ github: { Repository: 'acme/x' } }, '.github.Repository: is not the name of a claim: lower-case letters, digits and _'],
    [{ github: { repository: ['acme/x'] } }, '.github.repository: is a list, not a string'],
    [{ service_account: { namespace: 'ci' } }, '.service_account.name: is missing'],
    [
      { service_account: { namespace: '*', name: 'x' } },
      '.service_account.namespace: is not a name Kubernetes takes: lower-case letters, digits, inner dashes and dots',
    ],
    [{ aws: { account: 123456789012, role: 'x' } }, '.aws.account: is a number, not a string'],
    [{ aws: { account: '1', role: 'x' } }, '.aws.account: is not the number of an AWS account: 12 digits, in quotes'],
    [{ aws: { account: '123456789012', role: '*' } }, '.aws.role: is not a name AWS takes: 1 to 64 letters, digits and _ + = , . @ -'],
    [{ aws: { account: '123456789012', role: 'x', path: 'teams' } }, '.aws.path: is not a path of a role, like /teams/'],
    [
      { aws: { account: '123456789012', role: 'x', org_id: 'acme' } },
      '.aws.org_id: is not the id of an AWS organization, like o-a1b2c3d4e5',
    ],
    [{ email_domain: 'com' }, '.email_domain: is not a domain like acme.example'],
    [{ email_domain: '*' }, '.email_domain: is not a domain like acme.example'],
  ])('is not %j', (matcher, message) => {
    expect(saidOf(matcher)).toEqual([message])
  })

  test.each([[{}], [{ repository: '*/*' }], [{ repository: '*', ref: '**' }], [{ repository: '?*/[^x]*' }]])(
    'that matches everybody is refused: github %j',
    (github) => {
      expect(saidOf({ github })).toEqual(['.github: matches everybody: it holds no claim to anything'])
    },
  )
})

describe('a vocabulary', () => {
  const saidOf = (fields: object) => said({}, { vocabulary: { ...vocabulary, ...fields } }).map((line) => line.replace(/^vocabulary\./, ''))
  const withRoles = (roles: object, scopes = ['dev', 'prod']) => saidOf({ things: { k8s: { scopes, roles } } })

  test('may say its roles for short, or in full', () => {
    expect(withRoles({ a: ['b'], b: { implies: ['c'], description: 'Two' }, c: { scopes: ['dev', 'prod'] } })).toEqual([])
  })

  test('names the circle in which roles imply each other, once', () => {
    expect(withRoles({ a: ['a'] })).toEqual(['things.k8s.roles.a: implies itself: a > a'])
    expect(withRoles({ x: ['a'], a: ['b'], b: ['c'], c: { implies: ['a'] } })).toEqual([
      'things.k8s.roles.a: implies itself: a > b > c > a',
    ])
    expect(withRoles({ a: ['b'], b: ['a'], c: ['d'], d: ['c'] })).toHaveLength(2)
  })

  test.each<[object, string[]]>([
    [{ a: ['b'] }, ['things.k8s.roles.a[0]: "b" is no role of its thing']],
    [{ a: { implies: ['toString'] } }, ['things.k8s.roles.a.implies[0]: "toString" is no role of its thing']],
    [{ a: ['b', 'b'], b: [] }, ['things.k8s.roles.a[1]: "b" is named twice']],
    [{ a: { scopes: ['test'] } }, ['things.k8s.roles.a.scopes[0]: "test" is no scope of its thing']],
    [{ a: { scopes: [] } }, ['things.k8s.roles.a.scopes: names no scope of its thing']],
    [
      { a: ['b'], b: { scopes: ['dev'] } },
      ['things.k8s.roles.a[0]: is not in the scope prod, which a is in: it would imply nothing there'],
    ],
    [{}, ['things.k8s.roles: names no role']],
    [{ a: null }, ['things.k8s.roles.a: is empty, not a mapping']],
  ])('is refused for the roles %j', (roles, lines) => {
    expect(withRoles(roles)).toEqual(lines)
  })

  test('has things in scopes it has, each once', () => {
    expect(withRoles({ a: [] }, [])).toEqual(['things.k8s.scopes: names no scope of this vocabulary'])
    expect(withRoles({ a: [] }, ['dev', 'stage', 'dev'])).toEqual([
      'things.k8s.scopes[1]: "stage" is no scope of this vocabulary',
      'things.k8s.scopes[2]: "dev" is named twice',
    ])
  })

  test('has no thing and no scope by the name of a family', () => {
    expect(saidOf({ scopes: { emp: {} }, things: { rung: { scopes: ['emp'], roles: { a: [] } } } })).toEqual([
      'scopes.emp: is the name of a family of groups, which is of no thing and no scope',
      'things.rung: is the name of a family of groups, which is of no thing and no scope',
    ])
  })

  test('knows no other field', () => {
    expect(saidOf({ scopes: { dev: { secret: true }, prod: { sensitive: 'yes' } } })).toEqual([
      'scopes.dev.secret: is not a field this version knows',
      'scopes.prod.sensitive: is a string, not a boolean',
    ])
  })
})
