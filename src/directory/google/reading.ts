import * as z from 'zod'
import { fromUtf8, hex, utf8 } from '../../crypto/bytes.ts'
import type { Blob } from '../../ports/blob.ts'
import { isPortError, type PortError } from '../../ports/error.ts'
import type { Random } from '../../ports/platform.ts'
import { cacheOf } from './manifest.ts'
import { pack, unpack } from './packed.ts'
import { type AccountRow, createRoster, type GroupRow, type MembersRow, type Roster } from './roster.ts'

const phases = ['accounts', 'groups', 'members', 'buckets'] as const
const names = z.array(z.string())
const page = z.string().optional()

const progress = z.object({
  v: z.literal(1),
  /** unix ms */
  started_at: z.int(),
  phase: z.enum(phases),
  /** What it is read for: as it was when the reading began, lest half of it be narrowed otherwise than the rest. */
  domains: names,
  serve: names,
  sync_groups: names,
  /** Objects below work/, in the order they were written. */
  chunks: z.object({ accounts: names, groups: names, members: names }),
  /** Of accounts and groups: the page to ask for next. Absent: the first. */
  next: page,
  /** Of members: how many of the wanted groups were begun; and of these, those with pages left. */
  begun: z.int(),
  open: z.array(z.object({ group: z.int(), page })),
  /** How many buckets there will be, and how many are written; 0 until it is known. */
  buckets: z.int(),
  written: z.int(),
  slices: z.int(),
  calls: z.int(),
})

/** How far a reading is. */
export type Progress = z.output<typeof progress>
export type Phase = Progress['phase']

/** A reading of a whole directory under way: what it has read, and how it says how far it is. */
export interface Reading {
  /** `<unix ms of its start>-<8 hex>`: the folder it writes to. */
  version: string
  progress: Progress
  roster: Roster
  /** Rows read and not written yet. */
  rows: { accounts: AccountRow[]; groups: GroupRow[]; members: MembersRow[] }
  /** Of the progress object: another slice that works on the same reading has it moved. */
  etag: string
}

/** objects of rows: a slice of few calls must not spend them all on reading what others read */
const MANY = 3
const LONGEST_WORK = 67_108_864 // bytes of an object below work/, unpacked

export function startedAtOf(version: string): number {
  return Number(version.split('-')[0])
}

/** Of an object's name below the cache: the version it belongs to; null for the manifest and what we did not write. */
export function versionOf(workspace: string, name: string): string | null {
  const [version = '', ...rest] = name.slice(cacheOf(workspace).length).split('/')
  return rest.length > 0 && /^[0-9]{1,16}-[0-9a-f]{8}$/.test(version) ? version : null
}

/** Of an object of rows. */
export function chunkName(workspace: string, version: string, name: string): string {
  return `${cacheOf(workspace)}${version}/work/${name}`
}

export function progressName(workspace: string, version: string): string {
  return chunkName(workspace, version, 'progress')
}

export function isProgress(name: string): boolean {
  return name.split('/').at(-1) === 'progress'
}

export function beginReading(
  workspace: string,
  start: Pick<Progress, 'domains' | 'serve' | 'sync_groups'>,
  at: { now: number; random: Random },
): Reading {
  const version = `${at.now}-${hex(new Uint8Array(at.random.bytes(4)))}`
  const chunks = { accounts: [], groups: [], members: [] }
  const counts = { begun: 0, open: [], buckets: 0, written: 0, slices: 0, calls: 0 }
  const { domains, serve, sync_groups } = start
  return {
    version,
    progress: { v: 1, started_at: at.now, phase: 'accounts', domains, serve, sync_groups, chunks, next: undefined, ...counts },
    roster: createRoster(workspace),
    rows: { accounts: [], groups: [], members: [] },
    etag: '',
  }
}

/** A reading as its objects have it; null when they are gone, or are not what was written. @throws PortError Unavailable */
export async function resumeReading(blob: Pick<Blob, 'read'>, workspace: string, version: string): Promise<Reading | null> {
  try {
    const { body, version: etag } = await blob.read(progressName(workspace, version))
    const read = progress.parse(JSON.parse(fromUtf8(body) ?? ''))
    const reading: Reading = {
      version,
      progress: read,
      roster: createRoster(workspace),
      rows: { accounts: [], groups: [], members: [] },
      etag,
    }
    const { roster, rows } = reading
    const chunks = async <Row>(kind: keyof Reading['rows'], row: z.ZodType<Row>) => {
      const names = read.chunks[kind].map((name) => chunkName(workspace, version, name))
      const all: Row[] = []
      for (const name of names) all.push(...(await readChunk(blob, name, row)))
      if (names.length >= MANY) read.chunks[kind] = [] // they go into one, with the next that is saved
      return { all, again: names.length >= MANY }
    }
    const accounts = await chunks('accounts', accountRow)
    for (const row of accounts.all) roster.addAccount(row)
    const groups = await chunks('groups', groupRow)
    for (const row of groups.all) roster.addGroup(row)
    if (read.phase === 'members' || read.phase === 'buckets') roster.want(read.sync_groups)
    const members = await chunks('members', membersRow)
    for (const row of members.all) roster.addMembers(row)
    if (accounts.again) rows.accounts = accounts.all
    if (groups.again) rows.groups = groups.all
    if (members.again) rows.members = members.all
    return reading
  } catch (error) {
    if (isPortError(error, 'NotFound') || error instanceof SyntaxError || error instanceof z.ZodError) return null
    throw error
  }
}

const accountRow = z.tuple([z.string(), z.string(), z.literal([0, 1]), z.string().nullable(), z.string().nullable()])
const groupRow = z.tuple([z.string(), z.string()])
const membersRow = z.tuple([z.int(), z.array(z.int()), z.array(z.int()), z.literal([0, 1])])

async function readChunk<Row>(blob: Pick<Blob, 'read'>, name: string, row: z.ZodType<Row>): Promise<Row[]> {
  const text = await unpack((await blob.read(name)).body, LONGEST_WORK)
  return z.array(row).parse(JSON.parse(text ?? ''))
}

/**
 * Writes the rows read since the last time, then how far the reading is with them: until that is written, nothing was read. Rows go to
 * objects of names nobody else writes to.
 *
 * @throws PortError Conflict, NotFound: another slice works on the same reading, or has given it up. Unavailable
 */
export async function saveReading(
  reading: Reading,
  parts: { blob: Pick<Blob, 'write' | 'writeIfVersion'>; workspace: string; random: Random; check(): void },
): Promise<void> {
  const { blob, workspace, random, check } = parts
  const { version, progress, rows } = reading
  for (const kind of ['accounts', 'groups', 'members'] as const) {
    if (rows[kind].length === 0) continue
    const name = `${kind}-${hex(new Uint8Array(random.bytes(8)))}`
    check()
    await blob.write(chunkName(workspace, version, name), await pack(JSON.stringify(rows[kind])))
    progress.chunks[kind].push(name)
    rows[kind].length = 0
  }
  const body = utf8(JSON.stringify(progress))
  check()
  reading.etag =
    reading.etag === ''
      ? await blob.write(progressName(workspace, version), body)
      : await blob.writeIfVersion(progressName(workspace, version), body, reading.etag)
}

/** How far it is, to tell whether a slice came any further. */
export function markOf({ progress: { phase, next, begun, open, buckets, written } }: Reading): string {
  return JSON.stringify([phase, next, begun, open, buckets, written])
}

/** What another slice took over is nothing to be done by this one. */
export function isOvertaken(error: unknown): error is PortError {
  return isPortError(error, 'Conflict', 'NotFound')
}
