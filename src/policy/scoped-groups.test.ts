import { describe, expect, it } from 'vitest'
import { type Client, policySchema } from '../config/policy.ts'
import { scopedGroups } from './scoped-groups.ts'

const HELD = ['app:api:admin', 'app:api:user', 'app:other:user', 'emp:all', 'k8s:api:user', 'rung:api:x', 'team']

function audience(shape: Partial<Client>): Client {
  return { kind: 'public', redirects: [], signed_out: [], device: false, requires: ['app:api:user'], ...shape }
}

function scoped(shape: Partial<Client>, fields: object = {}, held = HELD) {
  const groups = Object.fromEntries(held.map((name) => [name, {}]))
  return scopedGroups(policySchema.parse({ version: 1, groups, clients: {}, ...fields }), audience(shape), held)
}

describe('a token names of the groups held', () => {
  it.each<[string, Partial<Client>, string[]]>([
    ['those that share scope and thing with one that is required', {}, ['app:api:admin', 'app:api:user']],
    ['those of several things', { requires: ['app:other:admin', 'k8s:api:x'] }, ['app:other:user', 'k8s:api:user']],
    ['one of two segments, where that one is required', { requires: ['emp:all'] }, ['emp:all']],
    ['one of one segment, where that one is required', { requires: ['team'] }, ['team']],
    ['none that shares the scope alone', { requires: ['app'] }, []],
    ['none of a family that shares two segments', { requires: ['rung:api:y'] }, []],
    ['every one', { groups: 'all' }, HELD],
    ['those of a list, also such as are not required', { groups: ['emp:all', 'app:other:user'] }, ['app:other:user', 'emp:all']],
    ['those of a thing of the list, in every scope', { groups: ['api'] }, ['app:api:admin', 'app:api:user', 'k8s:api:user']],
    ['those of a family of the list', { groups: ['emp', 'rung'] }, ['emp:all', 'rung:api:x']],
    ['none of a list that is not held', { groups: ['app:secret:user'] }, []],
    ['none of an empty list', { groups: [] }, []],
  ])('%s', (_what, shape, named) => {
    expect(scoped(shape)).toEqual({ groups: named, unscoped: 0 })
  })

  it('one whose name a list has, and not the thing of that name', () => {
    expect(scoped({ groups: ['team'] }, {}, ['app:team:user', 'team']).groups).toEqual(['team'])
  })

  it('all of them with the delimiter in place of every colon, and of nothing else', () => {
    const { groups } = scoped({ groups: 'all', groups_delimiter: '$&' }, {}, ['app:a-b:user', 'x/y'])
    expect(groups).toEqual(['app$&a-b$&user', 'x/y'])
  })
})

describe('groups_scoping', () => {
  it('off: a token names every one, whatever is required or listed', () => {
    for (const shape of [{}, { groups: [] }]) expect(scoped(shape, { groups_scoping: 'off' })).toEqual({ groups: HELD, unscoped: 0 })
  })

  it('report: a token names every one, and those that enforce would leave out are counted', () => {
    expect(scoped({}, { groups_scoping: 'report' })).toEqual({ groups: HELD, unscoped: 5 })
    expect(scoped({ groups: 'all' }, { groups_scoping: 'report' })).toEqual({ groups: HELD, unscoped: 0 })
    expect(scoped({ groups_delimiter: '.' }, { groups_scoping: 'report' }).groups).toContain('app.other.user')
  })
})
