import { DurableObject } from 'cloudflare:workers'
import type { Bytes } from '../../ports/platform.ts'

/** A sealed value and the version it was sealed for. */
export interface SealedValue {
  sealed: Bytes
  version: string
}

export interface SealedSecret extends SealedValue {
  /** unix milliseconds, by the clock of the Worker that wrote it */
  modified: number
  previous?: SealedValue
}

/** A secret that holds a seal of an earlier key, its older value always with it. */
export type StaleSecret = SealedSecret & { path: string }

/** Another seal of the value that stands at a path as a version. */
export type NewSeal = SealedValue & { path: string }

/** A write as the Worker sends it, twice when it must: the version it drew makes the second a repeat. */
export interface SealedWrite extends SealedValue {
  path: string
  modified: number
}

export type ConditionalOutcome = 'written' | 'conflict' | 'absent'

const SCHEMA = `CREATE TABLE IF NOT EXISTS secret (
  path TEXT PRIMARY KEY,
  sealed BLOB NOT NULL,
  version TEXT NOT NULL,
  modified INTEGER NOT NULL,
  previous_sealed BLOB,
  previous_version TEXT
)`

type Row = {
  sealed: ArrayBuffer
  version: string
  modified: number
  previous_sealed: ArrayBuffer | null
  previous_version: string | null
}

/** Of rows: either seal begins otherwise. Its values: `headed`. */
const STALE = 'WHERE (substr(sealed, 1, ?) <> ? OR substr(previous_sealed, 1, ?) <> ?)'

function headed(header: Bytes): (number | Bytes)[] {
  return [header.length, header, header.length, header]
}

function withOlder(row: Row): SealedSecret {
  const secret = { sealed: new Uint8Array(row.sealed), version: row.version, modified: row.modified }
  if (!row.previous_sealed || row.previous_version === null) return secret
  return { ...secret, previous: { sealed: new Uint8Array(row.previous_sealed), version: row.previous_version } }
}

/**
 * Where an instance's secrets are kept: rows of a path and its two newest values, sealed by the Worker before they
 * travel, so that neither this object nor its storage ever holds one in the clear. Paths are checked by the caller.
 */
export class SealedSecrets extends DurableObject {
  constructor(state: DurableObjectState, env: Cloudflare.Env) {
    super(state, env)
    state.storage.sql.exec(SCHEMA)
  }

  read(path: string, withPrevious: boolean): SealedSecret | null {
    const row = this.row(path)
    if (!row) return null
    const { previous, ...secret } = withOlder(row)
    return withPrevious && previous ? { ...secret, previous } : secret
  }

  /** A write that has landed is not applied again, also when another has succeeded it meanwhile. */
  put({ path, sealed, version, modified }: SealedWrite): void {
    this.ctx.storage.sql.exec(
      `INSERT INTO secret (path, sealed, version, modified) VALUES (?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET previous_sealed = sealed, previous_version = version,
         sealed = excluded.sealed, version = excluded.version, modified = excluded.modified
       WHERE version <> excluded.version AND previous_version IS NOT excluded.version`,
      path,
      sealed,
      version,
      modified,
    )
  }

  /** Writes only over `expected`, null being "absent". The statement is the gate; the read after it only explains a refusal. */
  putIfVersion({ path, sealed, version, modified }: SealedWrite, expected: string | null): ConditionalOutcome {
    const { sql } = this.ctx.storage
    const written =
      expected === null
        ? sql.exec(
            `INSERT INTO secret (path, sealed, version, modified) VALUES (?, ?, ?, ?) ON CONFLICT (path) DO NOTHING RETURNING version`,
            path,
            sealed,
            version,
            modified,
          )
        : sql.exec(
            `UPDATE secret SET previous_sealed = sealed, previous_version = version, sealed = ?, version = ?, modified = ?
             WHERE path = ? AND version = ? RETURNING version`,
            sealed,
            version,
            modified,
            path,
            expected,
          )
    if (written.toArray().length > 0) return 'written'

    const row = this.row(path)
    if (!row) return 'absent'
    return row.version === version || row.previous_version === version ? 'written' : 'conflict'
  }

  /** Secrets after a path, in order, of which a seal does not begin with these bytes: at most so many. */
  stale(header: Bytes, after: string, limit: number): StaleSecret[] {
    const rows = this.ctx.storage.sql.exec<Row & { path: string }>(
      `SELECT * FROM secret ${STALE} AND path > ? ORDER BY path LIMIT ?`,
      ...[...headed(header), after, limit],
    )
    return rows.toArray().map((row) => ({ path: row.path, ...withOlder(row) }))
  }

  countStale(header: Bytes): number {
    return this.ctx.storage.sql.exec<{ count: number }>(`SELECT COUNT(*) AS count FROM secret ${STALE}`, ...headed(header)).one().count
  }

  /**
   * Puts a seal in place of the one that stands there as the same version, the current or the older value. A version names one value for
   * ever, so whichever write came meanwhile stands, and a seal whose version has gone goes nowhere.
   */
  reseal(seals: readonly NewSeal[]): void {
    const { sql } = this.ctx.storage
    for (const { path, sealed, version } of seals) {
      sql.exec('UPDATE secret SET sealed = ? WHERE path = ? AND version = ?', sealed, path, version)
      sql.exec('UPDATE secret SET previous_sealed = ? WHERE path = ? AND previous_version = ?', sealed, path, version)
    }
  }

  remove(path: string): void {
    this.ctx.storage.sql.exec('DELETE FROM secret WHERE path = ?', path)
  }

  /** Paths that start with `prefix`, which is empty or ends in `/`, in order. */
  list(prefix: string): string[] {
    const { sql } = this.ctx.storage
    // '0' is the character after '/': a path's grammar is ASCII, and SQLite compares its bytes
    const paths =
      prefix === ''
        ? sql.exec<{ path: string }>('SELECT path FROM secret ORDER BY path')
        : sql.exec<{ path: string }>(
            'SELECT path FROM secret WHERE path >= ? AND path < ? ORDER BY path',
            prefix,
            `${prefix.slice(0, -1)}0`,
          )
    return paths.toArray().map(({ path }) => path)
  }

  private row(path: string): Row | undefined {
    return this.ctx.storage.sql
      .exec<Row>('SELECT sealed, version, modified, previous_sealed, previous_version FROM secret WHERE path = ?', path)
      .toArray()[0]
  }
}
