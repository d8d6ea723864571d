import { fromUtf8 } from '../../crypto/bytes.ts'
import { nowSeconds } from '../../ports/expiry.ts'
import { locateOrNull, shardOf } from '../../ports/layout5.ts'
import type { Bytes } from '../../ports/platform.ts'
import type { Rev } from '../../ports/state.ts'
import { afterPrefix } from './prefix-range.ts'
import { type Address, type ListedRow, type Op, type Ops, PAGE_BYTES, type Refusal, type Results } from './protocol.ts'

/** Thrown inside the object only: `run` turns it into the op's answer. */
export class Refused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal)
    this.refusal = refusal
  }
}

/**
 * The attributes of the storage layout as columns (seed: storage-layout). `rev` is text because a uint64 does not fit SQLite's
 * integer; text compares by UTF-8 bytes (collation BINARY), which is the order of a listing. `k` is null in a record and `i` in a member.
 */
export function createTable(sql: SqlStorage): void {
  sql.exec(`
    CREATE TABLE IF NOT EXISTS record (
      pk TEXT NOT NULL, sk TEXT NOT NULL, lkey TEXT NOT NULL, v BLOB, rev TEXT NOT NULL, expires INTEGER, k TEXT,
      PRIMARY KEY (pk, sk)
    );
    CREATE INDEX IF NOT EXISTS record_expires ON record (expires) WHERE expires IS NOT NULL;
  `)
}

/** Does one op in one go. @throws Refused */
export function execute(sql: SqlStorage, op: Op): Results[keyof Results] {
  switch (op.do) {
    case 'get':
      return get(sql, op)
    case 'peek':
      return peek(sql, op)
    case 'put':
      return put(sql, op)
    case 'create':
      return create(sql, op)
    case 'update':
      return update(sql, op)
    case 'delete':
      sql.exec(`DELETE FROM record WHERE pk = ? AND sk = ? AND k IS ?`, op.pk, op.sk, op.member ? 'i' : null)
      return null
    case 'deleteIfRevision':
      return deleteIfRevision(sql, op)
    case 'list':
      return list(sql, op)
    case 'members':
      return members(sql, op)
  }
}

/** Removes at most `limit` rows dead at `deadline` (epoch seconds); how many it removed. */
export function sweep(sql: SqlStorage, deadline: number, limit: number): number {
  return sql
    .exec(`DELETE FROM record WHERE rowid IN (SELECT rowid FROM record WHERE expires <= ? LIMIT ?) RETURNING 1`, deadline, limit)
    .toArray().length
}

export function holdsExpiring(sql: SqlStorage): boolean {
  return sql.exec(`SELECT 1 FROM record WHERE expires IS NOT NULL LIMIT 1`).toArray().length > 0
}

const LIVE = '(expires IS NULL OR expires > ?)'

// Whole statements, each one string for ever: the engine keeps what it has compiled by the string.
const GET = `SELECT v, rev FROM record WHERE pk = ? AND sk = ? AND k IS NULL AND ${LIVE}`
const PEEK = `SELECT rev FROM record WHERE pk = ? AND sk = ? AND k IS NULL AND ${LIVE}`
const PUT = `INSERT INTO record (pk, sk, lkey, v, rev, expires, k) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (pk, sk) DO UPDATE
  SET lkey = excluded.lkey, v = excluded.v, rev = excluded.rev, expires = excluded.expires, k = excluded.k`
const CREATE = `${PUT} WHERE record.expires <= ? OR record.rev = excluded.rev RETURNING 1`
const UPDATE = `UPDATE record SET lkey = ?, v = ?, rev = ?, expires = ?
  WHERE pk = ? AND sk = ? AND k IS NULL AND rev IN (?, ?) AND ${LIVE} RETURNING 1`
const DELETE = `DELETE FROM record WHERE pk = ? AND sk = ? AND k IS NULL AND rev = ? AND ${LIVE} RETURNING 1`

function get(sql: SqlStorage, op: Ops['get']): Results['get'] {
  const found = read(sql, op)
  const key = found === null || op.follow === undefined ? null : keyFrom(op.follow.prefix, found.value)
  const location = key === null ? null : locateOrNull(key)
  if (found === null || key === null || location === null || shardOf(location) !== op.follow?.shard) return found
  const next = read(sql, { ...location, now: op.now })
  return { ...found, next: next && { key, ...next } }
}

function read(sql: SqlStorage, { pk, sk, now }: Address & { now: number }): { value: Bytes; rev: Rev } | null {
  const [row] = sql.exec<{ v: ArrayBuffer; rev: string }>(GET, pk, sk, nowSeconds(now)).toArray()
  return row ? { value: new Uint8Array(row.v), rev: row.rev as Rev } : null
}

