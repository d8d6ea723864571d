import { describe, expect, it } from 'vitest'
import { assertedClaims, personClaims, type Subject } from './claims.ts'

const ada: Subject = { identity: 'ada@acme.example', given_name: 'Ada', family_name: 'Lovelace', groups: ['app:demo:user'] }

describe('OIDC Core 5.4: a scope asserts', () => {
  it.each<[string, string[], string[]]>([
    ['nothing by itself but the groups', ['openid', 'offline_access'], ['groups']],
    ['profile: names', ['profile'], ['family_name', 'given_name', 'groups', 'name', 'preferred_username']],
    ['email: the address', ['email'], ['email', 'email_verified', 'groups']],
    ['what several do, together', ['profile', 'email'], [...personClaims].sort()],
    ['nothing when it is none', ['address', 'constructor'], ['groups']],
  ])('%s', (_what, scopes, names) => {
    expect(Object.keys(assertedClaims(ada, scopes)).sort()).toEqual(names)
  })
})

describe('OIDC Core 5.5: a claim asked for by name is asserted', () => {
  it('beside those of the scopes', () => {
    expect(assertedClaims(ada, ['openid'], ['email', 'name'])).toEqual({
      groups: ['app:demo:user'],
      email: ada.identity,
      name: 'Ada Lovelace',
    })
  })

  it('only when there is such a claim', () => {
    expect(assertedClaims(ada, [], ['phone_number', 'constructor', '__proto__', 'sub'])).toEqual({ groups: ['app:demo:user'] })
  })
})

describe('OIDC Core 5.3.2: a claim without a value is left out', () => {
  it.each<[string, Partial<Subject>, Record<string, unknown>]>([
    ['no family name', { family_name: undefined }, { name: 'Ada', given_name: 'Ada' }],
    ['no given name', { given_name: undefined }, { name: 'Lovelace', family_name: 'Lovelace' }],
    ['no name', { given_name: undefined, family_name: undefined }, {}],
    ['names that are empty, as a directory may have them', { given_name: '', family_name: '' }, {}],
  ])('%s', (_what, changes, names) => {
    expect(assertedClaims({ ...ada, ...changes }, ['profile'])).toEqual({ groups: ada.groups, preferred_username: ada.identity, ...names })
  })

  it('of a subject that is no address, the mail and the user name', () => {
    const machine: Subject = { identity: 'github:acme/deploy', groups: [] }
    expect(assertedClaims(machine, ['profile', 'email'])).toEqual({ groups: [] })
  })

  it('but groups are asserted also when there are none: that is an answer', () => {
    expect(assertedClaims({ ...ada, groups: [] }, [])).toEqual({ groups: [] })
  })
})
