import { refused } from './faults.ts'
import type { Tenant, TenantAccount, TenantGroup } from './tenant.ts'

/** The directory's resources, of a call whose token is good. @param root the path they stand below */
export function fakeDirectory(tenant: Tenant, url: URL, root: string): Response {
  const [resource, key, below, ...more] = url.pathname
    .slice(root.length + 1)
    .split('/')
    .map(decodeURIComponent)
  const { searchParams: query } = url
  if (more.length > 0) return noSuchPath()
  if (resource === 'users' && key === undefined) return users(tenant, query)
  if (resource === 'users' && below === undefined) return user(tenant, key ?? '', query)
  if (resource === 'groups' && key === undefined) return groups(tenant, query)
  if (resource === 'groups' && below === 'members') return members(tenant, key ?? '', query)
  if (resource === 'customer' && key === 'my_customer' && below === 'domains') return domains(tenant, query)
  return noSuchPath()
}

function users(tenant: Tenant, query: URLSearchParams): Response {
  const wrong = unknownOf(query, ['customer', 'maxResults', 'projection', 'orderBy'])
  if (wrong !== null) return invalid(wrong)
  if (query.get('customer') !== 'my_customer') return invalid('customer')
  return page(query, { kind: 'users', list: 'users', most: 500 }, byAddress(tenant.accounts), (account) => accountResource(tenant, account))
}

function user(tenant: Tenant, key: string, query: URLSearchParams): Response {
  const wrong = unknownOf(query, ['projection'])
  if (wrong !== null) return invalid(wrong)
  if (find(tenant.groups, key) !== undefined) return invalid('Type not supported: userKey')
  const found = findAccount(tenant, key)
  if (found !== undefined) return masked(accountResource(tenant, found), query)
  const isOurs = tenant.domains.some(({ name }) => key.endsWith(`@${name}`))
  return isOurs
    ? refused(404, 'notFound', 'Resource Not Found: userKey')
    : refused(403, 'forbidden', 'Not Authorized to access this resource/api')
}

function groups(tenant: Tenant, query: URLSearchParams): Response {
  const wrong = unknownOf(query, ['customer', 'userKey', 'maxResults', 'orderBy'])
  if (wrong !== null) return invalid(wrong)
  const userKey = query.get('userKey')
  if ((userKey === null) === (query.get('customer') === null)) return invalid('customer')
  const of = userKey === null ? undefined : (findAccount(tenant, userKey) ?? find(tenant.groups, userKey))
  if (userKey !== null && of === undefined) return refused(404, 'notFound', 'Resource Not Found: userKey')
  const holds = ({ members }: TenantGroup) =>
    members.some((member) => (member.type === 'CUSTOMER' ? tenant.accounts.some(({ id }) => id === of?.id) : member.id === of?.id))
  const listed = of === undefined ? tenant.groups : tenant.groups.filter(holds)
  return page(query, { kind: 'groups', list: 'groups', most: 200 }, byAddress(listed), ({ id, address, members }) => ({
    ...{ kind: 'admin#directory#group', id, etag: '"e"', email: address, name: address, directMembersCount: String(members.length) },
  }))
}

function members(tenant: Tenant, key: string, query: URLSearchParams): Response {
  const wrong = unknownOf(query, ['maxResults', 'roles', 'includeDerivedMembership'])
  if (wrong !== null) return invalid(wrong)
  const group = find(tenant.groups, key)
  if (group === undefined) return refused(404, 'notFound', 'Resource Not Found: groupKey')
  return page(query, { kind: 'members', list: 'members', most: 200 }, group.members, (member) => {
    const { type, id } = member
    const common = { kind: 'admin#directory#member', etag: '"e"', id, role: 'MEMBER' }
    // An outside address without an account is a USER too; of everybody there is no address.
    return type === 'CUSTOMER'
      ? { ...common, type }
      : { ...common, type: type === 'EXTERNAL' ? 'USER' : type, email: member.address, status: 'ACTIVE' }
  })
}

