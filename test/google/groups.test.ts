import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { everyGroup } from '../../src/directory/google/nesting.ts'
import { refreshWorkspace } from '../../src/directory/google/refresh.ts'
import { personId } from '../../src/ports/keys.ts'
import { connectedWorld, directoryOf, slice } from './arrange.ts'
import { naiveGroups } from './naive-groups.ts'
import { ADMIN, account, group, type Tenant, type TenantMember } from './tenant.ts'

const PEOPLE = 6
const GROUPS = 14

/** Any nesting at all: groups in themselves, in circles, twice in one another; members named twice, by addresses of any case. */
const tenants = fc.record({
  upper: fc.array(fc.boolean(), { minLength: PEOPLE + GROUPS, maxLength: PEOPLE + GROUPS }),
  members: fc.array(fc.tuple(fc.nat(GROUPS - 1), fc.nat(PEOPLE - 1)), { maxLength: 20 }),
  nested: fc.array(fc.tuple(fc.nat(GROUPS - 1), fc.nat(GROUPS - 1)), { maxLength: 40 }),
  chain: fc.boolean(),
  everybody: fc.option(fc.nat(GROUPS - 1), { nil: undefined }),
})

type Drawn = typeof tenants extends fc.Arbitrary<infer Value> ? Value : never

function tenantOf({ upper, members, nested, chain, everybody }: Drawn): Tenant {
  const cased = (text: string, at: number) => (upper[at] ? text.toUpperCase() : text)
  const accounts = Array.from({ length: PEOPLE }, (_, n) =>
    account(`a${n}`, cased(n === 0 ? ADMIN : `p${n}@acme.example`, n), { admin: n === 0 }),
  )
  const groups = Array.from({ length: GROUPS }, (_, n) => group(`g${n}`, cased(`team${n}@acme.example`, PEOPLE + n)))
  const put = (at: number, member: TenantMember) => groups[at]?.members.push(member)
  // A member's address may be spelled otherwise than the account's: ids tell them apart.
  for (const [at, person] of members) put(at, { type: 'USER', id: `a${person}`, address: `P${person}@Acme.Example` })
  for (const [at, child] of nested) put(at, { type: 'GROUP', id: `g${child}`, address: `Team${child}@acme.example` })
  if (chain) for (let n = 1; n < GROUPS; n++) put(n, { type: 'GROUP', id: `g${n - 1}`, address: `team${n - 1}@acme.example` })
  if (everybody !== undefined) put(everybody, { type: 'CUSTOMER', id: 'C01acme' })
  return { id: 'C01acme', domains: [{ name: 'acme.example', verified: true }], accounts, groups }
}

describe('the groups somebody is in', () => {
  it('are those of the naive model, whatever is nested in what', async () => {
    const property = fc.asyncProperty(tenants, async (drawn) => {
      const tenant = tenantOf(drawn)
      const world = await connectedWorld(tenant)
      expect(await refreshWorkspace(tenant.id, slice(world), world.parts)).toBe('ran')
      const directory = directoryOf(world)
      for (const { address } of tenant.accounts) {
        expect(await directory.resolve(personId(address))).toMatchObject({ state: 'live', groups: naiveGroups(tenant, address) })
      }
    })
    await fc.assert(property, { numRuns: 50 })
  })

  it('are the same when Google is asked about somebody as the next snapshot says', async () => {
    const property = fc.asyncProperty(tenants, async (drawn) => {
      const tenant = tenantOf(drawn)
      const [joiner = account('', '')] = tenant.accounts.splice(1, 1)
      const world = await connectedWorld(tenant)
      await refreshWorkspace(tenant.id, slice(world), world.parts)
      tenant.accounts.push(joiner)
      const asked = await directoryOf(world).resolve(personId(joiner.address))
      world.clock.at += 1
      await refreshWorkspace(tenant.id, slice(world), world.parts)
      expect(asked).toMatchObject({ state: 'live', groups: naiveGroups(tenant, joiner.address) })
      expect(await directoryOf(world).resolve(personId(joiner.address))).toMatchObject({ groups: naiveGroups(tenant, joiner.address) })
    })
    await fc.assert(property, { numRuns: 20 })
  })

  it('are those up to 8 levels up, and 500 at most, the nearest first', () => {
    const chain = everyGroup(['g0'], (name) => [`g${Number(name.slice(1)) + 1}`])
    expect(chain).toEqual({ groups: ['g0', 'g1', 'g2', 'g3', 'g4', 'g5', 'g6', 'g7', 'g8'], cut: false })

    const many = Array.from({ length: 499 }, (_, n) => `a${String(n).padStart(3, '0')}`)
    expect(everyGroup(many, () => ['far-1'])).toEqual({ groups: [...many, 'far-1'], cut: false })
    expect(everyGroup(many, () => ['far-2', 'far-1'])).toEqual({ groups: [...many, 'far-1'], cut: true })
  })
})
