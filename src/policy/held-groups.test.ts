import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { policySchema, writtenPolicySchema } from '../config/policy.ts'
import { personId } from '../ports/keys.ts'
import { heldGroupsOf } from './held-groups.ts'
import { reasonsOf } from './reasons.ts'

const document = {
  version: 1,
  groups: {
    'z:everyone': { matchers: [{ email_domain: 'acme.example' }] },
    'app:one:user': { members: ['one@acme.example', 'both@acme.example'] },
    'app:ada:user': { matchers: [{ email: 'Ada@Acme.example' }] },
    'app:mixed:user': { members: ['both@acme.example'], matchers: [{ email: 'ada@acme.example' }] },
    'app:none:user': {},
    'app:glass:user': { members: ['one@acme.example'], matchers: [{ account: 'recovery' }] },
    'app:ci:user': {
      matchers: [
        { github: { repository: 'acme/*' } },
        { aws: { account: '123456789012', role: 'x' } },
        { service_account: { namespace: 'a', name: 'b' } },
      ],
    },
  },
  clients: {},
}

describe('a person holds', () => {
  const heldGroups = heldGroupsOf(policySchema.parse(document))

  it.each<[string, string, string[], string[]]>([
    [
      'the groups whose members they are in a directory group of',
      'eve@other.example',
      ['one@acme.example'],
      ['app:glass:user', 'app:one:user'],
    ],
    [
      'a group once, however many ways lead to it',
      'ada@acme.example',
      ['both@acme.example', 'both@acme.example'],
      ['app:ada:user', 'app:mixed:user', 'app:one:user', 'z:everyone'],
    ],
    ['the groups that match their address', 'ada@acme.example', [], ['app:ada:user', 'app:mixed:user', 'z:everyone']],
    ['the groups that match their domain', 'bob@acme.example', [], ['z:everyone']],
    ['none of a domain that ends in theirs', 'bob@notacme.example', [], []],
    ['none of a domain above theirs', 'bob@sub.acme.example', [], []],
    ['none for a domain before the last at sign', 'bob@acme.example@evil.example', [], []],
    ['none for a subject that is no address', 'acme.example', ['one@acme.example'], []],
    ['none for a directory group the policy does not name', 'eve@other.example', ['two@acme.example', 'app:one:user'], []],
    ['what names the account that they are, and nothing by a directory', 'recovery', ['both@acme.example'], ['app:glass:user']],
    ['nothing that names another account', 'conformance', [], []],
    ['nothing that names the account their address begins with', 'recovery@acme.example', [], ['z:everyone']],
  ])('%s', (_what, person, directoryGroups, held) => {
    expect(heldGroups(personId(person), directoryGroups)).toEqual(held)
  })
})

describe('a role that implies others', () => {
  const vocabulary = {
    scopes: { dev: {}, prod: { sensitive: true } },
    things: { k8s: { scopes: ['dev', 'prod'], roles: { admin: ['operator'], operator: ['viewer'], viewer: [] } } },
  }
  const groups = { 'prod:k8s:operator': { members: ['ops@acme.example'] }, '*:k8s:admin': { members: ['dev@acme.example'] } }
  const written = writtenPolicySchema.parse({ version: 1, vocabulary, groups, clients: {} })
  const heldGroups = heldGroupsOf(policySchema.parse({ version: 1, vocabulary, groups, clients: {} }))
  const ada = personId('ada@acme.example')

  it('is held with all of them, in its scope', () => {
    expect(heldGroups(ada, ['ops@acme.example'])).toEqual(['prod:k8s:operator', 'prod:k8s:viewer'])
    expect(heldGroups(ada, ['dev@acme.example'])).toEqual(['dev:k8s:admin', 'dev:k8s:operator', 'dev:k8s:viewer'])
  })

  it('is the reason given for them, and the wildcard for it', () => {
    expect(reasonsOf(written, ada, ['dev@acme.example'])).toEqual([
      { group: 'dev:k8s:admin', by: { member: 'dev@acme.example' }, row: '*:k8s:admin' },
      { group: 'dev:k8s:operator', by: { implied: 'dev:k8s:admin' } },
      { group: 'dev:k8s:viewer', by: { implied: 'dev:k8s:admin' } },
    ])
  })
})

const SCOPES = ['dev', 'test', 'prod']
const THINGS = ['k8s', 'ssh']
const ROLES = ['a', 'b', 'c', 'd']
const ADDRESSES = ['one@acme.example', 'Two@acme.example', 'three@other.example', 'FOUR@Other.example']
const sub = <T>(from: readonly T[]) => fc.subarray([...from])