function domains(tenant: Tenant, query: URLSearchParams): Response {
  if ([...query].length > 0) return invalid('domains')
  const listed = tenant.domains.map(({ name, verified }, at) => ({
    kind: 'admin#directory#domain',
    domainName: name,
    verified,
    isPrimary: at === 0,
  }))
  return Response.json({ kind: 'admin#directory#domains', etag: '"e"', domains: listed })
}

function accountResource(
  tenant: Tenant,
  { id, address, given, family, suspended = false, archived = false, admin = false }: TenantAccount,
) {
  const name = { givenName: given ?? '', familyName: family ?? '', fullName: `${given ?? ''} ${family ?? ''}`.trim() }
  const about = { name, isAdmin: admin, suspended, archived, customerId: tenant.id, orgUnitPath: '/' }
  return { kind: 'admin#directory#user', id, etag: '"e"', primaryEmail: address, ...about }
}

interface Listing {
  kind: string
  list: string
  /** As many as one page has at most, whatever is asked for. */
  most: number
}

function page<Item>(
  query: URLSearchParams,
  { kind, list, most }: Listing,
  items: readonly Item[],
  resource: (item: Item) => object,
): Response {
  const asked = Number(query.get('maxResults') ?? 100)
  if (!Number.isInteger(asked) || asked < 1) return invalid('maxResults')
  // Even where 500 is documented, a page has 200 at most.
  const size = Math.min(asked, most, 200)
  const from = startOf(query.get('pageToken'))
  if (from === null || from > items.length) return invalid('pageToken')
  const shown = items.slice(from, from + size).map(resource)
  const next = from + size < items.length ? { nextPageToken: tokenOf(from + size) } : {}
  return masked({ kind: `admin#directory#${kind}`, etag: '"e"', ...(shown.length > 0 ? { [list]: shown } : {}), ...next }, query)
}

function tokenOf(from: number): string {
  return btoa(`fake page ${from}`)
}

function startOf(token: string | null): number | null {
  if (token === null) return 0
  try {
    const from = /^fake page ([0-9]+)$/.exec(atob(token))?.[1]
    return from === undefined ? null : Number(from)
  } catch {
    return null
  }
}

/** The members that `fields` names, as Google's partial answers have them: `a,b(c,d)`. */
function masked(body: object, query: URLSearchParams): Response {
  const fields = query.get('fields')
  return Response.json(fields === null ? body : part(body, fields))
}

function part(value: unknown, fields: string): unknown {
  if (Array.isArray(value)) return value.map((one) => part(one, fields))
  const wanted = [...fields.matchAll(/(\w+)(?:\(((?:[^()]|\([^()]*\))*)\))?/g)].map(([, name = '', inner]) => ({ name, inner }))
  const members = Object.entries(value ?? {}).flatMap(([name, member]) => {
    const field = wanted.find((one) => one.name === name)
    return field === undefined ? [] : [[name, field.inner === undefined ? member : part(member, field.inner)]]
  })
  return Object.fromEntries(members)
}

function unknownOf(query: URLSearchParams, known: readonly string[]): string | null {
  return [...query.keys()].find((name) => ![...known, 'pageToken', 'fields'].includes(name)) ?? null
}

function find<Item extends { id: string; address: string }>(items: readonly Item[], key: string): Item | undefined {
  return items.find(({ id, address }) => id === key || address.toLowerCase() === key.toLowerCase())
}

/** By any of its addresses: an alias finds the account it is of. */
function findAccount({ accounts }: Tenant, key: string): TenantAccount | undefined {
  return find(accounts, key) ?? accounts.find(({ aliases }) => aliases?.includes(key.toLowerCase()))
}

function byAddress<Item extends { address: string }>(items: readonly Item[]): Item[] {
  return items.toSorted((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
}

function invalid(what: string): Response {
  return refused(400, 'invalid', what.includes(':') ? what : `Invalid Input: ${what}`)
}

function noSuchPath(): Response {
  return new Response('<html>404</html>', { status: 404, headers: { 'content-type': 'text/html' } })
}
