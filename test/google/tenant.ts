/** A Workspace as a test has it. Addresses may be in any case; Google keeps them as they were typed. */
export interface Tenant {
  /** The customer's id. */
  id: string
  domains: { name: string; verified: boolean }[]
  accounts: TenantAccount[]
  groups: TenantGroup[]
}

export interface TenantAccount {
  id: string
  address: string
  given?: string
  family?: string
  suspended?: boolean
  archived?: boolean
  admin?: boolean
  /** Further addresses, by which it is found too. */
  aliases?: string[]
}

export interface TenantGroup {
  id: string
  address: string
  members: TenantMember[]
}

/** CUSTOMER: everybody. An EXTERNAL has an address of another domain. */
export type TenantMember = { type: 'USER' | 'GROUP' | 'EXTERNAL'; id: string; address: string } | { type: 'CUSTOMER'; id: string }

export const ADMIN = 'root@acme.example'

/** A small one: Ada in two teams that are nested, Bob suspended, Eve archived. */
export function smallTenant(): Tenant {
  const ada = account('1', 'ada@acme.example', { given: 'Ada', family: 'Lovelace' })
  const bob = account('2', 'bob@acme.example', { suspended: true })
  const eve = account('3', 'eve@acme.example', { archived: true })
  const root = account('4', ADMIN, { admin: true })
  const engineering = group('g1', 'Engineering@acme.example')
  const platform = group('g2', 'platform@acme.example')
  const staff = group('g3', 'staff@acme.example')
  engineering.members.push(inGroup(platform))
  platform.members.push(inAccount(ada), inAccount(bob))
  staff.members.push({ type: 'CUSTOMER', id: 'C01acme' })
  const domains = [
    { name: 'acme.example', verified: true },
    { name: 'acme-labs.example', verified: true },
    { name: 'pending.example', verified: false },
  ]
  return { id: 'C01acme', domains, accounts: [ada, bob, eve, root], groups: [engineering, platform, staff] }
}

/**
 * A Workspace of any size that a seed decides: teams nested a few levels deep, some in circles, some members named twice or in other case,
 * a few accounts suspended, a group of everybody.
 */
export function generatedTenant({
  people,
  groups: groupCount,
  seed,
  each = 12,
}: {
  people: number
  groups: number
  seed: number
  each?: number
}): Tenant {
  const below = numbers(seed)
  const accounts = [account('a0', ADMIN, { admin: true })]
  for (let n = 1; n < people; n++) {
    const state = below(50) === 0 ? { suspended: true } : below(200) === 0 ? { archived: true } : {}
    accounts.push(account(`a${n}`, `Person.${n}@acme.example`, { given: `Given${n}`, family: `Family ${n}`, ...state }))
  }
  const groups = Array.from({ length: groupCount }, (_, n) => group(`g${n}`, `team-${n}@acme.example`))
  for (const person of accounts) {
    for (let n = below(2 * each); n > 0; n--) groups[below(groupCount)]?.members.push(inAccount(person))
  }
  for (const child of groups) {
    if (below(3) > 0) continue
    groups[below(groupCount)]?.members.push(inGroup(child))
  }
  groups[0]?.members.push({ type: 'CUSTOMER', id: 'C01acme' }, { type: 'EXTERNAL', id: 'x1', address: 'friend@elsewhere.example' })
  return { id: 'C01acme', domains: [{ name: 'acme.example', verified: true }], accounts, groups }
}

export function account(id: string, address: string, more: Partial<TenantAccount> = {}): TenantAccount {
  return { id, address, ...more }
}

export function group(id: string, address: string, members: TenantMember[] = []): TenantGroup {
  return { id, address, members }
}

export function inAccount({ id, address }: TenantAccount): TenantMember {
  return { type: 'USER', id, address }
}

export function inGroup({ id, address }: TenantGroup): TenantMember {
  return { type: 'GROUP', id, address }
}

/** Numbers below a bound that a seed decides: a linear congruential generator modulo 2^32, of which the high bits are used. */
function numbers(seed: number): (bound: number) => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
