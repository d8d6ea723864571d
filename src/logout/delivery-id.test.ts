import { describe, expect, it } from 'vitest'
import { keys, personId } from '../ports/keys.ts'
import { deliveryIdOf, rowKeyOf } from './delivery-id.ts'

describe('a delivery id', () => {
  it.each([
    ['ada@acme.example', 's1', 'web'],
    ['ada', 'a.b', 'https://rp.example/~x'],
    ['ñandú@пример.example', '_-', 'ключ'],
  ])('of %s, %s and %s leads back to its row', (person, sid, client) => {
    const key = keys.logout(personId(person), sid, client)
    expect(deliveryIdOf(key)).toMatch(/^[A-Za-z0-9_-]+$/)
    expect(rowKeyOf(deliveryIdOf(key))).toBe(key)
  })

  it.each([
    ['another kind of record', 'ses.ada.s1.web'],
    ['an ending', 'logout-due.e1'],
    ['a pointer', 'logout-of.s1'],
    ['too few names', 'logout.ada.s1'],
    ['too many', 'logout.ada.s1.web.more'],
    ['an empty person', 'logout..s1.web'],
    ['an empty session', 'logout.ada..web'],
    ['an empty client', 'logout.ada.s1.'],
    ['a person in another case', 'logout.Ada.s1.web'],
    ['an escape that need not be', 'logout.~61da.s1.web'],
    ['a name that is not escaped', 'logout.ada.s1.web/app'],
    ['a prefix of another case', 'Logout.ada.s1.web'],
    ['nothing', ''],
  ])('of %s is of no row', (_what, key) => {
    expect(rowKeyOf(deliveryIdOf(key))).toBeNull()
  })

  it.each(['logout.ada.s1.web', 'bG9n=', '%', ' ', '_w', `${deliveryIdOf('logout.ada.s1.web')}\n`])(
    'that is not one (%j) is of no row',
    (id) => {
      expect(rowKeyOf(id)).toBeNull()
    },
  )
})