/** A vocabulary in which a role implies only later ones, or (`circles`) any; and rows, wildcards too. */
const policies = fc.record({
  circles: fc.boolean(),
  sensitive: sub(SCOPES),
  scopes: fc.record({ k8s: sub(SCOPES), ssh: sub(SCOPES) }),
  implies: fc.array(fc.tuple(fc.constantFrom(...THINGS), fc.constantFrom(...ROLES), fc.constantFrom(...ROLES)), { maxLength: 8 }),
  rows: fc.array(
    fc.record({
      scope: fc.constantFrom(...SCOPES, '*'),
      thing: fc.constantFrom(...THINGS, '*'),
      role: fc.constantFrom(...ROLES),
      members: sub(ADDRESSES),
      matchers: sub([{ email: 'TWO@acme.example' }, { email_domain: 'Other.example' }, { account: 'recovery' }]),
    }),
    { maxLength: 6 },
  ),
})
const askers = fc.record({
  person: fc.constantFrom(...ADDRESSES, 'recovery', 'conformance', 'other.example'),
  groups: fc.array(fc.constantFrom(...ADDRESSES.map((address) => address.toLowerCase())), { maxLength: 4 }),
})

type Drawn = typeof policies extends fc.Arbitrary<infer T> ? T : never

function written({ circles, sensitive, scopes, implies, rows }: Drawn) {
  const rolesOf = (thing: string) =>
    Object.fromEntries(
      ROLES.map((role) => [
        role,
        implies.filter(([t, from, to]) => t === thing && from === role && (circles || from < to)).map(([, , to]) => to),
      ]),
    )
  return {
    version: 1,
    vocabulary: {
      scopes: Object.fromEntries(SCOPES.map((scope) => [scope, { sensitive: sensitive.includes(scope) }])),
      things: Object.fromEntries(THINGS.map((thing) => [thing, { scopes: scopes[thing as keyof typeof scopes], roles: rolesOf(thing) }])),
    },
    groups: Object.fromEntries(
      rows.map(({ scope, thing, role, members, matchers }) => [`${scope}:${thing}:${role}`, { members, matchers }]),
    ),
    clients: {},
  }
}

/** Whoever holds what, by asking every row of every name there could be, again and again until nobody holds more. */
function naively({ vocabulary, groups }: ReturnType<typeof written>, person: string, directoryGroups: readonly string[]): string[] {
  const held = new Set<string>()
  const who = person.toLowerCase()
  for (const [row, { members, matchers }] of Object.entries(groups)) {
    const admits =
      (who.includes('@') && members.some((member) => directoryGroups.includes(member.toLowerCase()))) ||
      matchers.some((matcher) => {
        if ('account' in matcher) return matcher.account === who
        return (
          who.includes('@') &&
          ('email' in matcher ? matcher.email.toLowerCase() === who : who.endsWith(`@${matcher.email_domain.toLowerCase()}`))
        )
      })
    if (!admits) continue
    const [scope = '', thing = '', role = ''] = row.split(':')
    if (scope !== '*' && thing !== '*') held.add(row)
    else
      for (const s of SCOPES)
        for (const t of THINGS) {
          const isThere = vocabulary.things[t]?.scopes.includes(s) && vocabulary.scopes[s]?.sensitive === false
          if (isThere && (scope === '*' || scope === s) && (thing === '*' || thing === t)) held.add(`${s}:${t}:${role}`)
        }
  }
  for (let before = -1; before < held.size; ) {
    before = held.size
    for (const name of [...held]) {
      const [scope, thing = '', role = ''] = name.split(':')
      for (const other of vocabulary.things[thing]?.roles[role] ?? []) held.add(`${scope}:${thing}:${other}`)
    }
  }
  return [...held].sort()
}

describe('whatever the policy', () => {
  it('who holds what is what the rows say, and the reasons given are for just that', () => {
    fc.assert(
      fc.property(policies, askers, (drawn, { person, groups }) => {
        const document = written(drawn)
        const held = heldGroupsOf(policySchema.parse(document))(personId(person), groups)
        expect(held).toEqual(naively(document, person, groups))
        const reasons = reasonsOf(writtenPolicySchema.parse(document), personId(person), groups)
        expect([...new Set(reasons.map(({ group }) => group))]).toEqual(held)
      }),
      { numRuns: 300 },
    )
  })
})
