import * as z from 'zod'

/** One page of a listing; `next` is set while there is another. */
export interface Listed<Item> {
  items: Item[]
  next?: string
}

/** An account of the directory. `address` is its primary one, in lower case. */
export interface Account {
  id: string
  address: string
  state: 'live' | 'suspended'
  given_name?: string
  family_name?: string
}

export interface Group {
  id: string
  /** In lower case. */
  address: string
}

/** `everybody`: all accounts of the customer. What is none of these (an outside contact of no account) is `other`. */
export interface Member {
  id: string
  kind: 'account' | 'group' | 'everybody' | 'other'
  /** In lower case; that of an account may be another of its addresses. */
  address?: string
}

const lower = z.string().regex(/^\S+$/).toLowerCase()
const id = z.string().min(1)
const next = z.string().min(1).optional()

// Each answer says what it is: an empty list of somebody else's making must not pass for a Workspace without groups.
const kind = <Name extends string>(name: Name) => z.literal(`admin#directory#${name}`)

const user = z.object({
  kind: kind('user'),
  id,
  primaryEmail: lower.refine((address) => address.includes('@')),
  name: z.object({ givenName: z.string().optional(), familyName: z.string().optional() }).optional(),
  // Google always says it of an account: one without is none that may pass for a live one.
  suspended: z.boolean(),
  archived: z.boolean().default(false),
})

export const accountAnswer = user.transform(accountOf)

export const accountsAnswer = z
  .object({ kind: kind('users'), users: z.array(accountAnswer).default([]), nextPageToken: next })
  .transform(({ users, nextPageToken }) => listed(users, nextPageToken))

const group = z.object({ kind: kind('group'), id, email: lower }).transform(({ id, email: address }): Group => ({ id, address }))

export const groupsAnswer = z
  .object({ kind: kind('groups'), groups: z.array(group).default([]), nextPageToken: next })
  .transform(({ groups, nextPageToken }) => listed(groups, nextPageToken))

const memberOf = z
  .object({ kind: kind('member'), id, email: lower.optional(), type: z.string() })
  .transform(({ id, email: address, type }): Member => {
    const kind = KINDS.get(type) ?? 'other'
    return address === undefined ? { id, kind } : { id, kind, address }
  })

const KINDS = new Map<string, Member['kind']>([
  ['USER', 'account'],
  ['GROUP', 'group'],
  ['CUSTOMER', 'everybody'],
])

export const membersAnswer = z
  .object({ kind: kind('members'), members: z.array(memberOf).default([]), nextPageToken: next })
  .transform(({ members, nextPageToken }) => listed(members, nextPageToken))

export const adminAnswer = z.object({ kind: kind('user'), customerId: id })

const verified = z.object({ domainName: lower, verified: z.boolean() })

export const domainsAnswer = z
  // one at least: without, everybody would be of a domain that nobody answers for
  .object({ kind: kind('domains'), domains: z.array(verified).min(1) })
  .transform(({ domains }) => [...new Set(domains.flatMap(({ domainName, verified }) => (verified ? domainName : [])))])

function accountOf({ id, primaryEmail: address, name, suspended, archived }: z.output<typeof user>): Account {
  return {
    ...{ id, address, state: suspended || archived ? 'suspended' : 'live' },
    ...(name?.givenName === undefined ? {} : { given_name: name.givenName }),
    ...(name?.familyName === undefined ? {} : { family_name: name.familyName }),
  }
}

function listed<Item>(items: Item[], next: string | undefined): Listed<Item> {
  return next === undefined ? { items } : { items, next }
}
