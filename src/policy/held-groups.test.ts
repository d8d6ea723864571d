import { describe, expect, it } from 'vitest'
import { type Policy, policySchema } from '../config/policy.ts'
import { personId } from '../ports/keys.ts'
import { heldGroups } from './held-groups.ts'

const policy: Policy = policySchema.parse({
  version: 1,
  groups: {
    'z:everyone': { matchers: [{ email_domain: 'acme.example' }] },
    'app:one:user': { members: ['one@acme.example', 'both@acme.example'] },
    'app:ada:user': { matchers: [{ email: 'Ada@Acme.example' }] },
    'app:mixed:user': { members: ['both@acme.example'], matchers: [{ email: 'ada@acme.example' }] },
    'app:none:user': {},
  },
  clients: {},
})

describe('a person holds', () => {
  it.each<[string, string, string[], string[]]>([
    ['the groups whose members they are in a directory group of', 'eve@other.example', ['one@acme.example'], ['app:one:user']],
    [
      'a group once, however many ways lead to it',
      'ada@acme.example',
      ['both@acme.example'],
      ['app:ada:user', 'app:mixed:user', 'app:one:user', 'z:everyone'],
    ],
    ['the groups that match their address', 'ada@acme.example', [], ['app:ada:user', 'app:mixed:user', 'z:everyone']],
    ['the groups that match their domain', 'bob@acme.example', [], ['z:everyone']],
    ['none of a domain that ends in theirs', 'bob@notacme.example', [], []],
    ['none of a domain above theirs', 'bob@sub.acme.example', [], []],
    ['none for a domain before the last at sign', 'bob@acme.example@evil.example', [], []],
    ['none for a subject that is no address', 'acme.example.evil', [], []],
    ['none for a directory group the policy does not name', 'eve@other.example', ['two@acme.example', 'app:one:user'], []],
  ])('%s', (_what, person, directoryGroups, held) => {
    expect(heldGroups(policy, personId(person), directoryGroups)).toEqual(held)
  })
})
