import { describe, expect, it } from 'vitest'
import type { Rev } from '../../ports/state.ts'
import { isRev, memberItem, readHead, readMember, readRecord, recordItem } from './item.ts'

const record = { pk: 'token', sk: 'j1', lkey: 'tok.j1', v: 'eA==', rev: '18446744073709551615' as Rev, expires: 1_800_000_000 }
const item = recordItem(record)

describe('items of the layout', () => {
  it('a record has the attributes of the layout and no other, and none for a lifetime that has no end', () => {
    expect(item).toEqual({
      pk: { S: 'token' },
      sk: { S: 'j1' },
      lkey: { S: 'tok.j1' },
      v: { B: 'eA==' },
      rev: { N: '18446744073709551615' },
      expires: { N: '1800000000' },
    })
    expect(recordItem({ ...record, expires: null })).not.toHaveProperty('expires')
  })

  it('a member has no value and says what it is', () => {
    const member = { pk: 'sso-of', sk: 'ada/s1', lkey: 'issuer:sso-of:ada', expires: null }
    const { v: _, ...rest } = item
    expect(memberItem({ ...member, expires: 1_800_000_000 }, record.rev)).toEqual({
      ...rest,
      pk: { S: 'sso-of' },
      sk: { S: 'ada/s1' },
      lkey: { S: 'issuer:sso-of:ada' },
      k: { S: 'i' },
    })
    expect(readMember(memberItem(member, record.rev))).toEqual(member)
  })

  it('what was written is read, and attributes of others are passed over', () => {
    expect(readRecord({ ...item, later: { M: {} } })).toEqual(record)
    expect(readHead(item)).toEqual({ rev: record.rev, expires: record.expires })
    expect(readMember(item)).toBeNull()
  })

  it.each(['pk', 'sk', 'lkey', 'v', 'rev'])('an item without %s is no record', (name) => {
    const { [name]: _, ...without } = item
    expect(readRecord(without)).toBeNull()
  })

  it.each([
    ['a value that is text', { v: { S: 'x' } }],
    ['a revision that is text', { rev: { S: '7' } }],
    ['a revision of 0', { rev: { N: '0' } }],
    ['a revision over 64 bits', { rev: { N: '18446744073709551616' } }],
    ['a lifetime that is text', { expires: { S: 'soon' } }],
    ['a lifetime that is no whole second', { expires: { N: '1800000000.5' } }],
    ['a lifetime before 1970', { expires: { N: '-1' } }],
    ['a key that is a number', { sk: { N: '1' } }],
    ['a mark of a member', { k: { S: 'i' } }],
    ['a mark of something else', { k: { N: '1' } }],
    ['an attribute that is none', { lkey: null }],
  ])('an item with %s is no record', (_, broken) => {
    expect(readRecord({ ...item, ...broken })).toBeNull()
  })

  it.each([undefined, null, 'text', 7, []])('%j is no record', (found) => {
    expect(readRecord(found)).toBeNull()
    expect(readMember(found)).toBeNull()
    expect(readHead(found)).toBeNull()
  })

  it('a revision is a uint64 above 0, in the one spelling', () => {
    expect(['1', '9007199254740993', '18446744073709551615'].every(isRev)).toBe(true)
    expect(['', '0', '01', '-1', '+1', '1.0', '1e3', ' 1', '18446744073709551616', '99999999999999999999'].some(isRev)).toBe(false)
  })
})
