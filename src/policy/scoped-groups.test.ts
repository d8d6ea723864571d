import { describe, expect, it } from 'vitest'
import type { Client } from '../config/policy.ts'
import { scopedGroups } from './scoped-groups.ts'

const HELD = ['app:api:admin', 'app:api:user', 'app:other:user', 'emp:all', 'k8s:api:user', 'team']

function audience(shape: Partial<Client>): Client {
  return { kind: 'public', redirects: [], signed_out: [], device: false, requires: ['app:api:user'], ...shape }
}

describe('a token names of the groups held', () => {
  it.each<[string, Partial<Client>, string[]]>([
    ['those that share scope and thing with one that is required', {}, ['app:api:admin', 'app:api:user']],
    ['those of several things', { requires: ['app:other:admin', 'k8s:api:x'] }, ['app:other:user', 'k8s:api:user']],
    ['one of two segments, where that one is required', { requires: ['emp:all'] }, ['emp:all']],
    ['one of one segment, where that one is required', { requires: ['team'] }, ['team']],
    ['none that shares the scope alone', { requires: ['app'] }, []],
    ['every one', { groups: 'all' }, HELD],
    ['those of a list, also such as are not required', { groups: ['emp:all', 'app:other:user'] }, ['app:other:user', 'emp:all']],
    ['none of a list that is not held', { groups: ['app:secret:user'] }, []],
    ['none of an empty list', { groups: [] }, []],
  ])('%s', (_what, shape, named) => {
    expect(scopedGroups(audience(shape), HELD)).toEqual(named)
  })

  it('all of them with the delimiter in place of every colon, and of nothing else', () => {
    const named = scopedGroups(audience({ groups: 'all', groups_delimiter: '$&' }), ['app:a-b:user', 'x/y'])
    expect(named).toEqual(['app$&a-b$&user', 'x/y'])
  })
})
