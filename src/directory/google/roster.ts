import type { Account, Group, Member } from './answers.ts'

/** Rows as they stand in the objects of a reading: the fields of what Google answered that a snapshot is made of. */
export type AccountRow = [id: string, address: string, live: 0 | 1, given: string | null, family: string | null]
export type GroupRow = [id: string, address: string]
/** A page of a group's members, or of several: the group, its accounts and its groups by their places in the roster. */
export type MembersRow = [group: number, accounts: number[], groups: number[], everybody: 0 | 1]

/**
 * What was read of a directory so far, in as little memory as it takes: accounts and groups by their place, and who is in what as two
 * columns of numbers. The same rows in the same order make the same roster, so a slice goes on where another stopped.
 */
export interface Roster {
  accounts: readonly AccountRow[]
  groups: readonly GroupRow[]
  /** Which groups are to be read: all, or those that are synced and what is found nested in them. By place, in the order to read in. */
  wanted: readonly number[]
  addAccount(row: AccountRow): void
  addGroup(row: GroupRow): void
  /** To be called when all groups are there. Empty: all of them. */
  want(addresses: readonly string[]): void
  addMembers(row: MembersRow): void
  /** The row of a page of a group's members. Members of other Workspaces are left out: they are looked up in theirs. */
  rowOf(group: number, members: readonly Member[]): MembersRow
  /** Of an account, by place: what it is a direct member of. */
  directGroups(): (account: number) => Iterable<number>
  /** Of a group, by place. */
  parentsOf(group: number): readonly number[]
  /** bytes of the columns, about */
  size(): number
}

/** @param customer the Workspace's own id: a member that is this customer is everybody */
export function createRoster(customer: string): Roster {
  const accounts: AccountRow[] = []
  const groups: GroupRow[] = []
  const accountsById = new Map<string, number>()
  const accountsByAddress = new Map<string, number>()
  const groupsById = new Map<string, number>()
  const groupsByAddress = new Map<string, number>()
  const wanted: number[] = []
  const isWanted = new Set<number>()
  const memberships = pairs()
  const everybodyIn = new Set<number>()
  const parents = new Map<number, number[]>()

  function wantGroup(place: number): void {
    if (isWanted.has(place)) return
    isWanted.add(place)
    wanted.push(place)
  }

  /** Ids don't change and addresses do, so the id counts; an address is all there is of a member from before the group was ours. */
  function placeOf({ id, address = '' }: Member, byId: Map<string, number>, byAddress: Map<string, number>): number[] {
    const place = byId.get(id) ?? byAddress.get(address)
    return place === undefined ? [] : [place]
  }

  return {
    accounts,
    groups,
    wanted,

    addAccount(row) {
      // A list that shifts between two pages says some twice: the later row is the newer.
      const place = accountsById.get(row[0]) ?? accounts.length
      accounts[place] = row
      accountsById.set(row[0], place)
      accountsByAddress.set(row[1], place)
    },

    addGroup(row) {
      const place = groupsById.get(row[0]) ?? groups.length
      groups[place] = row
      groupsById.set(row[0], place)
      groupsByAddress.set(row[1], place)
    },

    want(addresses) {
      if (addresses.length === 0) for (const place of groups.keys()) wantGroup(place)
      for (const address of addresses) {
        const place = groupsByAddress.get(address)
        if (place !== undefined) wantGroup(place)
      }
    },

    addMembers([group, members, nested, everybody]) {
      for (const account of members) memberships.add(account, group)
      for (const child of nested) {
        wantGroup(child)
        const above = parents.get(child)
        if (above === undefined) parents.set(child, [group])
        else if (!above.includes(group)) above.push(group)
      }
      if (everybody) everybodyIn.add(group)
    },

    rowOf(group, members) {
      const of = (kind: Member['kind'], byId: Map<string, number>, byAddress: Map<string, number>) =>
        members.flatMap((member) => (member.kind === kind ? placeOf(member, byId, byAddress) : []))
      const everybody = members.some(({ kind, id }) => kind === 'everybody' && id === customer)
      return [group, of('account', accountsById, accountsByAddress), of('group', groupsById, groupsByAddress), everybody ? 1 : 0]
    },

    directGroups() {
      const groupsOf = memberships.grouped(accounts.length)
      return (account) => [...groupsOf(account), ...everybodyIn]
    },

    parentsOf: (group) => parents.get(group) ?? [],
    size: () => memberships.size(),
  }
}

/** Two columns of numbers that grow together: 8 bytes a pair, where an array of pairs takes ten times as many. */
function pairs() {
  let from = new Uint32Array(1_024)
  let to = new Uint32Array(1_024)
  let length = 0
  return {
    add(a: number, b: number): void {
      if (length === from.length) {
        from = doubled(from)
        to = doubled(to)
      }
      from[length] = a
      to[length] = b
      length += 1
    },

    /** What stands beside each `a` below `count`: sorted by counting, into one column. */
    grouped(count: number): (a: number) => Uint32Array {
      const starts = new Uint32Array(count + 1)
      for (let at = 0; at < length; at++) {
        const next = (from[at] ?? 0) + 1
        starts[next] = (starts[next] ?? 0) + 1
      }
      for (let a = 0; a < count; a++) starts[a + 1] = (starts[a + 1] ?? 0) + (starts[a] ?? 0)
      const filled = starts.slice()
      const sorted = new Uint32Array(length)
      for (let at = 0; at < length; at++) {
        const a = from[at] ?? 0
        const place = filled[a] ?? 0
        sorted[place] = to[at] ?? 0
        filled[a] = place + 1
      }
      return (a) => sorted.subarray(starts[a] ?? 0, starts[a + 1] ?? 0)
    },

    size: () => from.byteLength + to.byteLength,
  }
}

function doubled(column: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(column.length * 2)
  larger.set(column)
  return larger
}

export function accountRow({ id, address, state, given_name, family_name }: Account): AccountRow {
  return [id, address, state === 'live' ? 1 : 0, given_name ?? null, family_name ?? null]
}

export function groupRow({ id, address }: Group): GroupRow {
  return [id, address]
}
