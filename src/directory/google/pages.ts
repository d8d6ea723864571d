import type { Account, Group, Listed } from './answers.ts'
import type { GoogleClient } from './client.ts'
import { GoogleError, OutOfCalls } from './google-error.ts'
import type { Phase, Reading } from './reading.ts'
import { accountRow, groupRow } from './roster.ts'

/** Six connections are what an invocation has at once. */
const AT_ONCE = 6
/** rows: what a stopped slice may have to read again, and what one object of it holds */
const ACCOUNTS_A_SAVE = 5_000
const GROUPS_A_SAVE = 2_000
const CALLS_A_SAVE = 240

/**
 * Reads on from where a reading stands, phase by phase: every account, every group, the members of every group that is wanted. `save` is
 * called whenever what was read is to be kept.
 *
 * @throws OutOfCalls when everything read so far is saved and more is to be read. GoogleError: a page failed, and with it the reading
 */
export async function readPages(reading: Reading, client: GoogleClient, save: () => Promise<void>): Promise<void> {
  const { progress, roster, rows } = reading
  if (progress.phase === 'accounts') {
    const take = (account: Account) => {
      const row = accountRow(account)
      roster.addAccount(row)
      rows.accounts.push(row)
    }
    await readListing(reading, client.accounts, take, { save, full: () => rows.accounts.length >= ACCOUNTS_A_SAVE })
    // The admin is one: a directory of nobody is no answer, and would disown everybody.
    if (roster.accounts.length === 0) throw new GoogleError('garbage', 'Google: a Workspace without a single account')
    next(reading, 'groups')
  }
  if (progress.phase === 'groups') {
    const take = (group: Group) => {
      const row = groupRow(group)
      roster.addGroup(row)
      rows.groups.push(row)
    }
    await readListing(reading, client.groups, take, { save, full: () => rows.groups.length >= GROUPS_A_SAVE })
    roster.want(progress.sync_groups)
    next(reading, 'members')
    await save()
  }
  if (progress.phase === 'members') {
    await readMembers(reading, client, save)
    next(reading, 'buckets')
    await save()
  }
}

function next({ progress }: Reading, phase: Phase): void {
  progress.phase = phase
  progress.next = undefined
}

async function readListing<Item>(
  { progress }: Reading,
  page: (token?: string) => Promise<Listed<Item>>,
  take: (item: Item) => void,
  { save, full }: { save: () => Promise<void>; full: () => boolean },
): Promise<void> {
  const seen = new Set<string>()
  do {
    const listed = await savedWhenOut(save, page(progress.next))
    for (const item of listed.items) take(item)
    progress.next = listed.next
    checkNew(listed.next, seen)
    if (full() && listed.next !== undefined) await save()
  } while (progress.next !== undefined)
}

function checkNew(page: string | undefined, seen: Set<string>): void {
  if (page === undefined) return
  if (seen.has(page)) throw new GoogleError('garbage', 'Google: its pages go round in a circle')
  seen.add(page)
}

/** The groups in their order, six at a time: those with pages left first, so that few are open when a slice ends. */
async function readMembers(reading: Reading, client: GoogleClient, save: () => Promise<void>): Promise<void> {
  const { progress, roster, rows } = reading
  const seen = new Map<number, Set<string>>()
  let unsaved = 0
  for (;;) {
    while (progress.open.length < AT_ONCE && progress.begun < roster.wanted.length) {
      const group = roster.wanted[progress.begun]
      progress.begun += 1
      if (group !== undefined) progress.open.push({ group, page: undefined })
    }
    const asked = progress.open.slice(0, AT_ONCE)
    if (asked.length === 0) return
    const answers = await Promise.allSettled(asked.map(({ group, page }) => client.members(roster.groups[group]?.[0] ?? '', page)))
    const failed = answers.find((answer) => answer.status === 'rejected' && !(answer.reason instanceof OutOfCalls))
    if (failed?.status === 'rejected') throw failed.reason
    const still = progress.open.slice(AT_ONCE)
    const left: Reading['progress']['open'] = []
    for (const [at, answer] of answers.entries()) {
      const one = asked[at]
      if (one === undefined) continue
      if (answer.status === 'rejected') left.push(one)
      else {
        const row = roster.rowOf(one.group, answer.value.items)
        roster.addMembers(row)
        rows.members.push(row)
        const { next: page } = answer.value
        if (page === undefined) continue
        const before = seen.get(one.group) ?? new Set()
        seen.set(one.group, before)
        checkNew(page, before)
        left.push({ group: one.group, page })
      }
    }
    progress.open = [...left, ...still]
    unsaved += asked.length
    const out = answers.find((answer) => answer.status === 'rejected')
    if (out !== undefined || unsaved >= CALLS_A_SAVE) {
      await save()
      unsaved = 0
    }
    if (out?.status === 'rejected') throw out.reason
  }
}

/** What was read before the calls ran out is kept, and then they have. */
async function savedWhenOut<T>(save: () => Promise<void>, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof OutOfCalls) await save()
    throw error
  }
}
