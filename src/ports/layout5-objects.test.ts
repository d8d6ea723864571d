import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  locate,
  locateMembers,
  locateOrNull,
  locatePrefix,
  locateSet,
  objectName,
  shardOf,
  shardOfSegment,
  shardsOf,
  tableName,
} from './layout5.ts'

const numbered = Array.from({ length: 16 }, (_, shard) => String(shard))

describe('the shard of a segment', () => {
  // FNV-1a of '', 'a' and 'foobar' with 32 bits is 811c9dc5, e40c292c and bf9cf968.
  it.each([
    ['', 5],
    ['a', 12],
    ['foobar', 8],
    ['é', 1],
    ['ada~40acme~2Eexample', 14],
  ])('of "%s" is %i', (segment, shard) => {
    expect(shardOfSegment(segment)).toBe(shard)
  })

  it('is one of sixteen, and all of them come up', () => {
    expect(new Set(Array.from({ length: 500 }, (_, at) => shardOfSegment(`s${at}`))).size).toBe(16)
  })
})

describe('the object of a row', () => {
  it.each([
    ['ses.ada.s1', 'sluis-acme-oidc/11'],
    ['ses.ada.s2', 'sluis-acme-oidc/11'],
    ['logout.ada.s1.web', 'sluis-acme-oidc/11'],
    ['issuer:held:ada@acme.example', 'sluis-acme-oidc/7'],
    ['keyring.ES256:kid1', 'sluis-acme-oidc/small'],
    ['logout-due.e1', 'sluis-acme-oidc/small'],
    ['dedupe.ops-n1', 'sluis-acme-oidc/small'],
  ])('of %s is %s', (key, object) => {
    expect(objectName(tableName('acme', 'oidc'), locate(key))).toBe(object)
  })

  const grow = ['req.a-r', 'par.p', 'code.c', 'issuer:code-spent:h', 'ses.p.s', 'sid.s', 'rt.h', 'tok.j', 'sso.i', 'issuer:sso-cookie:h']
  it.each([...grow, 'srp.h', 'issuer:held:p', 'logout.p.s.c', 'logout-of.s', 'gh.link.1', 'cache.slack.user.T.U'])(
    'is a numbered shard for the growing kind of %s',
    (key) => {
      expect(locate(key).grows).toBe(true)
      expect(numbered).toContain(shardOf(locate(key)))
    },
  )

  it('is the same for both spellings of one item', () => {
    expect(shardOf(locate('issuer:token:j1'))).toBe(shardOf(locate('tok.j1')))
  })

  it('is one for a whole set', () => {
    const members = ['a', 'b/c', 'd'].map((member) => shardOf(locateSet('issuer:sso-of:ada@acme.example', member)))
    const all = locateMembers('issuer:sso-of:ada@acme.example')
    expect(new Set([...members, shardOf({ pk: all?.pk ?? '', sk: all?.skPrefix ?? '' })])).toEqual(new Set(['small']))
  })
})

describe('the shards of a listing', () => {
  it.each([
    ['ses.ada.', ['11']],
    ['logout.ada.s1.', ['11']],
    ['ses.ada', numbered],
    ['ses.', numbered],
    ['tok.j1', numbered],
    ['keyring.ES256:', ['small']],
    ['ws.slack.', ['small']],
    ['issuer:', ['small', ...numbered]],
  ])('of %s are read, and no others', (prefix, shards) => {
    expect(shardsOf(locatePrefix(prefix))).toEqual(shards)
  })

  it('hold every record whose key starts with its prefix', () => {
    const families = fc.constantFrom('ses.', 'logout.', 'tok.', 'req.a-', 'gh.link.', 'issuer:held:', 'share.', 'cache.slack.user.')
    const tail = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('.', ':', '/', 'a', 'b') })
    fc.assert(
      fc.property(families, tail, fc.nat(), (family, rest, cut) => {
        const key = `${family}${rest}`
        const location = locateOrNull(key)
        if (location === null) return
        expect(shardsOf(locatePrefix(key.slice(0, cut % (key.length + 1))))).toContain(shardOf(location))
      }),
      { numRuns: 1_000 },
    )
  })
})
