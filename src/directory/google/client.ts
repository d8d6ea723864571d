import type * as z from 'zod'
import { accessToken, dropToken, type Identity, type TokenCache } from './access-token.ts'
import {
  type Account,
  accountAnswer,
  accountsAnswer,
  adminAnswer,
  domainsAnswer,
  type Group,
  groupsAnswer,
  type Listed,
  type Member,
  membersAnswer,
} from './answers.ts'
import { type Endpoints, GOOGLE } from './endpoints.ts'
import { type Answer, type Asking, exchange, member, reasonsOf } from './exchange.ts'
import { GoogleError } from './google-error.ts'

/** Whose directory it is. */
export interface Tenant {
  /** The customer's id. */
  id: string
  /** Its verified domains, in lower case, sorted. */
  domains: string[]
}

/** The Admin SDK's directory, read as one administrator. Everything throws GoogleError, and what `spend` throws. */
export interface GoogleClient {
  /** Whether it can be asked at all. */
  probe(): Promise<void>
  tenant(): Promise<Tenant>
  accounts(page?: string): Promise<Listed<Account>>
  groups(page?: string): Promise<Listed<Group>>
  /** @param group its address or id */
  members(group: string, page?: string): Promise<Listed<Member>>
  /** null: there is no such account. */
  account(address: string): Promise<Account | null>
  /** The groups that an account is a direct member of, every page. */
  groupsOf(address: string): Promise<Group[]>
}

export interface GoogleClientParts extends Asking {
  identity: Identity
  tokens: TokenCache
  endpoints?: Endpoints
}

type Query = Record<string, string | undefined>

const MOST_PAGES = 50 // of one account's groups: 10,000, of which nobody can be a member

/** Reads a Workspace's directory over the Admin SDK (directory_v1) with a service account that acts as an administrator. */
export function googleClient(parts: GoogleClientParts): GoogleClient {
  const { identity, tokens, endpoints = GOOGLE } = parts

  async function get(path: string, query: Query): Promise<Answer> {
    const url = new URL(`${endpoints.directory}${path}`)
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value)
    const ask = async () => {
      const token = await accessToken(identity, endpoints, tokens, parts)
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
      return { token, answer: await exchange(url.href, { method: 'GET', headers }, parts) }
    }
    const first = await ask()
    if (first.answer.status !== 401) return first.answer
    // A token can end before its time: revoked, or drawn by a clock that was off.
    dropToken(identity, first.token, tokens)
    return (await ask()).answer
  }

  async function read<Schema extends z.ZodType>(what: string, schema: Schema, path: string, query: Query = {}): Promise<z.output<Schema>> {
    return parsed(what, schema, await get(path, query))
  }

  async function page<Item>(what: string, schema: z.ZodType<Listed<Item>>, path: string, query: Query): Promise<Listed<Item>> {
    const listed = await read(what, schema, path, query)
    if (listed.next !== undefined && listed.next === query.pageToken)
      throw new GoogleError('garbage', `Google: ${what} come to no end: a page names itself as the next`)
    return listed
  }

  const groupsOf = (address: string, pageToken: string | undefined) =>
    page('groups', groupsAnswer, '/groups', {
      userKey: address,
      maxResults: '200',
      pageToken,
      fields: 'kind,nextPageToken,groups(kind,id,email)',
    })

  return {
    async probe() {
      await read('accounts', accountsAnswer, '/users', { customer: 'my_customer', maxResults: '1', fields: ACCOUNTS })
    },

    async tenant() {
      const { customerId: id } = await read('the admin', adminAnswer, `/users/${encodeURIComponent(identity.admin)}`, {
        fields: 'kind,customerId',
      })
      const domains = await read('domains', domainsAnswer, '/customer/my_customer/domains')
      return { id, domains: domains.toSorted() }
    },

    accounts: (pageToken) =>
      page('accounts', accountsAnswer, '/users', {
        ...{ customer: 'my_customer', maxResults: '500', projection: 'basic', orderBy: 'email', pageToken, fields: ACCOUNTS },
      }),

    // 200 is the most that is documented of groups, whatever is asked for
    groups: (pageToken) =>
      page('groups', groupsAnswer, '/groups', {
        ...{ customer: 'my_customer', maxResults: '200', orderBy: 'email', pageToken, fields: 'kind,nextPageToken,groups(kind,id,email)' },
      }),

    members: (group, pageToken) =>
      page('members', membersAnswer, `/groups/${encodeURIComponent(group)}/members`, {
        ...{ maxResults: '200', pageToken, fields: 'kind,nextPageToken,members(kind,id,email,type)' },
      }),

    async account(address) {
      const answer = await get(`/users/${encodeURIComponent(address)}`, { projection: 'basic', fields: ACCOUNT })
      return isAbsent(answer) ? null : parsed('an account', accountAnswer, answer)
    },

    async groupsOf(address) {
      const groups: Group[] = []
      let next: string | undefined
      for (let pages = 0; pages < MOST_PAGES; pages++) {
        const listed = await groupsOf(address, next)
        groups.push(...listed.items)
        next = listed.next
        if (next === undefined) return groups
      }
      throw new GoogleError('garbage', "Google: an account's groups come to no end")
    },
  }
}

const ACCOUNT = 'kind,id,primaryEmail,name(givenName,familyName),suspended,archived'
const ACCOUNTS = `kind,nextPageToken,users(${ACCOUNT})`

function parsed<Schema extends z.ZodType>(what: string, schema: Schema, { status, body }: Answer): z.output<Schema> {
  if (status === 401 || status === 403)
    throw new GoogleError('refused', `Google refuses ${what} (${status}): may the admin read them, and is the delegation granted?`)
  if (status < 200 || status >= 300) throw new GoogleError('garbage', `Google: ${status} for ${what}`)
  const read = schema.safeParse(body)
  if (read.success) return read.data
  const [issue] = read.error.issues
  // Where, and not what: the answer names people.
  throw new GoogleError('garbage', `Google: ${what} are not as documented, at ${issue?.path.map(String).join('.') || 'the top'}`)
}

/** Said of this account, and not by something in between: in the words of the API. */
function isAbsent({ status, body }: Answer): boolean {
  const reasons = reasonsOf(body)
  if (status === 404) return reasons.includes('notFound')
  // What is asked of a group or of no address at all: "Type not supported: userKey", "Invalid Input: userKey".
  return status === 400 && reasons.includes('invalid') && String(member(member(body, 'error'), 'message')).includes('userKey')
}
