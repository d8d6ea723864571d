import { describe, expect, test } from 'vitest'
import { writtenPolicySchema } from './policy.ts'
import { policyWarnings } from './policy-warnings.ts'
import { formatProblem } from './problems.ts'

const API = 'https://api.acme.example'
const demo = { kind: 'public', redirects: [], requires: ['app:demo:user'] }
const TEAM = { members: ['team@acme.example'] }
const valid = { version: 1, groups: { 'app:demo:user': TEAM }, clients: { demo } }
const service = { signin: { picker: false, providers: {}, conformance: false } }

const vocabulary = {
  scopes: { app: {}, prod: { sensitive: true } },
  things: { demo: { scopes: ['app', 'prod'], roles: { user: [], admin: ['user'] } }, other: { scopes: ['app'], roles: { user: [] } } },
}

function warned(fields: object, beside: Parameters<typeof policyWarnings>[1] = service): string[] {
  return policyWarnings(writtenPolicySchema.parse({ ...valid, ...fields }), beside).map(formatProblem)
}

describe('a group nothing consumes', () => {
  const groups = { 'app:demo:user': TEAM, 'app:demo:admin': TEAM, 'app:other:user': TEAM, 'emp:all': TEAM }
  const message = 'is declared, and no client, resource or console asks for it'

  test('is warned about', () => {
    expect(warned({ groups })).toEqual([`groups["app:other:user"]: ${message}`, `groups["emp:all"]: ${message}`])
  })

  test('is not one a token, a resource or the console names', () => {
    const resources = { [API]: { requires: ['app:other:user'] } }
    expect(warned({ groups, resources, console: { operators: ['emp:all'] } })).toEqual([])
    expect(warned({ groups, clients: { demo: { ...demo, groups: 'all' } } })).toEqual([])
  })

  test('is one that a list of names leaves out, though it is of the thing required', () => {
    const clients = { demo: { ...demo, groups: ['emp:all', 'app:other:user'] } }
    expect(warned({ groups, clients })).toEqual([`groups["app:demo:admin"]: ${message}`])
  })

  test('is not one of a thing or a family that a list names', () => {
    expect(warned({ groups, clients: { demo: { ...demo, groups: ['emp', 'other', 'demo'] } } })).toEqual([])
  })

  test('is not one whose role implies what is asked for, nor a wildcard that reaches it', () => {
    const clients = { demo: { ...demo, groups: ['app:demo:user'] } }
    expect(warned({ vocabulary, clients, groups: { 'app:demo:admin': TEAM } })).toEqual([])
    expect(warned({ vocabulary, clients, groups: { '*:demo:admin': TEAM, '*:other:user': TEAM } })).toEqual([
      `groups["*:other:user"]: ${message}`,
    ])
  })

  test('is none where every token names everything', () => {
    expect(warned({ groups, groups_scoping: 'off' })).toEqual([])
    expect(warned({ groups, groups_scoping: 'report' })).toHaveLength(2)
  })
})

test('what nobody can be let into is warned about, unless a role that somebody can have implies what it requires', () => {
  const message = 'clients.demo.requires: lets nobody in: no group of it has members or matchers'
  expect(warned({ groups: { 'app:demo:user': {} } })).toEqual([message])
  expect(warned({ vocabulary, groups: { 'app:demo:user': {}, 'app:demo:admin': TEAM } })).toEqual([])
  expect(warned({ vocabulary, groups: { 'app:demo:user': {}, 'prod:demo:admin': TEAM, 'app:demo:admin': {} } })).toContain(message)
})

test('a list of groups is warned about where every token names everything', () => {
  expect(warned({ groups_scoping: 'off', clients: { demo: { ...demo, groups: ['demo'] } } })).toEqual([
    'clients.demo.groups: is read by nobody: groups_scoping is off',
  ])
})

test('a limit of a resource that does nothing is warned about', () => {
  const resource = (fields: object) => warned({ resources: { [API]: { requires: ['app:demo:user'], ...fields } } })
  expect(resource({ absolute_cap: '24h' })).toEqual([])
  expect(resource({ absolute_cap: '168h', read_only: true })).toEqual([])
  expect(resource({ absolute_cap: '168h' })).toEqual([
    `resources["${API}"].absolute_cap: is longer than lifetimes.absolute, and does nothing without read_only: true`,
  ])
  expect(resource({ read_only: true })).toEqual([`resources["${API}"].read_only: does nothing without an absolute_cap`])
})

test('an account that the service document does not have is warned about', () => {
  const groups = { 'app:demo:user': { matchers: [{ account: 'recovery' }, { account: 'conformance' }] } }
  expect(warned({ groups })).toEqual([
    'groups["app:demo:user"].matchers[0]: matches nobody: the service document has no account recovery',
    'groups["app:demo:user"].matchers[1]: matches nobody: the service document has no account conformance',
  ])
  expect(warned({ groups }, { recovery: { generation: 1 }, signin: { ...service.signin, conformance: true } })).toEqual([])
})
