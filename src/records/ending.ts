import * as z from 'zod'
import { keys } from '../ports/keys.ts'
import type { State } from '../ports/state.ts'
import type { Log } from '../telemetry/log.ts'
import { instant } from './instant.ts'
import { type RecordType, readRecord, writeRecord } from './record.ts'

/** seconds: as long as anybody waits for what is left of an ending to be done */
const ENDING_LIFETIME = 86_400

export const endingCause = z.enum(['sign_out', 'another_person', 'operator', 'account_removed', 'revoked', 'reuse', 'absolute_limit'])
export type EndingCause = z.output<typeof endingCause>

const schema = z.looseObject({
  id: z.string(),
  person: z.string().optional().describe('whose sessions end; absent: those of everybody, at one client'),
  which: z
    .discriminatedUnion('of', [
      z.strictObject({ of: z.literal('everything') }),
      z.strictObject({ of: z.literal('sign_ins'), ids: z.array(z.string()) }),
      z.strictObject({ of: z.literal('sessions'), ids: z.array(z.string()) }),
      z.strictObject({ of: z.literal('client'), client: z.string() }),
    ])
    .describe('everything of theirs; what these sign-ins opened, and they with it; these sessions; or what one client holds'),
  cause: endingCause,
  by: z.string().describe('who ended them: an identity, or `system`'),
  at: instant,
  page: z.string().optional().describe('where a sweep that ran out of calls stopped: what is listed before it has ended'),
  swept: z.boolean().optional().describe('every session of it has ended: what is left is to tell the clients'),
  not_before: instant.optional().describe('until then every client that is left waits to be tried again'),
})

export const ending = {
  key: 'logout-due.<ending>',
  purpose: 'An ending under way: what a crash leaves of it is done by the next tick, until every client was told.',
  lifetime: '24 h; gone as soon as it is done',
  schema,
} satisfies RecordType<typeof schema>

export type Ending = z.output<typeof schema>

export async function createEnding(state: State, value: Ending): Promise<void> {
  await state.create(keys.logoutDue(value.id), writeRecord(ending, value), ENDING_LIFETIME)
}

/** Notes that only the clients are left to tell. One that was taken away meanwhile stands for nothing when it comes back: the next tick sees so. */
export async function markSwept(state: State, value: Ending): Promise<Ending> {
  const swept = { ...value, swept: true }
  await state.put(keys.logoutDue(value.id), writeRecord(ending, swept), ENDING_LIFETIME)
  return swept
}

export function deleteEnding(state: State, id: string): Promise<void> {
  return state.delete(keys.logoutDue(id))
}

/** Notes when there is something to do again for an ending whose clients all wait, so that no tick looks before. */
export async function postponeEnding(state: State, value: Ending, not_before: number): Promise<void> {
  await state.put(keys.logoutDue(value.id), writeRecord(ending, { ...value, not_before }), ENDING_LIFETIME)
}

/** Notes from which page of sessions on there is something left to end. */
export async function noteProgress(state: State, value: Ending, page: string | undefined): Promise<Ending> {
  if (page === value.page) return value
  const further = { ...value, page }
  await state.put(keys.logoutDue(value.id), writeRecord(ending, further), ENDING_LIFETIME)
  return further
}

/** Whether any ending is under way: one read. */
export async function hasEndings(state: State): Promise<boolean> {
  return (await state.list(keys.logoutsDue, { limit: 1 })).entries.length > 0
}

/** Every ending under way; `calls` counts the pages. */
export async function listEndings(state: State, log: Log, calls: { spend(count: number): void }): Promise<Ending[]> {
  const found: Ending[] = []
  let page: string | undefined
  do {
    const { entries, next } = await state.list(keys.logoutsDue, { page })
    calls.spend(1)
    found.push(...entries.flatMap((entry) => readRecord(ending, entry, log) ?? []))
    page = next
  } while (page !== undefined)
  return found
}