function keyFrom(prefix: string, value: Bytes): string | null {
  const text = fromUtf8(value)
  return text === null ? null : prefix + text
}

function peek(sql: SqlStorage, op: Address & { now: number }): Results['peek'] {
  const [row] = sql.exec<{ rev: string }>(PEEK, op.pk, op.sk, nowSeconds(op.now)).toArray()
  return row ? (row.rev as Rev) : null
}

function put(sql: SqlStorage, op: Ops['put']): null {
  sql.exec(PUT, ...columns(op))
  return null
}

// A row that holds this op's own `rev` is this op, applied before: its answer was lost and it was sent again.
function create(sql: SqlStorage, op: Ops['create']): null {
  const written = sql.exec(CREATE, ...columns(op), nowSeconds(op.now))
  if (written.toArray().length === 0) throw new Refused('Exists')
  return null
}

function update(sql: SqlStorage, op: Ops['update']): null {
  const written = sql.exec(UPDATE, op.lkey, op.value, op.rev, op.expires, op.pk, op.sk, op.over, op.rev, nowSeconds(op.now))
  if (written.toArray().length === 0) throw moved(sql, op)
  return null
}

function deleteIfRevision(sql: SqlStorage, op: Ops['deleteIfRevision']): null {
  const removed = sql.exec(DELETE, op.pk, op.sk, op.rev, nowSeconds(op.now))
  if (removed.toArray().length === 0) throw moved(sql, op)
  return null
}

// Nothing runs between the refused statement and this read: an object does one thing at a time.
function moved(sql: SqlStorage, op: Address & { now: number }): Refused {
  return new Refused(peek(sql, op) === null ? 'NotFound' : 'Conflict')
}

function list(sql: SqlStorage, op: Ops['list']): Results['list'] {
  const where = new Where('k IS NULL')
  where.and(LIVE, nowSeconds(op.now))
  if (op.within) {
    where.and('pk = ?', op.within.pk)
    where.startsWith('sk', op.within.skPrefix)
  }
  where.startsWith('lkey', op.lkeyPrefix)
  if (op.after !== null) where.and('lkey > ?', op.after)

  // Keys first and values one by one, so that what SQLite sorts stays small and the answer stops when it is heavy enough.
  const heads = sql
    .exec<{ id: number; lkey: string; rev: string; expires: number | null }>(
      `SELECT rowid AS id, lkey, rev, expires FROM record WHERE ${where.text} ORDER BY lkey LIMIT ?`,
      ...where.bindings,
      op.limit + 1,
    )
    .toArray()
  const rows: ListedRow[] = []
  let bytes = 0
  for (const { id, lkey, rev, expires } of heads.slice(0, op.limit)) {
    if (bytes >= PAGE_BYTES) break
    const value = op.values ? new Uint8Array(sql.exec<{ v: ArrayBuffer }>(`SELECT v FROM record WHERE rowid = ?`, id).one().v) : null
    bytes += value?.byteLength ?? 0
    rows.push({ lkey, rev: rev as Rev, expires, value })
  }
  return { rows, more: rows.length < heads.length }
}

function members(sql: SqlStorage, op: Ops['members']): Results['members'] {
  const where = new Where(`k = 'i'`)
  where.and(LIVE, nowSeconds(op.now))
  where.and('pk = ?', op.pk)
  where.startsWith('sk', op.skPrefix)
  if (op.after !== null) where.and('sk > ?', op.after)
  const sks = sql
    .exec<{ sk: string }>(`SELECT sk FROM record WHERE ${where.text} ORDER BY sk LIMIT ?`, ...where.bindings, op.limit + 1)
    .toArray()
    .map((row) => row.sk)
  return { sks: sks.slice(0, op.limit), more: sks.length > op.limit }
}

function columns(op: Ops['put'] | Ops['create']): (string | number | null | Uint8Array)[] {
  return [op.pk, op.sk, op.lkey, op.value, op.rev, op.expires, op.value === null ? 'i' : null]
}

/** A condition and what is bound in it. A prefix is a range, never LIKE: `%` and `_` are letters like any other. */
class Where {
  text: string
  readonly bindings: (string | number)[] = []

  constructor(text: string) {
    this.text = text
  }

  and(condition: string, binding: string | number): void {
    this.text += ` AND ${condition}`
    this.bindings.push(binding)
  }

  startsWith(column: 'sk' | 'lkey', prefix: string): void {
    if (prefix === '') return
    this.and(`${column} >= ?`, prefix)
    const end = afterPrefix(prefix)
    if (end !== null) this.and(`${column} < ?`, end)
  }
}
