import { describe, expect, it } from 'vitest'
import { type Policy, policySchema } from '../config/policy.ts'
import { admits, audienceOf } from './admission.ts'

const API = 'https://api.acme.example/v1'

const policy: Policy = policySchema.parse({
  version: 1,
  groups: {},
  clients: { app: { kind: 'public', redirects: [], requires: ['app:a:user', 'app:a:admin'] } },
  resources: { [API]: { requires: ['app:api:user'] } },
})

describe('the audience of a grant', () => {
  it('is the client, and the resource when one was named', () => {
    expect(audienceOf(policy, 'app', undefined)).toEqual({ clientId: 'app', client: policy.clients.app })
    expect(audienceOf(policy, 'app', API)).toMatchObject({ clientId: 'app', resourceId: API, resource: { requires: ['app:api:user'] } })
  })

  it.each([
    ['the client', 'gone', undefined],
    ['the resource', 'app', 'https://api.acme.example/'],
    ['what every object has', 'constructor', undefined],
    ['what every object has, as a resource', 'app', 'toString'],
  ])('is nobody when %s is not in the policy', (_what, client, resource) => {
    expect(audienceOf(policy, client, resource)).toBeNull()
  })
})

describe('a person is admitted', () => {
  it.each<[boolean, string, string[], string | undefined]>([
    [true, 'with one of the groups that the client requires', ['app:a:admin', 'emp:all'], undefined],
    [false, 'without any of them', ['emp:all'], undefined],
    [false, 'with no group at all', [], undefined],
    [false, 'with a group that begins like one', ['app:a:user:x', 'app:a'], undefined],
    [true, 'with one of the client’s and one of the resource’s', ['app:a:user', 'app:api:user'], API],
    [false, 'with one of the client’s only', ['app:a:user'], API],
    [false, 'with one of the resource’s only', ['app:api:user'], API],
  ])('%s: %s', (admitted, _what, held, resource) => {
    const audience = audienceOf(policy, 'app', resource)
    expect(audience && admits(audience, held)).toBe(admitted)
  })

  it('never where nothing is required: an empty list lets nobody in', () => {
    const [client] = Object.values(policy.clients)
    expect(client && admits({ clientId: 'app', client: { ...client, requires: [] } }, ['app:a:user'])).toBe(false)
  })
})
